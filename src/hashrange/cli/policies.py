"""`hashrange policy`, as the command line declares it."""

from __future__ import annotations

import argparse

from hashrange.cli.options import DEFAULT_DATA

MODULES = {"policy": "hashrange.cli.policy"}

EXAMPLES = """\
  hashrange policy check read.json                   whether a file is an IAM policy
  hashrange policy explain GetItem '{"TableName": "orders", "Key": {"customer": {"S": "ada"}}}' --key HRAK...
                                                     whether a key may do this, and which statement says so
"""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _policy(commands.add_parser("policy", help="check policies, and tell what they decide about a request and why"))


def _policy(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Check whether a file is an IAM policy, or tell what the policies of an access key and of the tables and "
        "streams decide about a request, and why. Works on the data directory, also beside a running server, and "
        "carries nothing out. Exit code 0: allowed, or in order; 1: denied, or broken."
    )
    command.add_argument("action", choices=("explain", "check"), help="what to do")
    command.add_argument("subject", metavar="OPERATION|FILE", help="explain: name of the operation; check: the policy")
    command.add_argument("request", nargs="?", metavar="REQUEST", help="explain: the request as JSON; - for stdin")
    command.add_argument("--key", metavar="ID", help="explain: id of the access key that sends it")
    command.add_argument(
        "--policy", action="append", metavar="FILE", help="explain: policies in the place of a key's; may be repeated"
    )
    command.add_argument("--user", default="somebody", metavar="NAME", help="explain: the user, with --policy")
    command.add_argument(
        "--source-ip", default="127.0.0.1", metavar="IP", help="explain: where it comes from (default: 127.0.0.1)"
    )
    command.add_argument("--tls", action="store_true", help="explain: it comes over TLS")
    command.add_argument(
        "--resource-policy", action="store_true", help="check: the policy of a table or stream, with principals"
    )
    command.add_argument(
        "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
    )
    command.add_argument("--region", default="us-east-1", help="region of the request (default: us-east-1)")
    command.add_argument(
        "--account",
        default="000000000000",
        metavar="ID",
        help="account of the user, with --policy (default: 000000000000)",
    )

"""`hashrange keys`, as the command line declares it.

It works on the data directory, beside a running server: whoever can write there needs no key, and whoever needs one
cannot make it.
"""

from __future__ import annotations

import argparse

from hashrange.cli.options import DEFAULT_DATA

MODULES = {"keys": "hashrange.cli.access_keys"}

EXAMPLES = """\
  hashrange keys create --full-access                make an access key for serve --auth verify
  hashrange keys create --user ada --policy read.json
                                                     one that may do what an IAM policy allows
"""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _keys(commands.add_parser("keys", help="make, change and end the access keys that requests are signed with"))


def _keys(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Make, change and end the access keys that requests to a server with --auth verify are signed with. Works on "
        "the data directory, also beside a running server, which goes by it from the next request on."
    )
    command.epilog = (
        "create and rotate print the secret, which cannot be shown again. rotate ends the old secret at once; to "
        "change over without a gap, create a second key and delete the first when nobody uses it any more."
    )
    command.add_argument(
        "action",
        choices=("create", "list", "rotate", "disable", "enable", "delete", "attach", "detach"),
        help="what to do; attach and detach are about policies",
    )
    command.add_argument("key", nargs="?", metavar="KEY", help="id of the key that it is done to")
    command.add_argument("--user", metavar="NAME", help="create: whose key it is (default: the key's own id)")
    command.add_argument("--description", default="", metavar="TEXT", help="create: what it is for")
    command.add_argument("--full-access", action="store_true", help="create: let it do everything")
    command.add_argument(
        "--policy",
        action="append",
        metavar="FILE",
        help="create, attach: file of an IAM policy, which is called as the file is, without .json; replaces one of "
        "the same name; may be repeated. detach: name of a policy",
    )
    command.add_argument(
        "--expires", metavar="TIME", help="create: make a temporary key with a session token, for 1h, 15m or 2d"
    )
    command.add_argument(
        "--account", default="000000000000", metavar="ID", help="create: account of the key (default: 000000000000)"
    )
    command.add_argument("--json", action="store_true", help="a line of JSON for each key")
    command.add_argument(
        "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
    )

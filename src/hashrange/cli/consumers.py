"""`hashrange triggers` and `hashrange functions`, as the command line declares them.

They work on the data directory, beside a running server, and not through its port. Whoever can write to the directory
could do anything with the data and the server anyway, so may also name code for the server to run; whoever can merely
reach the port may not.
"""

from __future__ import annotations

import argparse

from hashrange.cli.options import DEFAULT_DATA

MODULES = {"triggers": "hashrange.cli.triggers", "functions": "hashrange.cli.functions"}

EXAMPLES = """\
  hashrange triggers create --table orders --function python:shop.mail:send_receipt
                                                     call a function with every change of a table
  hashrange functions set resize http://127.0.0.1:9000/resize
                                                     let Lambda's API know an endpoint by a name
"""

TARGET_HELP = (
    "what to call: python:module:function, an http or https URL, command:'shell command', "
    "or the name of a function that was set"
)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _triggers(commands.add_parser("triggers", help="have functions called with the changes of a table"))
    _functions(commands.add_parser("functions", help="name the functions that triggers may call"))


def _triggers(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Have functions called with the changes of a stream, as Lambda does, or show, change and end that. Works on "
        "the data directory, also beside a running server, which takes note within a moment."
    )
    command.epilog = (
        "A Python function is called with the event and a context in a process of its own, which finds modules in the "
        "server's current directory and PYTHONPATH. A URL gets the event in a POST, a command on its standard input. "
        "An exception, an HTTP status other than 2xx or an exit code other than 0 is a failure."
    )
    command.add_argument("action", choices=("create", "list", "update", "delete"), help="what to do")
    command.add_argument("uuid", nargs="?", metavar="UUID", help="the trigger to update or delete")
    source = command.add_mutually_exclusive_group()
    source.add_argument("--stream", metavar="ARN", help="stream to read")
    source.add_argument("--table", metavar="TABLE", help="table whose stream to read")
    command.add_argument("--function", metavar="TARGET", help=TARGET_HELP)
    command.add_argument(
        "--starting-position",
        choices=("LATEST", "TRIM_HORIZON"),
        default="LATEST",
        help="changes from now on, or all that the stream still has (default: LATEST)",
    )
    _add_settings(command)
    _add_place(command)


def _add_settings(command: argparse.ArgumentParser) -> None:
    for flag, metavar, text in (
        ("--batch-size", "N", "changes in one call at most, 1 to 10000 (default: 100)"),
        ("--batching-window", "S", "seconds to wait for more changes, 0 to 300 (default: 0)"),
        ("--parallelization", "N", "calls at a time for each shard, 1 to 10 (default: 1)"),
        ("--retries", "N", "retries before a batch is given up; -1: until the stream forgets it (default: -1)"),
        ("--max-record-age", "S", "seconds after which a change is given up; -1: never (default: -1)"),
    ):
        command.add_argument(flag, type=int, metavar=metavar, help=text)
    for flag, text in (
        ("--bisect", "halve a batch that failed, to isolate the change that is to blame"),
        ("--report-failures", 'let the function answer {"batchItemFailures": [{"itemIdentifier": NUMBER}]}'),
        ("--enabled", "whether the function is called at all (default: it is)"),
    ):
        command.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    command.add_argument(
        "--filter", action="append", metavar="PATTERN", help="EventBridge pattern of wanted changes; up to five times"
    )
    command.add_argument(
        "--on-failure", metavar="DIR|URL", help="where to describe batches that are given up; '' for nowhere"
    )
    command.add_argument("--json", action="store_true", help="show triggers as Lambda's API does")


def _functions(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Name functions, so that Lambda's API can be used to trigger them. Over the network only these names and URLs "
        "are accepted. Works on the data directory, also beside a running server."
    )
    command.add_argument("action", choices=("set", "list", "delete"), help="what to do")
    command.add_argument("name", nargs="?", metavar="NAME", help="name of the function")
    command.add_argument("target", nargs="?", metavar="TARGET", help=TARGET_HELP.rpartition(", or ")[0])
    _add_data(command)


def _add_place(command: argparse.ArgumentParser) -> None:
    _add_data(command)
    command.add_argument("--region", default="us-east-1", help="region of the stream (default: us-east-1)")
    command.add_argument(
        "--account", default="000000000000", metavar="ID", help="account of the stream (default: 000000000000)"
    )


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
    )

"""`hashrange hot`, `cost` and `explain`, as the command line declares them: what is used most, and what it costs."""

from __future__ import annotations

import argparse

from hashrange.cli.options import DEFAULT_DATA

MODULES = {"hot": "hashrange.cli.hot", "cost": "hashrange.cli.cost", "explain": "hashrange.cli.explain"}

EXAMPLES = """\
  hashrange hot orders                               the keys that were used most, with Contributor Insights on
  hashrange cost orders                              what the traffic of a table would cost, and what to do about it
  hashrange explain Query --request query.json       what a request reads and costs, and why
"""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _hot(commands.add_parser("hot", help="show which keys of a table are used most, or throttled most"))
    _cost(commands.add_parser("cost", help="price the traffic and the storage of tables in both billing modes"))
    _explain(commands.add_parser("explain", help="tell what a request reads and what it costs, without doing it"))


def _hot(command: argparse.ArgumentParser) -> None:
    command.description = "Show which keys of a table or an index are used most, or throttled most."
    command.epilog = (
        "Keys are counted while Contributor Insights is enabled (UpdateContributorInsights), and kept for a day. A "
        "write unit counts as three read units. Beside a running server the last second or two may be missing."
    )
    command.add_argument("table", metavar="TABLE", help="name of the table")
    command.add_argument("--index", metavar="NAME", help="a global secondary index of it instead")
    command.add_argument("--throttled", action="store_true", help="the keys that were throttled most instead")
    command.add_argument("--partitions", action="store_true", help="only partition keys, also if there is a sort key")
    command.add_argument("--minutes", type=int, default=60, metavar="N", help="how far to look back (default: 60)")
    command.add_argument("--top", type=int, default=10, metavar="N", help="how many keys to show (default: 10)")
    _add_json(command)
    _add_place(command)
    _add_endpoint(command)


def _cost(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Price the traffic and the storage of a table, or of all tables, as DynamoDB would charge a month of it: on "
        "demand, provisioned, and in the infrequent-access class. Says which is cheapest and which requests cost most."
    )
    command.epilog = (
        "The traffic of the days looked at is taken for typical. Prices change and differ between Regions: "
        "--print-prices prints those that are used; edit them and give them back with --prices."
    )
    command.add_argument("table", nargs="?", metavar="TABLE", help="name of the table (default: all tables)")
    command.add_argument("--days", type=float, default=7.0, metavar="N", help="how far to look back (default: 7)")
    command.add_argument("--prices", metavar="FILE", help="a TOML file of prices instead of the built-in ones")
    command.add_argument("--print-prices", action="store_true", help="print the built-in prices and do nothing else")
    _add_json(command)
    _add_place(command)


def _explain(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Tell what a request reads or writes, how much it evaluates, what it consumes and why, line by line, and how "
        "it could do better. Nothing is changed: reads are read, one page of them; writes are only planned."
    )
    command.epilog = (
        "Operations that read or write items can be explained, in either spelling. With --endpoint what the request "
        "touches is first read from the server, at the price of reading it; PartiQL needs --data."
    )
    command.add_argument("operation", metavar="OPERATION", help="such as GetItem, or get-item")
    command.add_argument(
        "--request", required=True, metavar="JSON", help="members of the request: JSON, a file of it, or - for stdin"
    )
    _add_json(command)
    _add_place(command)
    _add_endpoint(command)


def _add_endpoint(command: argparse.ArgumentParser) -> None:
    command.add_argument("--endpoint", metavar="URL", help="ask a running server instead of reading --data")


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_place(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
    )
    command.add_argument("--region", default="us-east-1", help="region of the table (default: us-east-1)")
    command.add_argument(
        "--account", default="000000000000", metavar="ID", help="account of the table (default: 000000000000)"
    )

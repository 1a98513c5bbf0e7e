"""The commands that look into a database, or into its past, those that move items or time, and those of its neighbours.

Declared here and carried out each in a module of its own, which is imported only when it is asked for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterable

from hashrange.cli import access, consumers, measures, policies
from hashrange.cli.moments import MOMENT_HELP
from hashrange.cli.options import DEFAULT_DATA

DEFAULT_ENDPOINT = "http://127.0.0.1:8000"
STOPPED = 1

MODULES = {
    "get": "hashrange.cli.get",
    "scan": "hashrange.cli.scan",
    "history": "hashrange.cli.history",
    "dump": "hashrange.cli.dump",
    "load": "hashrange.cli.load",
    "clock": "hashrange.cli.clock",
    **consumers.MODULES,
    **access.MODULES,
    **policies.MODULES,
    **measures.MODULES,
}

EXAMPLES = (
    """\
  hashrange get orders '{"customer": "ada"}'         an item, read beside a running server
  hashrange get orders '{"customer": "ada"}' --as-of -15m
                                                     the same item a quarter of an hour ago
  hashrange history orders '{"customer": "ada"}'     every change of it that the log still has
  hashrange dump orders orders.jsonl.gz              all items of a table, as lines of JSON
  hashrange load orders orders.jsonl.gz --create     and back again
  hashrange clock advance 1h                         let an hour pass on a server with --dev-clock
"""
    + consumers.EXAMPLES
    + access.EXAMPLES
    + policies.EXAMPLES
    + measures.EXAMPLES
)

Add = Callable[[str, str], argparse.ArgumentParser]
"""Adds a command by its name and what it does."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")

    for declare in (_get, _scan, _history, _dump, _load, _clock):
        declare(add)
    for neighbour in (consumers, access, policies, measures):
        neighbour.add_commands(commands)


def _get(add: Add) -> None:
    command = add("get", "print one item of a table, as it is or as it was (exit code 1: there is none)")
    _add_table(command)
    _add_key(command)
    _add_as_of(command)
    _add_place(command)


def _scan(add: Add) -> None:
    command = add("scan", "print all items of a table, as they are or as they were, as lines of JSON")
    _add_table(command)
    _add_as_of(command)
    _add_place(command)


def _history(add: Add) -> None:
    command = add("history", "show every change of an item that the table's change log still has")
    command.epilog = (
        "A table has a change log while it has a stream or point-in-time recovery. What a change was can be told if "
        "the log keeps both images: a stream of NEW_AND_OLD_IMAGES, or point-in-time recovery."
    )
    _add_table(command)
    _add_key(command)
    command.add_argument("--json", action="store_true", help="a line of JSON for each change")
    _add_place(command)


def _dump(add: Add) -> None:
    command = add("dump", "write all items of a table, as they are at one moment, to a file of JSON lines")
    command.epilog = (
        'The first line holds the table\'s keys, indexes and settings, {"Table": ...}, for load --create; then comes a '
        'line {"Item": ...} for each item, in DynamoDB JSON. `scan` prints the same without the first line. With '
        "--endpoint the items come page by page, not from one moment."
    )
    _add_table(command)
    command.add_argument("file", metavar="FILE", help="where to write; compressed if it ends in .gz; - for stdout")
    _add_place(command)
    _add_endpoint(command)


def _load(add: Add) -> None:
    command = add("load", "put the items of a file of JSON lines into a table (exit code 1: stopped part of the way)")
    command.epilog = (
        "Items replace those with the same key. Loading into the data directory is fastest, but only while no server "
        "runs on it; --endpoint goes through a running server. A load that was stopped can simply be repeated."
    )
    _add_table(command)
    command.add_argument("file", metavar="FILE", help="what dump or scan wrote; may end in .gz; - for stdin")
    command.add_argument(
        "--create", action="store_true", help="create the table as the file's first line says, if there is none"
    )
    _add_place(command)
    _add_endpoint(command)


def _clock(add: Add) -> None:
    command = add("clock", "show or move the time of a server that was started with --dev-clock")
    command.epilog = (
        "Time to live, tokens, iterators, trimming and recovery follow the moved time, and it goes on from there. The "
        "move is kept with the data. Moving back is possible, but what was logged meanwhile then lies in the future."
    )
    command.add_argument("action", choices=("show", "advance", "set", "reset"), help="what to do")
    command.add_argument(
        "value", nargs="?", metavar="VALUE", help=f"advance: 90s, 15m, 1h30m, 2d. set: {MOMENT_HELP.partition(',')[0]}"
    )
    command.add_argument("--endpoint", default=DEFAULT_ENDPOINT, metavar="URL", help=f"(default: {DEFAULT_ENDPOINT})")


def _add_table(command: argparse.ArgumentParser) -> None:
    command.add_argument("table", metavar="TABLE", help="name of the table")


def _add_key(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "key", metavar="KEY", help="""primary key as JSON: '{"pk": "a", "sk": 1}' or '{"pk": {"S": "a"}}'"""
    )


def _add_as_of(command: argparse.ArgumentParser) -> None:
    command.add_argument("--as-of", metavar="TIME", help=f"read what was there then: {MOMENT_HELP}")


def _add_place(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
    )
    command.add_argument("--region", default="us-east-1", help="region of the table (default: us-east-1)")
    command.add_argument(
        "--account", default="000000000000", metavar="ID", help="account of the table (default: 000000000000)"
    )


def _add_endpoint(command: argparse.ArgumentParser) -> None:
    command.add_argument("--endpoint", metavar="URL", help="go through a running server instead of --data")


def joined(arguments: Iterable[str]) -> list[str]:
    """`--as-of -15m` as `--as-of=-15m`, since argparse takes what begins with a dash for an option."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--as-of" and word[:1] == "-" and word[1:2].isdigit():
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def run(arguments: argparse.Namespace) -> int:
    module = importlib.import_module(MODULES[arguments.command])
    try:
        code: int = module.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # who read our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STOPPED
    except KeyboardInterrupt:
        print("hashrange: Interrupted.", file=sys.stderr)
        return STOPPED
    except OSError as error:  # such as a disk that is full
        print(f"hashrange: {error}.", file=sys.stderr)
        return STOPPED
    return code

"""The `hashrange` command."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from hashrange import __version__
from hashrange.cli.options import DEFAULT_DATA, ConfigurationError, add_arguments, data_directory

USAGE_ERROR = 2
STANDARD_ERROR = 2

EXAMPLES = """\
examples:
  hashrange serve                                    serve ./hashrange-data on http://127.0.0.1:8000
  hashrange serve --memory --port 8001               a throw-away server for tests
  hashrange serve --data /srv/db --workers 4         four processes on one database
  hashrange check --data /srv/db                     verify everything, also beside a running server
  hashrange compact --data /srv/db                   give unused space back, while no server runs
  hashrange copy --data /srv/db /backup/today        copy everything as it is now, beside a running server
"""


COMMANDS = {
    "check": "walk the whole database and verify it (exit code 0: sound, 1: problems found)",
    "compact": "rewrite the database without unused space; no server may be running on it",
    "copy": "copy the whole database as it is at one moment, also beside a running server",
}


def build_parser(*, serves: bool = False) -> argparse.ArgumentParser:
    """The command line: all of it, or that of a server, which does not wait for the other commands to be declared."""
    parser = argparse.ArgumentParser(
        prog="hashrange",
        description="A DynamoDB-compatible database that anybody can run.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve",
        help="run the server",
        description="Run the server. Each option can also be set in the environment variable in brackets "
        "or in a TOML file.",
    )
    add_arguments(serve)
    if not serves:
        add_other_commands(parser, commands)
    return parser


def add_other_commands(
    parser: argparse.ArgumentParser, commands: argparse._SubParsersAction[argparse.ArgumentParser]
) -> None:
    from hashrange.cli import tools

    parser.epilog = EXAMPLES + tools.EXAMPLES
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument(
            "--data", metavar="DIR", help=f"directory of the database (default: {DEFAULT_DATA}) [HASHRANGE_DATA]"
        )
        if name == "copy":
            command.add_argument("to", metavar="TO", help="directory to make; it must be empty or missing")
    tools.add_commands(commands)
    commands.add_parser("version", help="print the version", description="Print the version.")


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    fill_standard_files()
    try:
        return run(parse(words))
    except ConfigurationError as error:
        return refuse(error)


def fill_standard_files() -> None:
    """Have something in the place of a standard input, output or error that is closed. The next file to be opened would
    come there, and who means the standard error, here or in a process that we start, would write into the database."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def parse(words: list[str]) -> argparse.Namespace:
    if words[:1] == ["serve"]:
        return build_parser(serves=True).parse_args(words)
    from hashrange.cli import tools

    return build_parser().parse_args(tools.joined(words))


def run(arguments: argparse.Namespace) -> int:
    # Each command imports what it needs, so that the small ones answer at once.
    if arguments.command == "version":
        print(f"hashrange {__version__}{', compiled' if is_compiled() else ''}")
        return 0
    if arguments.command != "serve" and getattr(arguments, "data", "") is None:
        arguments.data = data_directory()
    from hashrange.http.listen import CannotListen
    from hashrange.http.tls import BadCertificate
    from hashrange.storage import StoreError

    try:
        if arguments.command == "serve" or arguments.command in COMMANDS:
            code: int = load(arguments.command).run(arguments)
            return code
        from hashrange.cli import tools

        return tools.run(arguments)
    except (StoreError, CannotListen, BadCertificate) as error:
        return refuse(error)


def load(command: str) -> ModuleType:
    """The module of a command. Nothing of what is loaded is garbage, so the collector need not look for any."""
    gc.disable()
    try:
        return import_module(f"hashrange.cli.{command}")
    finally:
        gc.enable()


def is_compiled() -> bool:
    """Whether the hot modules are machine code; see setup.py."""
    from hashrange.values import item

    return not item.__file__.endswith(".py")


def refuse(error: Exception) -> int:
    print(f"hashrange: {error}", file=sys.stderr)
    return USAGE_ERROR


if __name__ == "__main__":
    sys.exit(main())

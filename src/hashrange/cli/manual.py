"""Writes the pages of docs/ that only repeat what the code says: `python -m hashrange.cli.manual`, or `make docs`.

    operations.md       from the service models and the registry of operations
    configuration.md    from the table of options
    cli.md              from the help of every command
    limits.md           from limits.py and its comments

With `--check` nothing is written; the exit code is 1 if a page has fallen behind.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from hashrange import limits
from hashrange.cli.main import build_parser
from hashrange.cli.options import CONFIG_FILE, DEFAULT_DATA, SERVE_OPTIONS, Option
from hashrange.operations.operation import Operation
from hashrange.operations.registry import operations, rest_operations, scaling_operations
from hashrange.validation.operations import all_operation_names

DOCS = Path(__file__).resolve().parents[3] / "docs"
GENERATED = "<!-- Written by `make docs`. Change the code it is made from, not this page. -->"
HELP_COLUMNS = 100

SERVICE_TITLES = {"dynamodb": "DynamoDB", "dynamodbstreams": "DynamoDB Streams"}


SCALING = "Auto scaling is asked for with operations of another service on the same port: see [scaling.md](scaling.md)."
LAMBDA = "Triggers on streams are made with Lambda's own operations, on the same port, or with `hashrange triggers`."


def page(title: str, *paragraphs: str) -> str:
    return "\n\n".join((f"# {title}", GENERATED, *paragraphs)) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


# ---- operations.md -------------------------------------------------------------------------------------------------


def operations_page() -> str:
    known = all_operation_names()
    works = {(operation.service, operation.name): operation for operation in operations()}
    total = sum(len(names) for names in known.values())
    paragraphs = [
        f"{len(works)} of the {total} operations in the service models work. The others answer HTTP 400 with "
        "`UnknownOperationException`, as the service does for an operation it has never heard of.",
        "What an operation that works does differently from DynamoDB is in [differences.md](differences.md).",
    ]
    for service, names in known.items():
        rows = [operation_row(name, works.get((service, name))) for name in names]
        paragraphs += [f"## {SERVICE_TITLES[service]}", table(("Operation", "State", "What it does", "Source"), rows)]
    rows = [operation_row(operation.name, operation) for operation in scaling_operations()]
    header = ("Operation", "What it does", "Source")
    paragraphs += ["## Application Auto Scaling", SCALING, table(header, [(row[0], *row[2:]) for row in rows])]
    paragraphs += ["## AWS Lambda", LAMBDA, table(("Request", "Operation", "What it does", "Source"), rest_rows())]
    return page("Operations", *paragraphs)


def rest_rows() -> Iterator[tuple[str, ...]]:
    for rest in rest_operations():
        name, _, sentence, source = operation_row(rest.operation.name, rest.operation)
        yield f"`{rest.method} {rest.path}`", name, sentence, source


def operation_row(name: str, operation: Operation | None) -> tuple[str, ...]:
    if operation is None:
        return name, "not yet", "", ""
    module = importlib.import_module(operation.run.__module__)
    path = f"src/{module.__name__.replace('.', '/')}.py"
    summary = docstring(module).splitlines()[0].removeprefix(f"{name}: ")
    return name, "works", summary[0].upper() + summary[1:], f"[{Path(path).name}](../{path})"


def docstring(module: ModuleType) -> str:
    """As the source has it; a compiled module has none."""
    assert module.__file__ is not None
    source = Path(module.__file__).with_name(f"{module.__name__.rpartition('.')[2]}.py")
    return ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""


# ---- configuration.md ----------------------------------------------------------------------------------------------


def configuration_page() -> str:
    header = ("Flag", "Environment variable", "TOML key", "Default", "Meaning")
    return page(
        "Configuration",
        "Every option of `hashrange serve` can be given in three places. The first one that speaks wins:",
        "1. the command line: `--port 9000`\n2. the environment: `HASHRANGE_PORT=9000`\n3. a TOML file: `port = 9000`",
        f"The file is `{CONFIG_FILE}` in the current directory if there is one, or the file that `--config FILE` or "
        "`HASHRANGE_CONFIG` names, which must exist. A key that is no "
        "option is refused, and so is a value that an option cannot have: the server says so in one line on "
        "stderr and exits with code 2. In the environment `1`, `true`, `yes` and `on` switch an option on.",
        table(header, map(option_row, SERVE_OPTIONS)),
        "The other commands have options of their own, on the command line only; without `--data` they find the "
        "database where `serve` does.",
        "## Example",
        f"A `{CONFIG_FILE}` with every option at its default:",
        f"```toml\n{example_file()}```",
    )


def option_row(option: Option) -> tuple[str, ...]:
    meaning = option.help
    if option.choices:
        meaning += f" ({', '.join(f'`{choice}`' for choice in option.choices)})"
    default = "" if option.default is None else f"`{toml_value(option.default)}`"
    return f"`{option.flag}`", f"`{option.environment}`", f"`{option.name}`", default, meaning


def example_file() -> str:
    """A configuration file that changes nothing. Options without a default are shown as comments."""
    lines = []
    for option in SERVE_OPTIONS:
        if option.default is not None:
            lines.append(f"{option.name} = {toml_value(option.default)}\n")
        else:
            lines.append(f"# {option.name} = {toml_value(DEFAULT_DATA if option.name == 'data' else '...')}\n")
    return "".join(lines)


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


# ---- cli.md --------------------------------------------------------------------------------------------------------


def cli_page() -> str:
    whole = help_of()
    commands = re.findall(r"^    ([a-z]+)\b", whole, re.MULTILINE)  # argparse lists them with four spaces in front
    sections = [f"## hashrange {command}\n\n```\n{help_of(command)}```" for command in commands]
    return page(
        "The command line",
        "Exit codes: 0 all went well; 1 the answer is no (`check` found problems, `get`, `history` and `hot` found "
        "nothing, `explain` was given what would be refused, `load` stopped part of the way); 2 the command was "
        "refused, for the reason given in one line on stderr, and nothing was changed.",
        f"```\n{whole}```",
        *sections,
    )


def help_of(*command: str) -> str:
    """What `hashrange COMMAND --help` prints, at a fixed width and without colours."""
    output = io.StringIO()
    with (
        environment(COLUMNS=str(HELP_COLUMNS), PYTHON_COLORS="0"),
        contextlib.redirect_stdout(output),
        contextlib.suppress(SystemExit),
    ):
        build_parser().parse_args([*command, "--help"])
    return output.getvalue()


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# ---- limits.md -----------------------------------------------------------------------------------------------------


INTRODUCTION_TO_LIMITS = (
    "Numbers that come from DynamoDB, as [limits.py](../src/hashrange/limits.py) has them. Those that are known but "
    "not applied are listed in [differences.md](differences.md)."
)


def limits_page() -> str:
    paragraphs = [(limits.__doc__ or "").split("\n\n", 1)[1].strip().replace("\n", " ")]
    for block in inspect.getsource(limits).split("\n\n"):
        if block.startswith("# "):
            paragraphs += limits_section(block.strip().splitlines())
    return page("Limits", INTRODUCTION_TO_LIMITS, *paragraphs)


def limits_section(lines: list[str]) -> list[str]:
    title, _, source = lines[0].removeprefix("# ").partition(" (")
    rows = []
    for line in lines[1:]:
        name = line.partition(" = ")[0]
        value = getattr(limits, name)
        rows.append((f"`{name}`", f"{value:,}", line.partition("  # ")[2]))
    return [f"## {title}", f"Learned from: {source.removesuffix(')')}.", table(("Limit", "Value", "Note"), rows)]


# ---- Writing and checking ------------------------------------------------------------------------------------------

PAGES: dict[str, Callable[[], str]] = {
    "operations.md": operations_page,
    "configuration.md": configuration_page,
    "cli.md": cli_page,
    "limits.md": limits_page,
}


def outdated(directory: Path = DOCS) -> list[str]:
    """The pages that are not what the code says."""
    return [name for name, build in PAGES.items() if not is_current(directory / name, build())]


def is_current(path: Path, text: str) -> bool:
    # Versions of Python break the lines of a help text at different places, so only the words count.
    return path.exists() and path.read_text(encoding="utf-8").split() == text.split()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hashrange.cli.manual", description="Write the generated pages of docs/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page has fallen behind")
    arguments = parser.parse_args(argv)
    behind = outdated()
    if arguments.check:
        for name in behind:
            print(f"docs/{name} has fallen behind the code: run `make docs`.", file=sys.stderr)
        return 1 if behind else 0
    for name in behind:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

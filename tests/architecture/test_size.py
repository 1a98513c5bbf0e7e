"""Files and functions that can be read in one go, and none that waits to be finished."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from architecture.source import MODULES, ROOT, Module

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs")
SUFFIXES = (".py", ".md", ".mjs", ".lua")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")  # in pieces, so that this line is not found


def functions(module: Module) -> Iterator[tuple[str, int]]:
    """The name and the number of lines of every function."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def test_files_are_short() -> None:
    assert [module.name for module in MODULES if len(module.text.splitlines()) > FILE_LINES_MAX] == []


def test_functions_fit_on_a_screen() -> None:
    long = [
        f"{module.name}: {name} has {lines} lines"
        for module in MODULES
        for name, lines in functions(module)
        if lines > FUNCTION_LINES_MAX
    ]
    assert long == []


def test_every_module_says_what_it_is_for() -> None:
    assert [module.name for module in MODULES if module.text and ast.get_docstring(module.tree) is None] == []


def test_nothing_is_left_for_later() -> None:
    found = [
        f"{path}:{number}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def texts() -> Iterator[Path]:
    """What people wrote, without what was installed or fetched beside it."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and not {"node_modules", "peers"} & set(path.parts):
                yield path

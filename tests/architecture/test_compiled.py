"""The modules that may be compiled keep to what compiled code can do safely (docs/decisions/0010-compiled-build.md)."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path

from architecture.source import PACKAGE, ROOT, Module

COMPILED: dict[str, str] = runpy.run_path(str(ROOT / "setup.py"))["COMPILED"]
LISTED = [Module(PACKAGE / folder / f"{name}.py") for folder, names in COMPILED.items() for name in names.split()]

# Bases that make no difference to how compiled code finds the members of an object.
PLAIN_BASES = {"Protocol", "NamedTuple", "Generic", "StrEnum"}
C_KEYWORDS = {"_thread", "_attribute", "_asm", "_inline", "_typeof", "_const", "_signed", "_volatile", "_restrict"}


def classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))


def bases(node: ast.ClassDef) -> set[str]:
    found = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return {ast.unparse(base) for base in found}


def is_empty(node: ast.ClassDef) -> bool:
    return all(isinstance(statement, ast.Expr) for statement in node.body)


def test_every_listed_module_is_there() -> None:
    assert [module.name for module in LISTED if not module.path.is_file()] == []


def test_no_compiled_class_extends_one_that_is_not() -> None:
    """Its members would be looked up where a compiled object has its table of methods, and the process would die."""
    ours = {node.name for module in LISTED for node in classes(module)} | PLAIN_BASES
    found = [
        f"{module.name}: {node.name}"
        for module in LISTED
        for node in classes(module)
        if not bases(node) <= ours and not is_empty(node)
    ]
    assert found == []


def test_no_class_that_stays_behind_extends_a_compiled_one() -> None:
    """Python refuses that when the module is imported."""
    names = {node.name for module in LISTED for node in classes(module) if not bases(node) & PLAIN_BASES}
    listed = {module.path for module in LISTED}
    others = [Module(path) for path in sorted(Path(PACKAGE).rglob("*.py")) if path not in listed]
    found = [
        f"{module.name}: {node.name}"
        for module in others
        for node in classes(module)
        if bases(node) & names and not bases(node) & {other.name for other in classes(module)}
    ]
    assert found == []


def test_no_compiled_attribute_becomes_a_word_of_c() -> None:
    found = [
        f"{module.name}: {node.attr}"
        for module in LISTED
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in C_KEYWORDS
    ]
    assert found == []

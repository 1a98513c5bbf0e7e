"""The source tree as the architecture tests look at it: modules, and what each of them imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "hashrange"
DOCS = ROOT / "docs"


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path

    @property
    def name(self) -> str:
        """Where it is, as people say it: `engine/table.py`."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def unit(self) -> str:
        """The folder below `hashrange` that it belongs to, or its own name if it belongs to none."""
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Every module it imports, wherever in the file and for whatever reason."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name}: imports are absolute"
                assert node.module is not None
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
        return frozenset(found)

    @property
    def libraries(self) -> frozenset[str]:
        """The top-level packages that it imports from."""
        return frozenset(name.split(".")[0] for name in self.imports)

    @property
    def units_imported(self) -> frozenset[str]:
        """The other parts of the package that it knows about."""
        ours = {name.split(".")[1] for name in self.imports if name.startswith("hashrange.")}
        return frozenset(ours - {self.unit, "__version__"})


MODULES = tuple(Module(path) for path in sorted(PACKAGE.rglob("*.py")))

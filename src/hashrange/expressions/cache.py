"""Expressions that were met before.

Applications send the same few texts over and over, so a text is parsed once, and compiled once for each set of
attribute names it comes with. What clients can make the server remember is bounded by the length of the texts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from hashrange.expressions.ast import Node
from hashrange.expressions.checks import Check, Checks
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import Names
from hashrange.expressions.walk import name_placeholders_in, value_placeholders_in

# For each kind of expression. Full of the most wasteful expressions we could think of (many nested paths) this is
# 10 MB, full of ordinary ones 3 to 6 MB: some thousand different texts.
REMEMBERED_CHARACTERS_MAX = 64 * 1024
CHARACTERS_OF_ANY_EXPRESSION = 20  # the shortest one takes some 2 KB

Tree = TypeVar("Tree", bound=Node)
Compiled = TypeVar("Compiled")
Remembered = TypeVar("Remembered")


class Cache(Generic[Remembered]):
    """Forgets what was not asked for the longest, once the texts add up to too much."""

    def __init__(self, characters_max: int = REMEMBERED_CHARACTERS_MAX) -> None:
        self._characters_max = characters_max
        self._characters = 0
        self._entries: OrderedDict[Hashable, tuple[Remembered, int]] = OrderedDict()

    def get(self, key: Hashable) -> Remembered | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, remembered: Remembered, characters: int) -> None:
        _, replaced = self._entries.pop(key, (None, 0))
        self._entries[key] = (remembered, characters)
        self._characters -= replaced
        self._characters += characters
        while self._characters > self._characters_max:
            _, (_, forgotten) = self._entries.popitem(last=False)
            self._characters -= forgotten


class Parsed(Generic[Tree, Compiled]):
    """An expression that passed the checks of its text. One without placeholders for names is `bound` at once."""

    __slots__ = ("bound", "names", "tree", "values")

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names = name_placeholders_in(tree)
        self.values = frozenset(value_placeholders_in(tree))
        self.bound: Bound[Compiled] | None = None


class Bound(Generic[Compiled]):
    """An expression that met its names. `compiled` is None only if `checks` always refuse."""

    __slots__ = ("checks", "compiled", "names", "values")

    def __init__(
        self, compiled: Compiled | None, checks: tuple[Check, ...], names: frozenset[str], values: frozenset[str]
    ) -> None:
        self.compiled = compiled
        self.checks = checks
        self.names = names
        self.values = values


class Family(Generic[Tree, Compiled]):
    """All expressions of one kind: how to parse, check and compile them, and those met before."""

    def __init__(
        self,
        kind: Kind,
        parse: Callable[[str, Kind], Tree],
        checks: Callable[[Tree, Names, Kind], Checks],
        compiled: Callable[[Tree, Names], Compiled],
    ) -> None:
        self.kind = kind
        self._parse = parse
        self._checks = checks
        self._compiled = compiled
        self._parsed: Cache[Parsed[Tree, Compiled]] = Cache()
        self._bound: Cache[Bound[Compiled]] = Cache()  # those with placeholders for names, and the names they met

    def bind(self, text: str, names: Names) -> Bound[Compiled]:
        """The expression with its names. Raises what is wrong with the text alone."""
        parsed = self._parsed.get(text)
        if parsed is None:
            parsed = Parsed(self._parse(text, self.kind))
            if not parsed.names:
                parsed.bound = self._meet(parsed, {})
            self._parsed.put(text, parsed, CHARACTERS_OF_ANY_EXPRESSION + len(text))
        if parsed.bound is not None:
            return parsed.bound
        key = (text, *map(names.get, parsed.names))
        bound = self._bound.get(key)
        if bound is None:
            bound = self._meet(parsed, names)
            replaced = sum(len(names.get(name, "")) for name in parsed.names)
            self._bound.put(key, bound, CHARACTERS_OF_ANY_EXPRESSION + len(text) + replaced)
        return bound

    def _meet(self, parsed: Parsed[Tree, Compiled], names: Names) -> Bound[Compiled]:
        checks = self._checks(parsed.tree, names, self.kind)
        compiled = None if checks.is_hopeless else self._compiled(parsed.tree, names)
        return Bound(compiled, checks.run, frozenset(parsed.names), parsed.values)

"""The SELECT list. What it picks comes back flat: `a.b.c` as an attribute `c`, not inside its parents."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.expressions.paths import BoundPath, look_up, top_level_names
from hashrange.values.types import Attributes


class FlatProjection:
    """The paths to pick. What a path does not find is left out; of two with one name the later counts."""

    __slots__ = ("_picked", "top_level_names")

    def __init__(self, paths: Sequence[BoundPath]) -> None:
        self.top_level_names = top_level_names(paths)
        self._picked = tuple((_name(path), path) for path in paths)

    def __call__(self, attributes: Attributes) -> Attributes:
        picked: Attributes = {}
        for name, path in self._picked:
            value = look_up(attributes, path)
            if value is not None:
                picked[name] = value
        return picked


def _name(path: BoundPath) -> str:
    """The last name of a path, with the indexes that follow it."""
    indexes = ""
    for step in reversed(path):
        if isinstance(step, str):
            return step + indexes
        indexes = f"[{step}]{indexes}"
    raise AssertionError("a path begins with a name")

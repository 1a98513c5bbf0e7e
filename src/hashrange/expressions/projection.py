"""Projections: the part of an item that some document paths name.

What is nested comes back inside its parents. Elements of one list come back as a list without the gaps between
them. What a path does not find is left out, and so is a parent in which nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hashrange.expressions.ast import ProjectionNode
from hashrange.expressions.checks import Check, Checks, collected
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import (
    BoundPath,
    Names,
    PathTree,
    bound_paths,
    check_apart,
    check_names_defined,
    top_level_names,
)
from hashrange.values.types import Attributes, AttributeValue


class Projection:
    """The paths to keep, which must not get in each other's way."""

    __slots__ = ("_tree", "top_level_names")

    def __init__(self, paths: Sequence[BoundPath]) -> None:
        self.top_level_names = top_level_names(paths)
        nested = any(len(path) > 1 for path in paths)
        self._tree = PathTree.of(paths) if nested else None

    @classmethod
    def of_node(cls, root: ProjectionNode, names: Names) -> Projection:
        return cls(bound_paths(root, names))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> Projection:
        """The projection to whole attributes, as AttributesToGet asks for them."""
        return cls([(name,) for name in names])

    def __call__(self, attributes: Attributes) -> Attributes:
        if self._tree is None:
            return {name: attributes[name] for name in self.top_level_names if name in attributes}
        return projected(attributes, self._tree)


def projected(members: Attributes, tree: PathTree) -> Attributes:
    """What the paths of a tree find in an item or map."""
    kept: Attributes = {}
    for name, child in tree.children.items():
        value = members.get(name)  # type: ignore[arg-type]  # below a map all children are names
        part = None if value is None else _part(value, child)
        if part is not None:
            kept[name] = part  # type: ignore[index]
    return kept


def _part(value: AttributeValue, tree: PathTree) -> AttributeValue | None:
    """What the paths of the tree find below a value; None if that is nothing."""
    if not tree.children:
        return value
    if tree.is_list:
        elements = _elements(value.get("L", ()), tree)
        return {"L": elements} if elements else None
    members = projected(value.get("M", {}), tree)
    return {"M": members} if members else None


def _elements(elements: Sequence[AttributeValue], tree: PathTree) -> list[AttributeValue]:
    kept = []
    for index, child in tree.children.items():
        if isinstance(index, int) and index < len(elements):
            part = _part(elements[index], child)
            if part is not None:
                kept.append(part)
    return kept


def projection_checks(root: ProjectionNode, names: Names, kind: Kind) -> Checks:
    return collected(_rules(root, names, kind))


def _rules(root: ProjectionNode, names: Names, kind: Kind) -> Iterable[Check]:
    check_names_defined(root, names, kind)
    check_apart(bound_paths(root, names), kind, enveloped=False)
    yield from ()

"""Document paths once their names are known: following them, printing them, and paths that get in each other's way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hashrange.errors import ValidationException
from hashrange.expressions.ast import NamePlaceholder, Node, Path
from hashrange.expressions.kinds import Kind
from hashrange.expressions.walk import paths_in
from hashrange.values.types import Attributes, AttributeValue

BoundPath = tuple[str | int, ...]
Names = Mapping[str, str]

OVERLAP = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
CONFLICT = "Two document paths conflict with each other; must remove or rewrite one of these paths; "


def bound(path: Path, names: Names) -> BoundPath:
    """The path with its placeholders replaced; they must all be defined."""
    return tuple(names[element.text] if isinstance(element, NamePlaceholder) else element for element in path.elements)


def bound_paths(root: Node, names: Names) -> tuple[BoundPath, ...]:
    """All paths of an expression, in source order."""
    return tuple(bound(path, names) for path in paths_in(root))


def top_level_names(paths: Iterable[BoundPath]) -> tuple[str, ...]:
    """The attributes that paths begin with, each once."""
    return tuple(dict.fromkeys(str(path[0]) for path in paths))


def check_names_defined(root: Node, names: Names, kind: Kind) -> None:
    for path in paths_in(root):
        for element in path.elements:
            if isinstance(element, NamePlaceholder) and element.text not in names:
                raise kind.error(
                    "An expression attribute name used in the document path is not defined; "
                    f"attribute name: {element.text}"
                )


def printed(path: BoundPath) -> str:
    """A path as messages show it: `[a, b, [0]]`."""
    return f"[{', '.join(f'[{step}]' if isinstance(step, int) else step for step in path)}]"


def look_up(attributes: Attributes, path: BoundPath) -> AttributeValue | None:
    """The value at a path, or None if the path leads nowhere."""
    value = attributes.get(path[0])  # type: ignore[arg-type]  # the first element is a name
    for step in path[1:]:
        if value is None:
            return None
        if isinstance(step, str):
            members = value.get("M")
            value = None if members is None else members.get(step)
        else:
            elements = value.get("L")
            value = elements[step] if elements is not None and step < len(elements) else None
    return value


class PathTree:
    """Paths that do not get in each other's way, joined where they begin alike.

    `children` are in ascending order below a list. A node without children ends the path numbered `position`.
    """

    __slots__ = ("children", "is_list", "position")

    def __init__(self) -> None:
        self.children: dict[str | int, PathTree] = {}
        self.is_list = False
        self.position = -1

    @classmethod
    def of(cls, paths: Sequence[BoundPath]) -> PathTree:
        root = cls()
        for position, path in sorted(enumerate(paths), key=_by_indexes):
            node = root
            for step in path:
                node.is_list = isinstance(step, int)
                node = node.children.setdefault(step, cls())
            node.position = position
        return root


def _by_indexes(numbered: tuple[int, BoundPath]) -> list[tuple[str, int]]:
    return [("", step) if isinstance(step, int) else (step, 0) for step in numbered[1]]


class _Crossing:
    """A place that several paths go through."""

    __slots__ = ("by_index", "by_name", "end", "first", "next")

    def __init__(self, first: BoundPath) -> None:
        self.first = first  # the path that came here first
        self.end: BoundPath | None = None  # the path that ends here
        self.by_name: BoundPath | None = None  # the first that goes on by a name
        self.by_index: BoundPath | None = None  # the first that goes on by an index
        self.next: dict[str | int, _Crossing] = {}


def check_apart(paths: Sequence[BoundPath], kind: Kind, *, enveloped: bool) -> None:
    """Refuse paths of which one contains the other, then paths that take one value for a map and for a list."""
    conflict: ValidationException | None = None
    root = _Crossing(())
    for path in paths:
        node = root
        for step in path:
            if node.end is not None:
                raise kind.error(f"{OVERLAP}{_pair(node.end, path)}", enveloped=enveloped)
            rival = node.by_index if isinstance(step, str) else node.by_name
            if rival is not None and conflict is None:
                conflict = kind.error(f"{CONFLICT}{_pair(rival, path)}", enveloped=enveloped)
            node = _step(node, step, path)
        if node.end is not None or node.next:
            raise kind.error(f"{OVERLAP}{_pair(node.first, path)}", enveloped=enveloped)
        node.end = path
    if conflict is not None:
        raise conflict


def _step(node: _Crossing, step: str | int, path: BoundPath) -> _Crossing:
    if isinstance(step, str):
        node.by_name = node.by_name or path
    else:
        node.by_index = node.by_index or path
    following = node.next.get(step)
    if following is None:
        following = node.next[step] = _Crossing(path)
    return following


def _pair(one: BoundPath, two: BoundPath) -> str:
    return f"path one: {printed(one)}, path two: {printed(two)}"

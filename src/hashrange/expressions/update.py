"""Updates, compiled: what an update expression makes of an item.

Every action reads the item as it was, so the order of actions does not matter: first all new values are computed,
then they are put in place. Indexes mean positions in the list as it was; removed elements leave together at the
end. The old attributes may be shared with others and are never changed: only what lies on the way to a target is
copied.
"""

from __future__ import annotations

from hashrange.errors import ValidationException
from hashrange.expressions.ast import Action, AddAction, Constant, SetAction, UpdateNode, ValuePlaceholder
from hashrange.expressions.checks import Values
from hashrange.expressions.paths import BoundPath, Names, PathTree, bound
from hashrange.expressions.projection import projected
from hashrange.expressions.update_values import computation
from hashrange.values.types import Attributes, AttributeValue

INVALID_PATH = "The document path provided in the update expression is invalid for update"


class Update:
    """An update, ready to be applied to items. It must have passed its checks with the same values."""

    __slots__ = (
        "_computations",
        "_tree",
        "_writes",
        "clearing_actions",
        "computed_names",
        "names",
        "targets",
        "writing_actions",
    )

    def __init__(self, root: UpdateNode, names: Names) -> None:
        self.targets: tuple[BoundPath, ...] = tuple(bound(action.target, names) for action in root.actions)
        self._computations = tuple(computation(action, names) for action in root.actions)
        self._writes = tuple(isinstance(action, SetAction | AddAction) for action in root.actions)
        self.writing_actions = sum(self._writes)  # SET and ADD
        self.clearing_actions = len(self._writes) - self.writing_actions  # REMOVE and DELETE
        self._tree = PathTree.of(self.targets)
        self.names = tuple(map(str, self._tree.children))  # of the attributes that are changed
        self.computed_names = frozenset(
            str(target[0]) for action, target in zip(root.actions, self.targets, strict=True) if _computes(action)
        )

    @property
    def creates_item(self) -> bool:
        """Whether an item that does not exist is created: removing alone does not."""
        return self.writing_actions > 0

    def project(self, attributes: Attributes) -> Attributes:
        """The targets only, as UPDATED_OLD and UPDATED_NEW answer them."""
        return projected(attributes, self._tree)

    def apply(self, attributes: Attributes, values: Values, *, exists: bool) -> Attributes:
        """The attributes after the update. For an item that does not exist the old ones are empty."""
        results = [compute(attributes, values) for compute in self._computations]
        return self._members(attributes, self._tree, results, exists)

    def _members(self, members: Attributes, tree: PathTree, results: _Results, exists: bool) -> Attributes:
        changed = dict(members)
        for name, child in tree.children.items():
            assert isinstance(name, str)
            if child.children:
                value = self._inside(members.get(name), child, results, exists)
            else:
                value = results[child.position]
            if value is not None:
                changed[name] = value
            else:
                changed.pop(name, None)
        return changed

    def _elements(
        self, elements: list[AttributeValue], tree: PathTree, results: _Results, exists: bool
    ) -> list[AttributeValue]:
        changed: list[AttributeValue | None] = list(elements)
        for index, child in tree.children.items():  # in ascending order, so that appended elements are, too
            assert isinstance(index, int)
            is_present = index < len(elements)
            if child.children:
                value = self._inside(elements[index] if is_present else None, child, results, exists)
            else:
                value = results[child.position]
            if is_present:
                changed[index] = value
            else:
                changed.append(value)
        return [value for value in changed if value is not None]

    def _inside(
        self, value: AttributeValue | None, tree: PathTree, results: _Results, exists: bool
    ) -> AttributeValue | None:
        """The value with the targets below it changed; None if there is no value and no need for one."""
        if value is not None:
            if tree.is_list and "L" in value:
                return {"L": self._elements(value["L"], tree, results, exists)}
            if not tree.is_list and "M" in value:
                return {"M": self._members(value["M"], tree, results, exists)}
        if exists or self._writes_below(tree):
            raise ValidationException(INVALID_PATH)
        return None

    def _writes_below(self, tree: PathTree) -> bool:
        if not tree.children:
            return self._writes[tree.position]
        return any(self._writes_below(child) for child in tree.children.values())


def _computes(action: Action) -> bool:
    """Whether the new value is not simply one of the request's own."""
    return isinstance(action, SetAction) and not isinstance(action.value, ValuePlaceholder | Constant)


_Results = list[AttributeValue | None]

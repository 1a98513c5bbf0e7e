"""What UPDATE does to an item: the SET and REMOVE clauses, checked and compiled when they are first used."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.expressions.ast import Action, AddAction, DeleteAction, UpdateNode
from hashrange.expressions.checks import Check, Values, collected, constant_of, operand_type, wrong_operand_type
from hashrange.expressions.condition_checks import ANY_TYPE
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import bound_paths, top_level_names
from hashrange.expressions.update import Update
from hashrange.expressions.update_checks import update_checks
from hashrange.values.types import SET_TYPES


class Alteration:
    """The changes of one statement. ADD and DELETE are what `set_add` and `set_delete` become."""

    __slots__ = ("_actions", "_checks", "_update")

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = actions
        self._checks: tuple[Check, ...] | None = None
        self._update: Update | None = None

    def check(self, values: Values) -> None:
        if self._checks is None:
            sets = collected(_set_rules(self._actions))
            rules = update_checks(UpdateNode(self._actions), {}, Kind.STATEMENT)
            self._checks = (*sets.run, *rules.run)
        for check in self._checks:
            check(values)

    @property
    def top_level_names(self) -> tuple[str, ...]:
        """The attributes that are changed, and those that new values are made of."""
        return top_level_names(bound_paths(UpdateNode(self._actions), {}))

    @property
    def update(self) -> Update:
        """The changes, ready to be applied; they must have passed their checks."""
        if self._update is None:
            self._update = Update(UpdateNode(self._actions), {})
        return self._update


def _set_rules(actions: tuple[Action, ...]) -> Iterator[Check]:
    """`set_add` and `set_delete` take a set that does not depend on the item."""
    for action in actions:
        if isinstance(action, AddAction | DeleteAction):
            name = "set_add" if isinstance(action, AddAction) else "set_delete"
            if constant_of(action.value) is None:
                raise wrong_operand_type(name, ANY_TYPE, Kind.STATEMENT)
            yield from operand_type(name, action.value, SET_TYPES, Kind.STATEMENT)

"""The grammar of the clauses that change an item.

change := SET path "=" value ("," path "=" value)* | REMOVE path ("," path)*
"""

from __future__ import annotations

from collections.abc import Callable

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    Action,
    AddAction,
    DeleteAction,
    Function,
    Operand,
    Path,
    RemoveAction,
    SetAction,
)
from hashrange.expressions.checks import wrong_operand_count
from hashrange.expressions.kinds import Kind
from hashrange.expressions.walk import walk
from hashrange.partiql.alteration import Alteration
from hashrange.partiql.errors import EXPECTED_MANIPULATION, not_well_formed
from hashrange.partiql.parse_expression import ExpressionParser, misused

SET_FUNCTIONS: dict[str, Callable[[Path, Operand], Action]] = {"set_add": AddAction, "set_delete": DeleteAction}


class ChangeParser(ExpressionParser):
    def alteration(self) -> Alteration:
        """One or more SET and REMOVE clauses."""
        clauses = {"SET": self._set_clause, "REMOVE": self._remove_clause}
        if self.next.kind not in clauses:
            raise not_well_formed(EXPECTED_MANIPULATION)
        actions: list[Action] = []
        while self.next.kind in clauses:
            action = clauses[self.take().kind]
            actions.append(action())
            while self.take_if(","):
                actions.append(action())
        return Alteration(tuple(actions))

    def _remove_clause(self) -> Action:
        return RemoveAction(self.path())

    def _set_clause(self) -> Action:
        target = self.path()
        self.expect("=")
        value = self.value()
        if isinstance(value, Function) and value.name in SET_FUNCTIONS:
            return self._set_function(target, value)
        for node in walk(value):
            if isinstance(node, Function) and node.name in SET_FUNCTIONS:
                self.remember(misused(node.name))
        return SetAction(target, value)

    def _set_function(self, target: Path, function: Function) -> Action:
        """What adds to a set or takes from it always means the attribute that is set."""
        name = function.name
        if len(function.arguments) != 2:
            self.remember(wrong_operand_count(name, len(function.arguments), Kind.STATEMENT))
            return RemoveAction(target)
        changed, members = function.arguments
        if not isinstance(changed, Path):
            self.remember(
                ValidationException(f"Operator or function requires a document path; operator or function: {name}")
            )
        elif changed != target:
            self.remember(misused(name))
        return SET_FUNCTIONS[name](target, members)

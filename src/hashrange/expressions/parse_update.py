"""The grammar of update expressions.

update  := (SET set ("," set)* | REMOVE path ("," path)* | ADD path :v ("," path :v)* | DELETE path :v ...)+
set     := path "=" value
value   := operand | operand ("+" | "-") operand | "(" value ")"
operand := path | :v | function "(" operand ("," operand)* ")" | "(" operand ")"
"""

from __future__ import annotations

from hashrange.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    DeleteAction,
    Function,
    Operand,
    RemoveAction,
    SetAction,
    UpdateNode,
)
from hashrange.expressions.kinds import Kind
from hashrange.expressions.parser import Parser, check_function_names, check_paths, misused
from hashrange.expressions.tokens import END
from hashrange.expressions.walk import walk

UPDATE_FUNCTIONS = frozenset({"if_not_exists", "list_append"})


def parse_update(text: str, kind: Kind) -> UpdateNode:
    """The tree of an update, after all checks that need only its text."""
    parser = _UpdateParser(text, kind)
    root = parser.update()
    parser.check_parentheses_and_operators(root)
    check_paths(root, kind)
    check_function_names(root, UPDATE_FUNCTIONS, kind)
    _check_nested_appends(root, kind)
    if parser.repeated_section is not None:
        raise kind.error(f'The "{parser.repeated_section}" section can only be used once in an update expression;')
    return root


def _check_nested_appends(root: UpdateNode, kind: Kind) -> None:
    for node in walk(root):
        if isinstance(node, Function) and node.name == "list_append":
            for argument in node.arguments:
                if isinstance(argument, Function) and argument.name == "list_append":
                    raise misused(argument, kind)


class _UpdateParser(Parser):
    def __init__(self, text: str, kind: Kind) -> None:
        super().__init__(text, kind)
        self.repeated_section: str | None = None  # the first that was opened again
        self._sections = {"SET": self._set, "REMOVE": self._remove, "ADD": self._add, "DELETE": self._delete}

    def update(self) -> UpdateNode:
        actions: list[Action] = []
        seen: set[str] = set()
        while not seen or self.next_kind != END:
            section = self.next_kind
            if section not in self._sections:
                raise self.syntax_error()
            self.take()
            if section in seen and self.repeated_section is None:
                self.repeated_section = section
            seen.add(section)
            action = self._sections[section]
            actions.append(action())
            while self.take_if(","):
                actions.append(action())
        return UpdateNode(tuple(actions))

    def _set(self) -> Action:
        target = self.path()
        self.expect("=")
        return SetAction(target, self._value())

    def _remove(self) -> Action:
        return RemoveAction(self.path())

    def _add(self) -> Action:
        target = self.path()
        return AddAction(target, self.value_placeholder())

    def _delete(self) -> Action:
        target = self.path()
        return DeleteAction(target, self.value_placeholder())

    def _value(self) -> Operand:
        """An operand or the sum or difference of two. Parentheses may hold the first operand or all of it."""
        opened = 0
        while self.take_if("("):
            opened += 1
        value = self.operand()
        around_operand = 0
        while around_operand < opened and self.take_if(")"):
            around_operand += 1
        around_all = opened - around_operand
        if self.next_kind in ("+", "-"):
            operator = self.take().kind
            value = Arithmetic(operator, value, self.operand())
        elif around_all:
            raise self.syntax_error()
        for _ in range(around_all):
            self.expect(")")
        self.has_redundant_parentheses |= around_operand > 1 or around_all > 1
        return value

"""The grammar of conditions, filters and key conditions.

    or      := and (OR and)*
    and     := not (AND not)*
    not     := NOT not | primary
    primary := "(" or ")" | operand comparator operand | operand BETWEEN operand AND operand
             | operand IN "(" operand ("," operand)* ")" | function

An opening parenthesis may begin a condition or an operand; which of them shows only when it closes. So open
parentheses are kept in a list of groups, and a group that holds a lone operand hands it to the group around it.
"""

from __future__ import annotations

from hashrange.expressions.ast import (
    And,
    Between,
    Comparison,
    ConditionNode,
    Function,
    Membership,
    Not,
    Operand,
    Or,
)
from hashrange.expressions.kinds import Kind
from hashrange.expressions.parser import Parser, check_function_names, check_paths, misused
from hashrange.expressions.tokens import COMPARATORS, END
from hashrange.expressions.walk import children, leaves, walk

CONDITION_FUNCTIONS = frozenset(
    {"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"}
)


def parse_condition(text: str, kind: Kind) -> ConditionNode:
    """The tree of a condition, after all checks that need only its text."""
    parser = _ConditionParser(text, kind)
    root = parser.condition()
    parser.check_parentheses_and_operators(root)
    check_function_names(root, CONDITION_FUNCTIONS, kind)
    _check_function_use(root, kind)
    check_paths(root, kind)
    return root


def _check_function_use(root: ConditionNode, kind: Kind) -> None:
    """`size` measures a path or a value and is an operand; every other function is a condition."""
    for leaf in leaves(root):
        if isinstance(leaf, Function) and leaf.name == "size":
            raise misused(leaf, kind)
        for parent in walk(leaf):
            in_size = isinstance(parent, Function) and parent.name == "size"
            for child in children(parent):
                if isinstance(child, Function) and (in_size or child.name != "size"):
                    raise misused(child, kind)


class _Group:
    """A condition being read: the whole expression, or what stands in a pair of parentheses."""

    __slots__ = ("alternatives", "conjuncts", "negations")

    def __init__(self) -> None:
        self.alternatives: list[ConditionNode] = []  # complete, joined by OR
        self.conjuncts: list[ConditionNode] = []  # complete, joined by AND, since the last OR
        self.negations = 0  # how many NOT stand before the next condition

    @property
    def is_untouched(self) -> bool:
        return not (self.alternatives or self.conjuncts or self.negations)

    def add(self, condition: ConditionNode) -> None:
        for _ in range(self.negations):
            condition = Not(condition)
        self.negations = 0
        self.conjuncts.append(condition)

    def end_alternative(self) -> None:
        conjuncts = self.conjuncts
        self.alternatives.append(conjuncts[0] if len(conjuncts) == 1 else And(tuple(conjuncts)))
        self.conjuncts = []

    def complete(self) -> ConditionNode:
        self.end_alternative()
        alternatives = self.alternatives
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))


class _ConditionParser(Parser):
    def condition(self) -> ConditionNode:
        groups = [_Group()]
        while True:
            self._open(groups)
            complete = self._close(groups, self._primary(groups))
            if complete is not None:
                return complete

    def _open(self, groups: list[_Group]) -> None:
        while True:
            if self.take_if("NOT"):
                groups[-1].negations += 1
            elif self.take_if("("):
                groups.append(_Group())
            else:
                return

    def _primary(self, groups: list[_Group]) -> ConditionNode:
        left = self.operand()
        in_parentheses = False
        while len(groups) > 1 and groups[-1].is_untouched and self.take_if(")"):
            groups.pop()
            self.has_redundant_parentheses |= in_parentheses
            in_parentheses = True
        return self._comparison(left)

    def _comparison(self, left: Operand) -> ConditionNode:
        if self.next_kind in COMPARATORS:
            operator = self.take().kind
            return Comparison(operator, left, self.operand())
        if self.take_if("BETWEEN"):
            lower = self.operand()
            self.expect("AND")
            return Between(left, lower, self.operand())
        if self.take_if("IN"):
            return Membership(left, self._options())
        if isinstance(left, Function):
            return left
        raise self.syntax_error()

    def _options(self) -> tuple[Operand, ...]:
        self.expect("(")
        options = [self.operand()]
        while self.take_if(","):
            options.append(self.operand())
        self.expect(")")
        return tuple(options)

    def _close(self, groups: list[_Group], condition: ConditionNode) -> ConditionNode | None:
        """Add a condition to its group and close the groups that end here. The whole, at the end of the text."""
        is_group = False  # whether `condition` stands in parentheses of its own
        while True:
            group = groups[-1]
            holds_only_group = is_group and group.is_untouched
            group.add(condition)
            if self.take_if("AND"):
                return None
            if self.take_if("OR"):
                group.end_alternative()
                return None
            condition = group.complete()
            if len(groups) == 1:
                self.expect(END)
                return condition
            self.expect(")")
            groups.pop()
            self.has_redundant_parentheses |= holds_only_group
            is_group = True

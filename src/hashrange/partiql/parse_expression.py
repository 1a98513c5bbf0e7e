"""The grammar of conditions and values, read by precedence.

A statement's conditions and the values it sets are written in one grammar; what may stand where is checked as the
tree grows. The tree is that of expressions: parameters, and literals that hold parameters, are its placeholders.
"""

from __future__ import annotations

from collections.abc import Callable

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    And,
    Arithmetic,
    Between,
    Comparison,
    ConditionNode,
    Constant,
    Function,
    Membership,
    Not,
    Operand,
    Or,
    Path,
    ValuePlaceholder,
)
from hashrange.expressions.checks import wrong_operand_count
from hashrange.expressions.kinds import Kind
from hashrange.limits import PARTIQL_IN_VALUES_MAX
from hashrange.partiql.errors import UNEXPECTED_TERM, not_well_formed
from hashrange.partiql.literals import Literal, Parameter
from hashrange.partiql.parse_literal import LiteralParser
from hashrange.partiql.parser import DEPTH_MAX
from hashrange.partiql.tokens import Token
from hashrange.values.attribute import check_value

Node = Operand | ConditionNode

COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
UNSUPPORTED = ("LIKE", "*", "/", "%", "||")

ANY, OR, AND, NOT, COMPARISON, SUM = range(6)
LEVELS = {
    "OR": OR,
    "AND": AND,
    "NOT": COMPARISON,  # in `a NOT IN ...`; before a condition it binds less
    "IN": COMPARISON,
    "BETWEEN": COMPARISON,
    "IS": COMPARISON,
    "+": SUM,
    "-": SUM,
    **dict.fromkeys(COMPARATORS, COMPARISON),
    **dict.fromkeys(UNSUPPORTED, SUM),
}

CONDITION_FUNCTIONS = frozenset(
    {"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"}
)
UPDATE_FUNCTIONS = frozenset({"list_append", "set_add", "set_delete", "if_not_exists"})
FUNCTIONS = CONDITION_FUNCTIONS | UPDATE_FUNCTIONS | {"size"}

_EXPRESSION_IN_VALUES_MAX = 99

LISTS = {"[": "]", "(": ")", "<<": ">>"}  # what may hold the values of IN

TYPES: dict[str, tuple[str, ...]] = {
    "NULL": ("NULL",),
    **dict.fromkeys(("BOOL", "BOOLEAN"), ("BOOL",)),
    **dict.fromkeys(("NUMBER", "NUMERIC", "DECIMAL", "INT", "INTEGER", "FLOAT"), ("N",)),
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR"), ("S",)),
    **dict.fromkeys(("BINARY", "BLOB"), ("B",)),
    "LIST": ("L",),
    **dict.fromkeys(("MAP", "STRUCT", "TUPLE"), ("M",)),
    **dict.fromkeys(("SET", "BAG"), ("SS", "NS", "BS")),
}


class ExpressionParser(LiteralParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.templates: dict[str, Literal] = {}  # literals that hold parameters, by their placeholder
        self._in_condition = False
        self._sums = 0
        self._infixes: dict[str, Callable[[Node], Node]] = {
            "OR": self._or,
            "AND": self._and,
            "NOT": self._infix_not,
            "IN": self._in,
            "BETWEEN": self._between,
            "IS": self._is,
            **dict.fromkeys(("+", "-"), self._sum),
            **dict.fromkeys(COMPARATORS, self._comparison),
            **dict.fromkeys(UNSUPPORTED, self._unsupported),
        }

    def condition(self) -> ConditionNode:
        """A condition, as WHERE has it."""
        self._in_condition = True
        return self._as_condition(self._expression(ANY))

    def value(self) -> Operand:
        """A value, as SET has it."""
        self._in_condition = False
        return self._as_operand(self._expression(ANY))

    def _expression(self, floor: int) -> Node:
        """What operators that bind more than `floor` hold together."""
        self.deeper()
        node = self._prefix()
        while LEVELS.get(self.next.kind, ANY) > floor:
            node = self._infixes[self.next.kind](node)
        self.shallower()
        return node

    def _prefix(self) -> Node:
        if self.take_if("NOT"):
            return Not(self._as_condition(self._expression(NOT)))
        if self.following.kind == "(" and self.next.text[:1].isalpha():
            return self._function()
        if self.take_if("("):
            node = self._expression(ANY)
            self.expect(")")
            return node
        if self.next_is_literal:
            return self.constant(self.literal())
        return self.path()

    def constant(self, literal: Literal) -> Operand:
        """A literal as an operand, normalised; with parameters inside it is a placeholder until they come."""
        if isinstance(literal, Parameter):
            return ValuePlaceholder(f"?{literal.number}")
        if not isinstance(literal, dict):
            placeholder = f"${len(self.templates)}"
            self.templates[placeholder] = literal
            return ValuePlaceholder(placeholder)
        try:
            check_value(literal)
        except ValidationException as error:
            self.remember(error)
        return Constant(literal)

    def _function(self) -> Node:
        token = self.take()
        name = token.text.lower()
        if name not in FUNCTIONS:
            raise self.unrecognized(token)
        self.take()
        arguments: list[Operand] = []
        if not self.take_if(")"):
            arguments.append(self._as_operand(self._expression(ANY)))
            while self.take_if(","):
                arguments.append(self._as_operand(self._expression(ANY)))
            self.expect(")")
        if (name in UPDATE_FUNCTIONS) == self._in_condition:
            self.remember(misused(name))
        return Function(name, tuple(arguments))

    def unrecognized(self, token: Token) -> ValidationException:
        return ValidationException(f"Unrecognized function: {token.text.lower()} at {self.at(token)}")

    def _or(self, first: Node) -> Node:
        return Or(self._connected("OR", first, OR))

    def _and(self, first: Node) -> Node:
        return And(self._connected("AND", first, AND))

    def _connected(self, kind: str, first: Node, level: int) -> tuple[ConditionNode, ...]:
        conditions = [self._as_condition(first)]
        while self.take_if(kind):
            conditions.append(self._as_condition(self._expression(level)))
        return tuple(conditions)

    def _comparison(self, left: Node) -> Node:
        operator = self.take().kind
        return Comparison(operator, self._as_operand(left), self._as_operand(self._expression(COMPARISON)))

    def _between(self, operand: Node) -> Node:
        self.take()
        lower = self._as_operand(self._expression(COMPARISON))
        self.expect("AND")
        return Between(self._as_operand(operand), lower, self._as_operand(self._expression(COMPARISON)))

    def _in(self, operand: Node) -> Node:
        self.take()
        end = LISTS.get(self.next.kind)
        if end is None:
            raise self.unexpected()
        self.take()
        options: list[Operand] = []
        if not self.take_if(end):
            options.append(self._as_operand(self._expression(ANY)))
            while self.take_if(","):
                options.append(self._as_operand(self._expression(ANY)))
            self.expect(end)
        return self._membership(self._as_operand(operand), tuple(options))

    def _membership(self, operand: Operand, options: tuple[Operand, ...]) -> Node:
        if not 0 < len(options) <= PARTIQL_IN_VALUES_MAX:
            self.remember(wrong_operand_count("IN", 1 + len(options), Kind.STATEMENT))
        head, tail = options[:_EXPRESSION_IN_VALUES_MAX], options[_EXPRESSION_IN_VALUES_MAX:]
        if not tail:
            return Membership(operand, head)
        return Or((Membership(operand, head), Membership(operand, tail)))

    def _infix_not(self, operand: Node) -> Node:
        self.take()
        if self.next.kind not in ("IN", "BETWEEN", "LIKE"):
            raise self.unexpected()
        return Not(self._as_condition(self._infixes[self.next.kind](operand)))

    def _is(self, operand: Node) -> Node:
        self.take()
        negated = self.take_if("NOT")
        tested = self._is_type(self._as_operand(operand))
        return Not(tested) if negated else tested

    def _is_type(self, operand: Operand) -> ConditionNode:
        word = self.next.text.upper()
        if word == "MISSING":
            self.take()
            return Function("attribute_not_exists", (operand,))
        if word not in TYPES:
            raise self.unexpected()
        self.take()
        tests = tuple(Function("attribute_type", (operand, Constant({"S": code}))) for code in TYPES[word])
        return tests[0] if len(tests) == 1 else Or(tests)

    def _sum(self, left: Node) -> Node:
        token = self.take()
        self._sums += 1
        if self._sums > DEPTH_MAX:
            raise not_well_formed()
        if self._in_condition:
            self.remember(self._unsupported_operator(token))
        return Arithmetic(token.kind, self._as_operand(left), self._as_operand(self._expression(SUM)))

    def _unsupported(self, left: Node) -> Node:
        raise self._unsupported_operator(self.next)

    def _unsupported_operator(self, token: Token) -> ValidationException:
        return ValidationException(f"Unsupported operator: {token.text.upper()} at {self.at(token)}")

    def _as_condition(self, node: Node) -> ConditionNode:
        match node:
            case Function(name, _) if name not in CONDITION_FUNCTIONS:
                self.remember(misused(name))
                return Not(Or(()))
            case Path() | ValuePlaceholder() | Constant() | Arithmetic():
                raise not_well_formed(UNEXPECTED_TERM)
            case _:
                return node

    def _as_operand(self, node: Node) -> Operand:
        match node:
            case Function(name, _):
                if name in CONDITION_FUNCTIONS:
                    self.remember(misused(name))
                return node
            case Path() | ValuePlaceholder() | Constant() | Arithmetic():
                return node
            case _:
                raise not_well_formed(UNEXPECTED_TERM)


def misused(name: str) -> ValidationException:
    return ValidationException(f"The function is not allowed to be used this way in an expression; function: {name}")

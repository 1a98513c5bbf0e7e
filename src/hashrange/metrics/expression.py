"""CloudWatch's metric math, as much of it as graphs and alarms of tables need.

    m1 / PERIOD(m1)    SUM(METRICS())    IF(m1 > 100, m2, 0)    FILL(m1, 0) * 100

Text becomes a tree by precedence climbing. A value is a number, a line (numbers by time) or a list of lines; numbers
and lines mix, and what is computed from two lines exists where both do.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hashrange.engine.parts import Parts
from hashrange.metrics.reading import Values

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|(?P<name>[A-Za-z]\w*)|\"(?P<text>[^\"]*)\""
    r"|(?P<sign>==|!=|<=|>=|&&|\|\||[-+*/^(),<>\[\]]))"
)
DEPTH_MAX = 50
OPERATORS_MAX = 200  # `a + b + c` is a tree too, as deep as it is long
LEFT_BINDING = {
    "||": 1, "OR": 1, "&&": 2, "AND": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4,
    "+": 5, "-": 5, "*": 6, "/": 6, "^": 8,
}  # fmt: skip
NEGATION_BINDING = 7

Lines = list[Values]
Value = float | Values | Lines


class ExpressionError(Exception):
    """An expression that cannot be read or computed. The text is for people."""


class Surroundings(Protocol):
    """What an expression can refer to."""

    def line(self, name: str) -> Parts[Value]: ...

    def period_seconds(self, name: str) -> int: ...

    def metrics(self, filter_text: str) -> Parts[Lines]: ...

    def timeline(self) -> Sequence[int]: ...

    def work(self) -> None:
        """Something is about to be computed for every point of a line; raises if that was enough."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator with what it is applied to."""

    name: str
    arguments: tuple[Node, ...]


Node = Number | Text | Name | Call


def tokens(text: str) -> list[tuple[str, str]]:
    found = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(f"Error in expression: unexpected character at {position + 1}")
        kind = match.lastgroup
        assert kind is not None
        found.append((kind, match.group(kind)))
        position = match.end()
    return found


class Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._next = 0
        self._depth = 0
        self._operators = 0

    def parse(self) -> Node:
        node = self._expression(0)
        if self._next < len(self._tokens):
            raise ExpressionError(f"Error in expression: unexpected {self._tokens[self._next][1]!r}")
        return node

    def _peek(self) -> str:
        kind, text = self._tokens[self._next] if self._next < len(self._tokens) else ("end", "")
        return "" if kind == "text" else text

    def _take(self) -> tuple[str, str]:
        if self._next >= len(self._tokens):
            raise ExpressionError("Error in expression: unexpected end")
        self._next += 1
        return self._tokens[self._next - 1]

    def _expect(self, sign: str) -> None:
        if self._take() != ("sign", sign):
            raise ExpressionError(f"Error in expression: expected {sign!r}")

    def _expression(self, binding: int) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ExpressionError("Error in expression: nested too deeply")
        left = self._operand()
        while LEFT_BINDING.get(self._peek(), -1) > binding:
            _, sign = self._take()
            self._operators += 1
            if self._operators > OPERATORS_MAX:
                raise ExpressionError("Error in expression: too many operators")
            left = Call(sign, (left, self._expression(LEFT_BINDING[sign])))
        self._depth -= 1
        return left

    def _operand(self) -> Node:
        kind, text = self._take()
        if kind == "number":
            return Number(float(text))
        if kind == "text":
            return Text(text)
        if kind == "name":
            return Call(text.upper(), self._arguments("(", ")")) if self._peek() == "(" else Name(text)
        if text == "(":
            inner = self._expression(0)
            self._expect(")")
            return inner
        if text == "[":
            self._next -= 1
            return Call("[]", self._arguments("[", "]"))
        if text == "-":
            return Call("*", (Number(-1.0), self._expression(NEGATION_BINDING)))
        raise ExpressionError(f"Error in expression: unexpected {text!r}")

    def _arguments(self, opening: str, closing: str) -> tuple[Node, ...]:
        self._expect(opening)
        found: list[Node] = []
        while self._peek() != closing:
            if found:
                self._expect(",")
            found.append(self._expression(0))
        self._expect(closing)
        return tuple(found)


def parse(text: str) -> Node:
    return Parser(text).parse()


def names_in(node: Node) -> set[str]:
    """The queries that an expression refers to by their ids."""
    if isinstance(node, Name):
        return {node.name}
    return set().union(*map(names_in, node.arguments)) if isinstance(node, Call) else set()


def divide(left: float, right: float) -> float:
    return left / right if right else math.nan


def power(left: float, right: float) -> float:
    result = left**right
    return result if isinstance(result, float | int) else math.nan


ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "^": power,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "&&": lambda left, right: bool(left) and bool(right),
    "||": lambda left, right: bool(left) or bool(right),
    "AND": lambda left, right: bool(left) and bool(right),
    "OR": lambda left, right: bool(left) or bool(right),
}

"""Conditions, compiled: a tree becomes nested functions, and testing an item is calling the outermost.

A path that leads nowhere reads as None. Comparisons with None are false, except that `<>` is then true.
"""

from __future__ import annotations

from collections.abc import Callable

from hashrange.expressions import functions
from hashrange.expressions.ast import (
    And,
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
from hashrange.expressions.checks import Values
from hashrange.expressions.paths import BoundPath, Names, bound, bound_paths, look_up, top_level_names
from hashrange.values.compare import compare
from hashrange.values.types import Attributes, AttributeValue

Reader = Callable[[Attributes, Values], AttributeValue | None]
Test = Callable[[Attributes, Values], bool]


class Condition:
    """A condition or filter, ready to be tested on items. It must have passed its checks with the same values."""

    __slots__ = ("_test", "paths", "top_level_names")

    def __init__(self, root: ConditionNode, names: Names) -> None:
        self.paths: tuple[BoundPath, ...] = bound_paths(root, names)  # in source order
        self.top_level_names = top_level_names(self.paths)
        self._test = _compiled(root, names)

    def __call__(self, attributes: Attributes, values: Values) -> bool:
        """Whether the condition holds; a missing item has no attributes."""
        return self._test(attributes, values)

    def with_values(self, values: Values) -> Callable[[Attributes], bool]:
        """The same for many items and one set of values."""
        test = self._test
        return lambda attributes: test(attributes, values)


def _compiled(node: ConditionNode, names: Names) -> Test:
    match node:
        case And(conditions):
            return _all_of([_compiled(condition, names) for condition in conditions])
        case Or(conditions):
            return _any_of([_compiled(condition, names) for condition in conditions])
        case Not(condition):
            test = _compiled(condition, names)
            return lambda attributes, values: not test(attributes, values)
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, names)
        case Between(operand, lower, upper):
            return _between(_reader(operand, names), _reader(lower, names), _reader(upper, names))
        case Membership(operand, options):
            return _membership(_reader(operand, names), [_reader(option, names) for option in options])
        case Function(name, arguments):
            return _FUNCTIONS[name](*(_reader(argument, names) for argument in arguments))


def _reader(operand: Operand, names: Names) -> Reader:
    match operand:
        case Path():
            path = bound(operand, names)
            first = path[0]
            if len(path) == 1 and isinstance(first, str):
                return lambda attributes, values: attributes.get(first)
            return lambda attributes, values: look_up(attributes, path)
        case ValuePlaceholder(text):
            return lambda attributes, values: values[text]
        case Constant(value):
            return lambda attributes, values: value
        case Function("size", (measured,)):
            return _size(_reader(measured, names))
        case _:
            raise AssertionError(f"not an operand of a condition: {operand}")


def _size(measured: Reader) -> Reader:
    def read(attributes: Attributes, values: Values) -> AttributeValue | None:
        value = measured(attributes, values)
        return None if value is None else functions.size(value)

    return read


def _all_of(tests: list[Test]) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        for part in tests:  # noqa: SIM110  # a generator would cost more than most parts
            if not part(attributes, values):
                return False
        return True

    return test


def _any_of(tests: list[Test]) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        for part in tests:  # noqa: SIM110
            if part(attributes, values):
                return True
        return False

    return test


def _comparison(operator: str, left: Operand, right: Operand, names: Names) -> Test:
    if operator in ("=", "<>") and isinstance(left, Path) and isinstance(right, ValuePlaceholder):
        path = bound(left, names)
        if len(path) == 1:
            return _attribute_equals(str(path[0]), right.text, wanted=operator == "=")
    left_of, right_of = _reader(left, names), _reader(right, names)
    if operator == "=":
        return _equal(left_of, right_of)
    if operator == "<>":
        equal = _equal(left_of, right_of)
        return lambda attributes, values: not equal(attributes, values)
    return _ordered(left_of, right_of, _ORDERS[operator])


def _attribute_equals(name: str, placeholder: str, *, wanted: bool) -> Test:
    """The most common conditions, `attribute = :value` and `attribute <> :value`, without readers."""
    if wanted:
        return lambda attributes, values: attributes.get(name) == values[placeholder]
    return lambda attributes, values: attributes.get(name) != values[placeholder]


def _equal(left_of: Reader, right_of: Reader) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        left = left_of(attributes, values)
        return left is not None and left == right_of(attributes, values)

    return test


_ORDERS: dict[str, frozenset[int | None]] = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
}


def _ordered(left_of: Reader, right_of: Reader, accepted: frozenset[int | None]) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        left = left_of(attributes, values)
        right = right_of(attributes, values)
        return left is not None and right is not None and compare(left, right) in accepted

    return test


def _between(operand_of: Reader, lower_of: Reader, upper_of: Reader) -> Test:
    from_lower = _ordered(operand_of, lower_of, _ORDERS[">="])
    to_upper = _ordered(operand_of, upper_of, _ORDERS["<="])
    return lambda attributes, values: from_lower(attributes, values) and to_upper(attributes, values)


def _membership(operand_of: Reader, options: list[Reader]) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        operand = operand_of(attributes, values)
        if operand is None:
            return False
        return any(operand == option(attributes, values) for option in options)

    return test


def _exists(operand: Reader) -> Test:
    return lambda attributes, values: operand(attributes, values) is not None


def _not_exists(operand: Reader) -> Test:
    return lambda attributes, values: operand(attributes, values) is None


def _has_type(operand: Reader, type_name: Reader) -> Test:
    def test(attributes: Attributes, values: Values) -> bool:
        value = operand(attributes, values)
        wanted = type_name(attributes, values)
        return value is not None and wanted is not None and wanted["S"] in value

    return test


def _pair(holds: Callable[[AttributeValue, AttributeValue], bool]) -> Callable[[Reader, Reader], Test]:
    """A function of two operands, false when one of them leads nowhere."""

    def compiled(first: Reader, second: Reader) -> Test:
        def test(attributes: Attributes, values: Values) -> bool:
            one = first(attributes, values)
            two = second(attributes, values)
            return one is not None and two is not None and holds(one, two)

        return test

    return compiled


_FUNCTIONS: dict[str, Callable[..., Test]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _has_type,
    "begins_with": _pair(functions.begins_with),
    "contains": _pair(functions.contains),
}

"""Filter patterns: which records a function wants, in the language of EventBridge.

A pattern has the shape of what it matches. Where the record has a value, the pattern has a list of alternatives:

    {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"kind": {"S": [{"prefix": "order-"}]}}}}

Members of a pattern must all match; alternatives in a list, and the patterns under `$or`, need only one that does. A
value that is itself a list matches if one of its elements does. Patterns are compiled to closures when first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from hashrange.errors import InvalidParameterValueException
from hashrange.limits import FILTER_PATTERN_CHARACTERS_MAX

Matcher = Callable[[Any], bool]
Scalar = str | int | float | bool | None

ABSENT = object()
DEPTH_MAX = 100  # a record is never deeper: an item has 32 levels, each of a type and a name
SCALARS = (str, int, float, bool, type(None))

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda value, bound: value == bound,
    "<": lambda value, bound: value < bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound,
}


class BadPattern(Exception):
    """What is wrong is not told: the service does not say either."""


@lru_cache(maxsize=1024)
def compiled(patterns: tuple[str, ...]) -> Callable[[dict[str, Any]], bool]:
    """Whether a record matches one of the patterns."""
    matchers = [compiled_one(pattern) for pattern in patterns]
    return lambda record: any(matcher(record) for matcher in matchers)


def compiled_one(pattern: str) -> Matcher:
    """InvalidParameterValueException if it is not a pattern."""
    try:
        if len(pattern) > FILTER_PATTERN_CHARACTERS_MAX:
            raise BadPattern
        parsed = orjson.loads(pattern)
        if not isinstance(parsed, dict):
            raise BadPattern
        return structure(parsed, 0)
    except (BadPattern, orjson.JSONDecodeError):
        raise InvalidParameterValueException("Invalid filter pattern definition.") from None


def structure(pattern: Mapping[str, Any], depth: int) -> Matcher:
    """All members match. A list in the place of an object matches if one of its objects does."""
    if depth > DEPTH_MAX:
        raise BadPattern
    members: list[tuple[str, Matcher]] = []
    choices: list[list[Matcher]] = []
    for name, wanted in pattern.items():
        if name == "$or":
            choices.append(alternatives_of(wanted, depth + 1))
        elif isinstance(wanted, dict):
            members.append((name, structure(wanted, depth + 1)))
        else:
            members.append((name, leaf(wanted)))

    def matches_one(value: Mapping[str, Any]) -> bool:
        return all(matcher(value.get(name, ABSENT)) for name, matcher in members) and all(
            any(choice(value) for choice in group) for group in choices
        )

    def matches(value: Any) -> bool:
        if isinstance(value, list):
            return any(matches(each) for each in value)
        return matches_one(value if isinstance(value, dict) else {})

    return matches


def alternatives_of(wanted: Any, depth: int) -> list[Matcher]:
    if not isinstance(wanted, list) or len(wanted) < 2 or not all(isinstance(each, dict) for each in wanted):
        raise BadPattern
    return [structure(each, depth) for each in wanted]


def leaf(wanted: Any) -> Matcher:
    """A list of alternatives for one value."""
    if not isinstance(wanted, list) or not wanted:
        raise BadPattern
    tests = [test_of(each) for each in wanted]

    def matches(value: Any) -> bool:
        values = value if isinstance(value, list) else [value]
        return any(test(each) for test in tests for each in values if not isinstance(each, dict)) or (
            isinstance(value, dict) and any(test(ABSENT) for test in tests)
        )

    return matches


def test_of(wanted: Any) -> Matcher:
    if isinstance(wanted, SCALARS):
        return lambda value: same(value, wanted)
    if not isinstance(wanted, dict) or len(wanted) != 1:
        raise BadPattern
    operator, operand = next(iter(wanted.items()))
    build = OPERATORS.get(operator)
    if build is None:
        raise BadPattern
    return build(operand)


def same(value: Any, wanted: Scalar) -> bool:
    """Equality that does not take true for 1, as Python's does."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


# ---- Operators -----------------------------------------------------------------------------------------------------


def text_of(operand: Any) -> str:
    if not isinstance(operand, str):
        raise BadPattern
    return operand


def on_text(test: Callable[[str], bool]) -> Matcher:
    return lambda value: isinstance(value, str) and test(value)


def affix(found: Callable[[str, str], bool]) -> Callable[[Any], Matcher]:
    """How a text begins or ends; `{"equals-ignore-case": text}` compares without case."""

    def build(operand: Any) -> Matcher:
        if isinstance(operand, dict) and list(operand) == ["equals-ignore-case"]:
            lowered = text_of(operand["equals-ignore-case"]).lower()
            return on_text(lambda value: found(value.lower(), lowered))
        text = text_of(operand)
        return on_text(lambda value: found(value, text))

    return build


def equals_ignore_case(operand: Any) -> Matcher:
    lowered = text_of(operand).lower()
    return on_text(lambda value: value.lower() == lowered)


def wildcard(operand: Any) -> Matcher:
    """`*` stands for any characters. What is between two of them is looked for once, from the left, so that a match
    takes no longer than the value is long; regular expressions would try every combination."""
    text = text_of(operand)
    if "**" in text:
        raise BadPattern
    if "*" not in text:
        return on_text(lambda value: value == text)
    first, *middle, last = text.split("*")

    def matches(value: str) -> bool:
        if not value.startswith(first):
            return False
        position = len(first)
        for part in middle:
            found = value.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        return value.endswith(last) and position + len(last) <= len(value)

    return on_text(matches)


def exists(operand: Any) -> Matcher:
    if not isinstance(operand, bool):
        raise BadPattern
    return lambda value: (value is not ABSENT) is operand


def numeric(operand: Any) -> Matcher:
    """`["=", 5]` or `[">", 0, "<=", 5]`. Numbers of DynamoDB are strings in a record and never match."""
    if not isinstance(operand, list) or len(operand) not in (2, 4):
        raise BadPattern
    tests: list[tuple[Callable[[float, float], bool], float]] = []
    for sign, bound in zip(operand[::2], operand[1::2], strict=True):
        if not isinstance(sign, str) or sign not in COMPARISONS or not is_number(bound):
            raise BadPattern
        tests.append((COMPARISONS[sign], bound))
    return lambda value: is_number(value) and all(compare(value, bound) for compare, bound in tests)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def anything_but(operand: Any) -> Matcher:
    """A value that is there and is none of these. Alternatives are scalars, or one operator on texts."""
    if isinstance(operand, dict):
        operator, unwanted = next(iter(operand.items()), ("", None))
        build = TEXT_OPERATORS.get(operator)
        if len(operand) != 1 or build is None:
            raise BadPattern
        tests = [build(each) for each in (unwanted if isinstance(unwanted, list) else [unwanted])]
        return on_text(lambda value: not any(test(value) for test in tests))
    unwanted = operand if isinstance(operand, list) else [operand]
    if not unwanted or not all(isinstance(each, str | int | float) for each in unwanted):
        raise BadPattern
    return lambda value: value is not ABSENT and not any(same(value, each) for each in unwanted)


TEXT_OPERATORS: dict[str, Callable[[Any], Matcher]] = {
    "prefix": affix(str.startswith),
    "suffix": affix(str.endswith),
    "equals-ignore-case": equals_ignore_case,
    "wildcard": wildcard,
}
OPERATORS: dict[str, Callable[[Any], Matcher]] = {
    **TEXT_OPERATORS,
    "exists": exists,
    "numeric": numeric,
    "anything-but": anything_but,
}

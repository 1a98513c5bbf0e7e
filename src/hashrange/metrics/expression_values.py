"""Computes expressions of metric math; see `expression` for what there is."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from hashrange.metrics.expression import (
    ARITHMETIC,
    ExpressionError,
    Lines,
    Name,
    Node,
    Number,
    Surroundings,
    Text,
    Value,
)
from hashrange.metrics.reading import Values


def computed(node: Node, around: Surroundings) -> Value:
    """The value of an expression. Numbers that are none (0 / 0) leave a gap in a line."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return around.line(node.name)
    if isinstance(node, Text):
        raise ExpressionError("Error in expression: a text can only be the argument of METRICS")
    around.work()
    if node.name in ARITHMETIC:
        left, right = (computed(each, around) for each in node.arguments)
        return combined(ARITHMETIC[node.name], left, right)
    function = FUNCTIONS.get(node.name)
    if function is None:
        raise ExpressionError(f"Error in expression: unsupported function {node.name}")
    return function(node.arguments, around)


def combined(apply: Callable[[float, float], float], left: Value, right: Value) -> Value:
    if isinstance(left, list) or isinstance(right, list):
        return combined_lists(apply, left, right)
    try:
        if isinstance(left, dict):
            if isinstance(right, dict):
                return finite({at: apply(left[at], right[at]) for at in left if at in right})
            return finite({at: apply(value, right) for at, value in left.items()})
        if isinstance(right, dict):
            return finite({at: apply(left, value) for at, value in right.items()})
        return float(apply(left, right))
    except OverflowError:
        raise ExpressionError("Error in expression: a number is too large") from None


def combined_lists(apply: Callable[[float, float], float], left: Value, right: Value) -> Value:
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            raise ExpressionError("Error in expression: lists of different lengths cannot be combined")
        return [line_of(combined(apply, one, other)) for one, other in zip(left, right, strict=True)]
    if isinstance(left, list):
        return [line_of(combined(apply, one, right)) for one in left]
    assert isinstance(right, list)
    return [line_of(combined(apply, left, other)) for other in right]


def finite(line: Values) -> Values:
    return {at: float(value) for at, value in line.items() if math.isfinite(value)}


def line_of(value: Value) -> Values:
    if not isinstance(value, dict):
        raise ExpressionError("Error in expression: a time series is needed")
    return value


def lines_of(arguments: Sequence[Node], around: Surroundings) -> Lines:
    found: Lines = []
    for argument in arguments:
        value = computed(argument, around)
        if isinstance(value, list):
            found += value
        else:
            found.append(line_of(value))
    return found


def aggregate(apply: Callable[[list[float]], float]) -> Callable[[Sequence[Node], Surroundings], Value]:
    """Of one line, a number; of several, the line through what they have at each time."""

    def function(arguments: Sequence[Node], around: Surroundings) -> Value:
        values = [computed(argument, around) for argument in arguments]
        if len(values) == 1 and isinstance(values[0], dict):
            numbers = list(values[0].values())
            return apply(numbers) if numbers else {}
        lines = [line for value in values for line in (value if isinstance(value, list) else [line_of(value)])]
        times = sorted({at for line in lines for at in line})
        return {at: apply([line[at] for line in lines if at in line]) for at in times}

    return function


def each(apply: Callable[[float], float]) -> Callable[[Sequence[Node], Surroundings], Value]:
    def function(arguments: Sequence[Node], around: Surroundings) -> Value:
        value = computed(only(arguments), around)
        if isinstance(value, float):
            return float(apply(value))
        if isinstance(value, list):
            return [{at: float(apply(part)) for at, part in line.items()} for line in value]
        return {at: float(apply(part)) for at, part in value.items()}

    return function


def only(arguments: Sequence[Node]) -> Node:
    if len(arguments) != 1:
        raise ExpressionError("Error in expression: wrong number of arguments")
    return arguments[0]


def metrics(arguments: Sequence[Node], around: Surroundings) -> Value:
    texts = [argument.value for argument in arguments if isinstance(argument, Text)]
    return around.metrics(texts[0] if texts else "")


def period(arguments: Sequence[Node], around: Surroundings) -> Value:
    argument = only(arguments)
    if not isinstance(argument, Name):
        raise ExpressionError("Error in expression: PERIOD needs the id of a metric")
    return float(around.period_seconds(argument.name))


def rate(arguments: Sequence[Node], around: Surroundings) -> Value:
    """The change per second from one value to the next."""
    line = line_of(computed(only(arguments), around))
    times = sorted(line)
    return {at: (line[at] - line[before]) / (at - before) for before, at in pairwise(times)}


def fill(arguments: Sequence[Node], around: Surroundings) -> Value:
    """A line without gaps: with a number in them, with the value before, or with what lies between."""
    if len(arguments) != 2:
        raise ExpressionError("Error in expression: FILL needs a time series and a filler")
    value, filler = computed(arguments[0], around), arguments[1]
    if isinstance(value, list):
        return [filled(line, filler, around) for line in value]
    return filled(line_of(value), filler, around)


def filled(line: Values, filler: Node, around: Surroundings) -> Values:
    times = around.timeline()
    if isinstance(filler, Name) and filler.name.upper() == "REPEAT":
        return repeated(line, times)
    if isinstance(filler, Name) and filler.name.upper() == "LINEAR":
        return interpolated(line, times)
    number = computed(filler, around)
    if isinstance(number, list):
        raise ExpressionError("Error in expression: FILL needs a number, REPEAT or LINEAR")
    fillers = number if isinstance(number, dict) else dict.fromkeys(times, number)
    return {at: line.get(at, fillers.get(at, math.nan)) for at in times if at in line or at in fillers}


def repeated(line: Values, times: Iterable[int]) -> Values:
    result: Values = {}
    last: float | None = None
    for at in times:
        last = line.get(at, last)
        if last is not None:
            result[at] = last
    return result


def interpolated(line: Values, times: Iterable[int]) -> Values:
    known = sorted(line)
    result: Values = {}
    for at in times:
        place = bisect_left(known, at)
        if at in line:
            result[at] = line[at]
        elif 0 < place < len(known):
            before, later = known[place - 1], known[place]
            slope = (line[later] - line[before]) / (later - before)
            result[at] = line[before] + slope * (at - before)
    return result


def choose(arguments: Sequence[Node], around: Surroundings) -> Value:
    """IF(condition, then, otherwise); without the last, a gap where the condition is false."""
    if len(arguments) not in (2, 3):
        raise ExpressionError("Error in expression: IF needs two or three arguments")
    condition = computed(arguments[0], around)
    branches = [computed(argument, around) for argument in arguments[1:]]
    if isinstance(condition, float):
        if condition:
            return branches[0]
        return branches[1] if len(branches) == 2 else {}
    result: Values = {}
    for at, truth in line_of(condition).items():
        branch: Value = branches[0] if truth else branches[1] if len(branches) == 2 else {}
        value = branch if isinstance(branch, float) else line_of(branch).get(at)
        if value is not None:
            result[at] = value
    return result


FUNCTIONS: dict[str, Callable[[Sequence[Node], Surroundings], Value]] = {
    "SUM": aggregate(sum),
    "AVG": aggregate(lambda numbers: sum(numbers) / len(numbers)),
    "MIN": aggregate(min),
    "MAX": aggregate(max),
    "ABS": each(abs),
    "CEIL": each(math.ceil),
    "FLOOR": each(math.floor),
    "METRICS": metrics,
    "PERIOD": period,
    "RATE": rate,
    "FILL": fill,
    "IF": choose,
    "[]": lines_of,
}

"""Computes expressions of metric math, a line at a time; see `expression` for what there is."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from hashrange.engine.parts import Parts
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

Arithmetic = Callable[[float, float], float]
Function = Callable[[Sequence[Node], Surroundings], Parts[Value]]


def computed(node: Node, around: Surroundings) -> Parts[Value]:
    """The value of an expression. Numbers that are none (0 / 0) leave a gap in a line."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return (yield from around.line(node.name))
    if isinstance(node, Text):
        raise ExpressionError("Error in expression: a text can only be the argument of METRICS")
    if node.name in ARITHMETIC:
        left, right = yield from all_computed(node.arguments, around)
        return (yield from combined(ARITHMETIC[node.name], left, right, around))
    function = FUNCTIONS.get(node.name)
    if function is None:
        raise ExpressionError(f"Error in expression: unsupported function {node.name}")
    return (yield from function(node.arguments, around))


def all_computed(nodes: Sequence[Node], around: Surroundings) -> Parts[list[Value]]:
    found: list[Value] = []
    for node in nodes:
        value = yield from computed(node, around)
        found.append(value)
    return found


def pause(around: Surroundings) -> Parts[None]:
    """Before every point of a line is looked at."""
    around.work()
    yield


def combined(apply: Arithmetic, left: Value, right: Value, around: Surroundings) -> Parts[Value]:
    if isinstance(left, list) or isinstance(right, list):
        return (yield from combined_lists(apply, left, right, around))
    yield from pause(around)
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


def combined_lists(apply: Arithmetic, left: Value, right: Value, around: Surroundings) -> Parts[Value]:
    lefts = left if isinstance(left, list) else [left] * len(right if isinstance(right, list) else [])
    rights = right if isinstance(right, list) else [right] * len(lefts)
    if len(lefts) != len(rights):
        raise ExpressionError("Error in expression: lists of different lengths cannot be combined")
    found: Lines = []
    for one, other in zip(lefts, rights, strict=True):
        line = yield from combined(apply, one, other, around)
        found.append(line_of(line))
    return found


def finite(line: Values) -> Values:
    return {at: float(value) for at, value in line.items() if math.isfinite(value)}


def line_of(value: Value) -> Values:
    if not isinstance(value, dict):
        raise ExpressionError("Error in expression: a time series is needed")
    return value


def lines_of(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    found: Lines = []
    for value in (yield from all_computed(arguments, around)):
        found += value if isinstance(value, list) else [line_of(value)]
    return found


def aggregate(apply: Callable[[list[float]], float]) -> Function:
    """Of one line, a number; of several, the line through what they have at each time."""

    def function(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
        values = yield from all_computed(arguments, around)
        if len(values) == 1 and isinstance(values[0], dict):
            numbers = list(values[0].values())
            return apply(numbers) if numbers else {}
        together: dict[int, list[float]] = {}
        for value in values:
            for line in value if isinstance(value, list) else [line_of(value)]:
                yield from pause(around)
                for at, number in line.items():
                    together.setdefault(at, []).append(number)
        return {at: apply(together[at]) for at in sorted(together)}

    return function


def each(apply: Callable[[float], float]) -> Function:
    def function(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
        value = yield from computed(only(arguments), around)
        if isinstance(value, float):
            return float(apply(value))
        found: Lines = []
        for line in value if isinstance(value, list) else [value]:
            yield from pause(around)
            found.append({at: float(apply(part)) for at, part in line.items()})
        return found if isinstance(value, list) else found[0]

    return function


def only(arguments: Sequence[Node]) -> Node:
    if len(arguments) != 1:
        raise ExpressionError("Error in expression: wrong number of arguments")
    return arguments[0]


def metrics(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    texts = [argument.value for argument in arguments if isinstance(argument, Text)]
    return (yield from around.metrics(texts[0] if texts else ""))


def period(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    argument = only(arguments)
    if not isinstance(argument, Name):
        raise ExpressionError("Error in expression: PERIOD needs the id of a metric")
    yield
    return float(around.period_seconds(argument.name))


def rate(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    """The change per second from one value to the next."""
    value = yield from computed(only(arguments), around)
    line = line_of(value)
    yield from pause(around)
    times = sorted(line)
    return {at: (line[at] - line[before]) / (at - before) for before, at in pairwise(times)}


def fill(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    """A line without gaps: with a number in them, with the value before, or with what lies between."""
    if len(arguments) != 2:
        raise ExpressionError("Error in expression: FILL needs a time series and a filler")
    value = yield from computed(arguments[0], around)
    fill_in = yield from filler_of(arguments[1], around)
    found: Lines = []
    for line in value if isinstance(value, list) else [line_of(value)]:
        yield from pause(around)
        found.append(fill_in(line, around.timeline()))
    return found if isinstance(value, list) else found[0]


def filler_of(filler: Node, around: Surroundings) -> Parts[Callable[[Values, Sequence[int]], Values]]:
    """What puts something into the gaps of a line."""
    if isinstance(filler, Name) and filler.name.upper() in FILLERS:
        return FILLERS[filler.name.upper()]
    value = yield from computed(filler, around)
    if isinstance(value, list):
        raise ExpressionError("Error in expression: FILL needs a number, REPEAT or LINEAR")

    def filled(line: Values, times: Sequence[int]) -> Values:
        if isinstance(value, float):
            return {at: line.get(at, value) for at in times}
        return {at: line[at] if at in line else value[at] for at in times if at in line or at in value}

    return filled


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


FILLERS: dict[str, Callable[[Values, Sequence[int]], Values]] = {"REPEAT": repeated, "LINEAR": interpolated}


def choose(arguments: Sequence[Node], around: Surroundings) -> Parts[Value]:
    """IF(condition, then, otherwise); without the last, a gap where the condition is false."""
    if len(arguments) not in (2, 3):
        raise ExpressionError("Error in expression: IF needs two or three arguments")
    condition, *branches = yield from all_computed(arguments, around)
    yield from pause(around)
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


FUNCTIONS: dict[str, Function] = {
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

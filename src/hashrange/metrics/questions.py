"""Several questions about metrics at once, some of them computed from others, as GetMetricData and alarms ask them.

The work of one answer is bounded: by the points that may be read, and by the points that may be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hashrange.engine.parts import Parts
from hashrange.engine.scope import Scope
from hashrange.metrics.expression import ExpressionError, Lines, Value, parse
from hashrange.metrics.expression_values import computed
from hashrange.metrics.points import DAYS_KEPT
from hashrange.metrics.reading import SECONDS_PER_DAY, SECONDS_PER_MINUTE, Ask, Values, Window, values

POINTS_COMPUTED_MAX = 1_000_000
RECORDS_BEYOND_MAX = 50_000  # what one expression may read after what a page may


@dataclass(frozen=True, slots=True)
class Question:
    """A metric to look up, or an expression to compute."""

    id: str
    ask: Ask | None
    expression: str = ""
    label: str | None = None
    returned: bool = True
    period_seconds: int | None = None  # of an expression


class Answers:
    """The lines that answer some questions, each found when it is first needed."""

    def __init__(self, scope: Scope, questions: Sequence[Question], window: Window) -> None:
        self._scope = scope
        self._questions: Mapping[str, Question] = {question.id: question for question in questions}
        self._window = window
        self._found: dict[str, Value] = {}
        self._open: list[str] = []  # expressions that are being computed
        self._computed = 0

    def lines(self, question: Question) -> Parts[Lines]:
        """The line that answers a question; an expression may have several."""
        try:
            value = yield from self.line(question.id)
        except RecursionError:  # long expressions that are computed from long expressions
            raise ExpressionError("Error in expression: nested too deeply") from None
        if isinstance(value, float):
            return [dict.fromkeys(self.timeline(), value)]
        return value if isinstance(value, list) else [value]

    # What expressions refer to

    def line(self, name: str) -> Parts[Value]:
        if name in self._found:
            return self._found[name]
        question = self._questions.get(name)
        if question is None:
            raise ExpressionError(f"Error in expression: {name} is not the id of a query")
        if name in self._open:
            raise ExpressionError(f"Error in expression: {name} depends on itself")
        if question.ask is not None:
            if self._window.records_left < -RECORDS_BEYOND_MAX:
                raise ExpressionError("Error in expression: too much to read; use longer periods or fewer metrics")
            self._found[name] = yield from values(self._scope, question.ask, self._window)
        else:
            self._open.append(name)
            self._found[name] = yield from computed(parse(question.expression), self)
            self._open.pop()
        return self._found[name]

    def period_seconds(self, name: str) -> int:
        question = self._questions.get(name)
        if question is None:
            raise ExpressionError(f"Error in expression: {name} is not the id of a query")
        return self._period_of(question)

    def _period_of(self, question: Question) -> int:
        if question.ask is not None:
            return question.ask.period_seconds
        return question.period_seconds or self._shortest_period()

    def metrics(self, filter_text: str) -> Parts[Lines]:
        """The lines of all metrics whose id has the text in it."""
        chosen = [
            question.id
            for question in self._questions.values()
            if question.ask is not None and filter_text in question.id
        ]
        found: Lines = []
        for name in chosen:
            line = yield from self.line(name)
            assert isinstance(line, dict)
            found.append(line)
        return found

    def timeline(self) -> Sequence[int]:
        """The beginnings of all periods."""
        return self._timeline

    @cached_property
    def _timeline(self) -> range:
        period = max(self._shortest_period(), SECONDS_PER_MINUTE)
        first = self._window.first_minute * SECONDS_PER_MINUTE
        oldest = int(self._window.now_seconds) - DAYS_KEPT * SECONDS_PER_DAY
        if first < oldest:
            first += (oldest - first) // period * period
        return range(first, self._window.end_minute * SECONDS_PER_MINUTE, period)

    def _shortest_period(self) -> int:
        periods = [question.ask.period_seconds for question in self._questions.values() if question.ask is not None]
        return min(periods, default=SECONDS_PER_MINUTE)

    def work(self) -> None:
        self._computed += max(1, len(self._timeline))
        if self._computed > POINTS_COMPUTED_MAX:
            raise ExpressionError("Error in expression: too much to compute; use fewer operations or longer periods")


def in_order(line: Values, *, descending: bool) -> list[tuple[int, float]]:
    return sorted(line.items(), reverse=descending)

"""GetMetricData: the lines of many metrics, and what is computed from them.

A page ends when it has its points, or when enough was read for it: one answer must not keep other requests waiting.
"""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts, handed_over
from hashrange.errors import ValidationException
from hashrange.metrics.expression import ExpressionError, Lines
from hashrange.metrics.questions import Answers, Question, in_order
from hashrange.metrics.reading import Window
from hashrange.operations.cloudwatch.next_token import position_of, token_of
from hashrange.operations.cloudwatch.queries import questions_of
from hashrange.operations.operation import LongRead, Operation, Request, in_parts

DATAPOINTS_MAX = 100_800  # "The maximum number of data points the request should return" (API reference)
RECORDS_PER_PAGE = 10_000

Line = tuple[Question, str, list[tuple[int, float]]]


def get_metric_data(db: Database, request: Request) -> LongRead:
    return in_parts(db, data_of(db, request))


def data_of(db: Database, request: Request) -> Parts[dict[str, Any]]:
    start, end = request["StartTime"], request["EndTime"]
    if start >= end:
        raise ValidationException("The parameter StartTime must be less than the parameter EndTime.")
    questions = questions_of(request["MetricDataQueries"])
    room = min(request.get("MaxDatapoints", DATAPOINTS_MAX), DATAPOINTS_MAX)
    if room < 1:
        raise ValidationException("The parameter MaxDatapoints must be greater than or equal to 1.")
    first, offset = position_of(request["NextToken"], (int, int)) if "NextToken" in request else (0, 0)
    descending = request.get("ScanBy", "TimestampDescending") == "TimestampDescending"
    window = Window(start, end, db.clock.seconds(), RECORDS_PER_PAGE)
    results: list[dict[str, Any]] = []
    yield
    yield from handed_over(db.recorder)
    answers = Answers(request.scope, questions, window)
    for number, question in enumerate(questions):
        if number < first or not question.returned:
            continue
        if room == 0 or window.records_left <= 0:
            return {"MetricDataResults": results, "NextToken": token_of(number, offset), "Messages": []}
        lines = yield from lines_of(answers, question)
        points, room, rest = page_of(lines, question, offset, room, descending=descending)
        results += points
        if rest is not None:
            return {"MetricDataResults": results, "NextToken": token_of(number, rest), "Messages": []}
        offset = 0
    return {"MetricDataResults": results, "Messages": []}


def lines_of(answers: Answers, question: Question) -> Parts[Lines]:
    try:
        return (yield from answers.lines(question))
    except ExpressionError as error:
        raise ValidationException(f"{error} (query {question.id})") from None


def page_of(
    lines: Lines, question: Question, offset: int, room: int, *, descending: bool
) -> tuple[list[dict[str, Any]], int, int | None]:
    """The results for one question from an offset on, the room that is left, and where to go on if there was too
    little. An expression may have several lines, one behind the other."""
    results = []
    position = 0
    for line in lines:
        points = in_order(line, descending=descending)
        begin = max(0, offset - position)
        position += len(points)
        if begin and begin >= len(points):
            continue
        shown = points[begin : begin + room]
        room -= len(shown)
        whole = begin + len(shown) == len(points)
        results.append(result_of(question, shown, whole=whole))
        if not whole:
            return results, room, position - len(points) + begin + len(shown)
    return results, room, None


def result_of(question: Question, points: list[tuple[int, float]], *, whole: bool) -> dict[str, Any]:
    label = question.label or (question.ask.metric if question.ask is not None else question.id)
    return {
        "Id": question.id,
        "Label": label,
        "Timestamps": [at for at, _ in points],
        "Values": [value for _, value in points],
        "StatusCode": "Complete" if whole else "PartialData",
    }


OPERATION = Operation(name="GetMetricData", run=get_metric_data, service="cloudwatch")

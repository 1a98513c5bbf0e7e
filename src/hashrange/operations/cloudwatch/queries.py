"""MetricDataQueries of GetMetricData and PutMetricAlarm: from members of a request to questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hashrange.errors import ValidationException
from hashrange.metrics.expression import ExpressionError, names_in, parse
from hashrange.metrics.questions import Question
from hashrange.metrics.reading import SHORT_PERIODS, Ask, is_period, is_statistic

QUERIES_MAX = 500  # "A single GetMetricData call can include up to 500 MetricDataQuery structures" (API reference)
ID = re.compile(r"[a-z][a-zA-Z0-9_]*")
FILLERS = ("REPEAT", "LINEAR")


def questions_of(queries: Sequence[Mapping[str, Any]], member: str = "MetricDataQueries") -> list[Question]:
    """The questions, or the error that says what is wrong with one of them."""
    if len(queries) > QUERIES_MAX:
        raise ValidationException(f"The collection {member} must not have a size greater than {QUERIES_MAX}.")
    questions = [question_of(query, f"{member}.member.{number}") for number, query in enumerate(queries, start=1)]
    ids = [question.id for question in questions]
    repeated = next((name for name in ids if ids.count(name) > 1), None) if len(set(ids)) < len(ids) else None
    if repeated is not None:
        raise ValidationException(f"The values for parameter id in {member} are not unique.")
    for question in questions:
        if question.ask is None:
            check_expression(question, ids)
    return questions


def question_of(query: Mapping[str, Any], place: str) -> Question:
    name = query["Id"]
    if ID.fullmatch(name) is None:
        raise ValidationException(
            f"The value {name} for parameter {place}.Id does not match the expected pattern ^[a-z][a-zA-Z0-9_]*$."
        )
    stat, expression = query.get("MetricStat"), query.get("Expression")
    if (stat is None) == (expression is None):
        raise ValidationException(f"The parameter {place} must have exactly one of MetricStat and Expression.")
    period = query.get("Period")
    if period is not None:
        check_period(period, f"{place}.Period")
    ask = None if stat is None else ask_of(stat, f"{place}.MetricStat")
    return Question(name, ask, expression or "", query.get("Label"), query.get("ReturnData", True), period)


def ask_of(stat: Mapping[str, Any], place: str) -> Ask:
    metric = stat["Metric"]
    if "MetricName" not in metric or "Namespace" not in metric:
        missing = "MetricName" if "MetricName" not in metric else "Namespace"
        raise ValidationException(f"The parameter {place}.Metric.{missing} is required.")
    check_period(stat["Period"], f"{place}.Period")
    if not is_statistic(stat["Stat"]):
        raise ValidationException(f"The value {stat['Stat']} for parameter {place}.Stat is not supported.")
    dimensions = dimensions_of(metric.get("Dimensions", ()))
    return Ask(metric["MetricName"], dimensions, stat["Period"], stat["Stat"], metric["Namespace"], stat.get("Unit"))


def check_period(seconds: int, place: str, short: Sequence[int] = SHORT_PERIODS) -> None:
    if not is_period(seconds, short):
        known = ", ".join(map(str, short))
        raise ValidationException(
            f"The value {seconds} for parameter {place} is not valid. It must be {known} or a multiple of 60."
        )


def check_expression(question: Question, ids: Iterable[str]) -> None:
    """What can be said about an expression before anything is computed."""
    try:
        named = names_in(parse(question.expression))
    except ExpressionError as error:
        raise ValidationException(f"{error} (query {question.id})") from None
    unknown = sorted(name for name in named - set(ids) if name.upper() not in FILLERS)
    if unknown:
        raise ValidationException(
            f"Error in expression '{question.id}': The following identifiers are not defined: {', '.join(unknown)}"
        )


def dimensions_of(given: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {dimension["Name"]: dimension["Value"] for dimension in given}


def dimension_list(dimensions: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in dimensions.items()]

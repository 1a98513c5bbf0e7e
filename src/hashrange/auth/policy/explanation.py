"""Why a statement decides a question, or does not: every part of it with what the request has to say to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hashrange.auth.policy.condition import Condition
from hashrange.auth.policy.context import Context
from hashrange.auth.policy.principal import Reach
from hashrange.auth.policy.statement import Choice, Question, Statement


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of a statement: what it asks, and whether the request has it."""

    part: str
    holds: bool
    detail: str


def findings(statement: Statement, question: Question) -> Iterator[Finding]:
    context = question.context
    yield _choice("Action", statement.actions, question.action, context)
    yield _choice("Resource", statement.resources, question.resource, context)
    if statement.principals is not None or statement.not_principals is not None:
        name = "Principal" if statement.principals is not None else "NotPrincipal"
        reach = statement.reach(question.asker)
        how = " through its account" if reach is Reach.THROUGH_ACCOUNT else ""
        yield Finding(name, reach is not Reach.NOT, f"{question.asker.arn}{how}")
    for condition in statement.conditions:
        yield _condition(condition, context)


def _choice(name: str, choice: Choice, asked: str, context: Context) -> Finding:
    written = ", ".join(template.written for template in choice.templates)
    part = f"Not{name}" if choice.is_negated else name
    return Finding(part, choice.includes(asked, context), f"{asked} in {written}")


def _condition(condition: Condition, context: Context) -> Finding:
    values = condition.seen(context)
    given = "nothing" if values is None else ", ".join(values)
    part = f"{condition.operator} {condition.key}"
    return Finding(part, condition.holds(context), f"{given}, held against {', '.join(condition.values)}")

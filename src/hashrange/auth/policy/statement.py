"""A statement: allows or denies some actions on some resources, to some principals, under conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hashrange.auth.policy.condition import Condition
from hashrange.auth.policy.context import Context
from hashrange.auth.policy.principal import Asker, Principals, Reach
from hashrange.auth.policy.template import Template

ALLOW = "Allow"
DENY = "Deny"


@dataclass(frozen=True, slots=True)
class Question:
    """May this be done? Asked of policies about one action on one resource."""

    action: str  # such as dynamodb:GetItem
    resource: str  # an ARN, or * for what belongs to no resource
    asker: Asker
    context: Context


@dataclass(frozen=True, slots=True)
class Choice:
    """What an element such as Action names; `is_negated` for NotAction: everything but that."""

    templates: tuple[Template, ...]
    is_negated: bool = False

    def includes(self, text: str, context: Context) -> bool:
        for template in self.templates:
            if template.matches(text, context):
                return not self.is_negated
        return self.is_negated

    def may_include(self, text: str) -> bool:
        """Whether it includes a text, whatever else a request has; with variables that cannot be told."""
        return any(template.has_variables for template in self.templates) or self.includes(text, NOTHING_KNOWN)


NOTHING_KNOWN = Context(lambda key: None)


@dataclass(frozen=True, slots=True)
class Statement:
    """`number` is its place in the document, from 1. Identity policies name no principals: they are about him."""

    number: int
    sid: str | None
    effect: str
    actions: Choice
    resources: Choice
    principals: Principals | None
    not_principals: Principals | None
    conditions: Sequence[Condition]

    @property
    def name(self) -> str:
        return self.sid or f"statement {self.number}"

    def may_be_about(self, action: str, resource: str) -> bool:
        return self.actions.may_include(action) and self.resources.may_include(resource)

    def reach(self, asker: Asker) -> Reach:
        """Whether the statement is about somebody, and how."""
        if self.principals is not None:
            return self.principals.reach(asker)
        if self.not_principals is not None:
            # Users are excepted by their own names; their account, which goes beside them, excepts its root only.
            return Reach.NOT if self.not_principals.reach(asker) is Reach.DIRECTLY else Reach.DIRECTLY
        return Reach.DIRECTLY

    def applies(self, question: Question) -> bool:
        """Whether the statement decides a question: it is about all of it, and its conditions hold."""
        context = question.context
        if not self.actions.includes(question.action, context):
            return False
        if not self.resources.includes(question.resource, context):
            return False
        if self.reach(question.asker) is Reach.NOT:
            return False
        return all(condition.holds(context) for condition in self.conditions)

"""How policies decide together.

A statement that denies wins over everything. Otherwise something has to allow: within an account either a policy of the
asker or one of the resource, between accounts both. What nobody allows is denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hashrange.auth.policy.document import Policy
from hashrange.auth.policy.principal import Reach
from hashrange.auth.policy.statement import ALLOW, DENY, Question, Statement

IDENTITY = "identity-based"
RESOURCE = "resource-based"


@dataclass(frozen=True, slots=True)
class Decision:
    """What came out, by which kind of policy, and the statement that decided; none if nothing allows it."""

    is_allowed: bool
    kind: str
    statement: Statement | None = None


def decide(
    question: Question,
    identity_policies: Sequence[Policy],
    resource_policy: Policy | None,
    *,
    is_same_account: bool,
) -> Decision:
    own = _first(identity_policies, question)
    if own is not None and own.effect == DENY:
        return Decision(False, IDENTITY, own)
    theirs = None if resource_policy is None else _first((resource_policy,), question)
    if theirs is not None and theirs.effect == DENY:
        return Decision(False, RESOURCE, theirs)
    if own is not None and (is_same_account or theirs is not None):
        return Decision(True, IDENTITY, own)
    if is_same_account and resource_policy is not None:
        direct = _first((resource_policy,), question, at_least=Reach.DIRECTLY)
        if direct is not None:
            return Decision(True, RESOURCE, direct)
    return Decision(False, RESOURCE if own is not None else IDENTITY)


def _first(policies: Iterable[Policy], question: Question, at_least: Reach = Reach.THROUGH_ACCOUNT) -> Statement | None:
    """The statement that decides: the first that denies, or else the first that allows."""
    allowing: Statement | None = None
    for policy in policies:
        for statement in policy.about(question.action, question.resource):
            if statement.effect == ALLOW and (allowing is not None or statement.reach(question.asker) < at_least):
                continue
            if statement.applies(question):
                if statement.effect == DENY:
                    return statement
                allowing = statement
    return allowing


def refusal(question: Question, decision: Decision) -> str:
    """What is said to somebody who may not."""
    who = f"User: {question.asker.arn} is not authorized to perform: {question.action} on resource: {question.resource}"
    if decision.statement is not None:
        article = "an" if decision.kind == IDENTITY else "a"
        return f"{who} with an explicit deny in {article} {decision.kind} policy"
    return f"{who} because no {decision.kind} policy allows the {question.action} action"

"""Policies decide as tests/cases/policy says, and broken documents are refused in its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.auth.policy.context import Context
from hashrange.auth.policy.decision import decide, refusal
from hashrange.auth.policy.document import MalformedPolicy, Policy, identity_policy, resource_policy
from hashrange.auth.policy.principal import Asker
from hashrange.auth.policy.statement import Question

CASES = Path(__file__).parents[2] / "cases" / "policy"
ADA = Asker("arn:aws:iam::111111111111:user/ada", "111111111111")
ORDERS = "arn:aws:dynamodb:us-east-1:111111111111:table/orders"


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in json.loads((CASES / name).read_text(encoding="utf-8"))]


def document(statements: Any, version: str = "2012-10-17") -> str:
    return json.dumps({"Version": version, "Statement": statements})


def context_of(case: dict[str, Any]) -> Context:
    return Context(lambda key: tuple(case.get("context", {}).get(key, ())))


def question_of(case: dict[str, Any]) -> Question:
    return Question(case.get("action", "dynamodb:GetItem"), case.get("resource", ORDERS), ADA, context_of(case))


@pytest.mark.parametrize("case", cases("conditions.json"))
def test_a_condition_holds_as_it_should(case: dict[str, Any]) -> None:
    effect = case.get("effect", "Allow")
    statement = {"Effect": effect, "Action": "*", "Resource": "*", "Condition": case["condition"]}
    policy = identity_policy(document(statement, case.get("version", "2012-10-17")))
    assert policy.statements[0].applies(question_of(case)) is case["holds"]


@pytest.mark.parametrize("case", cases("decisions.json"))
def test_policies_decide_as_they_should(case: dict[str, Any]) -> None:
    own = [identity_policy(document(statements)) for statements in case["policies"]]
    theirs: Policy | None = None
    if "resource_policy" in case:
        theirs = resource_policy(document(case["resource_policy"]))
    question = question_of(case)
    decision = decide(question, own, theirs, is_same_account=case.get("same_account", True))
    assert decision.is_allowed is case["allowed"]
    assert (decision.statement.sid if decision.statement is not None else None) == case.get("sid")
    if "because" in case:
        who = f"User: {ADA.arn} is not authorized to perform: {question.action} on resource: {question.resource}"
        link = "because" if decision.statement is None else "with"
        assert refusal(question, decision) == f"{who} {link} {case['because']}"


@pytest.mark.parametrize("case", cases("documents.json"))
def test_a_broken_document_is_refused(case: dict[str, Any]) -> None:
    text = case["text"] if "text" in case else json.dumps(case.get("document"))
    if "statement" in case:
        text = document(case["statement"])
    parse = resource_policy if case.get("resource_policy") else identity_policy
    with pytest.raises(MalformedPolicy) as caught:
        parse(text)
    assert str(caught.value) == case["error"]


def test_two_statements_do_not_share_a_name() -> None:
    statement = {"Sid": "A", "Effect": "Allow", "Action": "*", "Resource": "*"}
    with pytest.raises(MalformedPolicy, match="must be unique"):
        identity_policy(document([statement, statement]))


def test_a_document_is_parsed_once() -> None:
    text = document([{"Effect": "Allow", "Action": "*", "Resource": "*"}])
    assert identity_policy(text) is identity_policy(text[:5] + text[5:])


def test_values_that_no_condition_asks_for_are_not_looked_up() -> None:
    asked: list[str] = []
    question = Question("dynamodb:GetItem", ORDERS, ADA, Context(lambda key: asked.append(key)))  # type: ignore[func-returns-value]
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"Null": {"aws:username": "true"}}}
    policy = identity_policy(document([statement, statement]))
    assert policy.statements[0].applies(question)
    assert policy.statements[1].applies(question)
    assert asked == ["aws:username"]

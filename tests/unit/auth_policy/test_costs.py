"""Neither a policy nor a request can make the other one expensive."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from hashrange.auth.policy import operators
from hashrange.auth.policy.context import Context
from hashrange.auth.policy.document import identity_policy
from hashrange.auth.policy.principal import Asker
from hashrange.auth.policy.statement import Question

ADA = Asker("arn:aws:iam::111111111111:user/ada", "111111111111")
MANY = tuple(f"name-{number}" for number in range(20_000))


def applies(effect: str, operator: str, written: list[str], values: tuple[str, ...]) -> bool:
    condition: dict[str, Any] = {operator: {"dynamodb:Attributes": written}}
    statement = {"Effect": effect, "Action": "*", "Resource": "*", "Condition": condition}
    policy = identity_policy(json.dumps({"Version": "2012-10-17", "Statement": statement}))
    context = Context(lambda key: values if key == "dynamodb:attributes" else ("ada",))
    return policy.statements[0].applies(Question("dynamodb:PutItem", "*", ADA, context))


@pytest.mark.parametrize(
    ("operator", "written"),
    [
        ("StringLike", [f"x{number}*" for number in range(1500)]),
        ("StringLike", [f"*${{aws:username}}?{number}*" for number in range(800)]),
        ("StringEqualsIgnoreCase", [f"x{number}" for number in range(1500)]),
        ("NumericEquals", [str(number) for number in range(1500)]),
    ],
)
def test_what_takes_too_long_to_check_is_not_allowed(operator: str, written: list[str]) -> None:
    started = time.thread_time()
    assert not applies("Allow", f"ForAllValues:{operator}", written, MANY)
    assert applies("Deny", f"ForAnyValue:{operator}", written, MANY)
    assert time.thread_time() - started < 1.0


def test_a_text_too_long_to_be_a_key_is_not_searched() -> None:
    started = time.thread_time()
    assert not applies("Allow", "StringLike", ["*a?b*"], ("x" * 15_000_000,))
    assert time.thread_time() - started < 0.5


def test_many_names_are_looked_up_among_many() -> None:
    assert applies("Allow", "ForAllValues:StringEquals", list(MANY[:5000]), MANY[:5000])
    assert not applies("Deny", "ForAnyValue:StringEquals", [f"x{number}" for number in range(2000)], MANY)


def test_many_names_are_compared_with_a_few_patterns() -> None:
    assert applies("Allow", "ForAllValues:StringLike", ["name-*", "other-*"], MANY)


@pytest.mark.parametrize("read", [operators.number_of, operators.moment_of, operators.network_of])
def test_a_text_that_is_too_long_for_what_it_should_be_is_not_read(read: Any) -> None:
    assert read("1" * 1000) is None


def test_a_document_knows_which_of_its_statements_a_question_is_for() -> None:
    table = "arn:aws:dynamodb:us-east-1:111111111111:table/"
    statements = [
        {"Sid": "mine", "Effect": "Allow", "Action": "dynamodb:Get*", "Resource": table + "${aws:username}"},
        {"Sid": "all", "Effect": "Allow", "Action": "dynamodb:*", "Resource": table + "orders*"},
        {"Sid": "rest", "Effect": "Deny", "NotAction": "dynamodb:GetItem", "Resource": "*"},
        {"Sid": "other", "Effect": "Deny", "Action": "*", "NotResource": table + "orders?"},
    ]
    policy = identity_policy(json.dumps({"Version": "2012-10-17", "Statement": statements}))

    def about(action: str, resource: str) -> list[str | None]:
        return [statement.sid for statement in policy.about(action, resource)]

    for _ in range(2):  # the second time it is remembered
        assert about("dynamodb:GetItem", table + "orders1") == ["mine", "all"]
        assert about("dynamodb:PutItem", table + "orders1") == ["all", "rest"]
        assert about("dynamodb:GetItem", table + "users") == ["mine", "other"]


def test_the_questions_that_a_document_remembers_are_counted() -> None:
    policy = identity_policy('{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}')
    for number in range(1000):
        policy.about("dynamodb:GetItem", f"arn:{number}")
        policy.about("dynamodb:GetItem", f"arn:{number}" + "x" * 1000)
    assert len(policy._about) <= 64
    assert all(len(resource) < 100 for _, resource in policy._about)

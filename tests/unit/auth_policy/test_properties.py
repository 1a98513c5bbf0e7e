"""What holds for all policies together, whatever they say."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hashrange.auth.policy.context import Context
from hashrange.auth.policy.decision import Decision, decide
from hashrange.auth.policy.document import Policy, identity_policy, resource_policy
from hashrange.auth.policy.principal import Asker
from hashrange.auth.policy.statement import Question

ACCOUNT = "111111111111"
ADA = Asker(f"arn:aws:iam::{ACCOUNT}:user/ada", ACCOUNT)
TABLE = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/"
CONDITIONS = [
    None,
    {"StringEquals": {"aws:username": "ada"}},
    {"StringNotLike": {"aws:username": "a*"}},
    {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}},
    {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["a"]}},
    {"Null": {"dynamodb:Select": "true"}},
]
PRINCIPALS: list[Any] = ["*", {"AWS": ACCOUNT}, {"AWS": ADA.arn}, {"AWS": f"arn:aws:iam::{ACCOUNT}:user/bob"}]


def statements(effects: list[str], *, with_principals: bool) -> st.SearchStrategy[dict[str, Any]]:
    members: dict[str, st.SearchStrategy[Any]] = {
        "Effect": st.sampled_from(effects),
        "Action": st.sampled_from(["*", "dynamodb:*", "dynamodb:Get*", "dynamodb:PutItem"]),
        "Resource": st.sampled_from(["*", f"{TABLE}a", f"{TABLE}*", f"{TABLE}${{aws:username}}"]),
        "Condition": st.sampled_from(CONDITIONS),
    }
    if with_principals:
        members["Principal"] = st.sampled_from(PRINCIPALS)
    return st.fixed_dictionaries(members)


def identity(given: list[dict[str, Any]]) -> Policy:
    return identity_policy(json.dumps({"Version": "2012-10-17", "Statement": given}))


def resource(given: list[dict[str, Any]]) -> Policy | None:
    return resource_policy(json.dumps({"Version": "2012-10-17", "Statement": given})) if given else None


own_statements = st.lists(statements(["Allow", "Deny"], with_principals=False), min_size=1, max_size=4)
their_statements = st.lists(statements(["Allow", "Deny"], with_principals=True), max_size=3)
questions = st.builds(
    lambda action, table, keys, attributes: Question(
        f"dynamodb:{action}",
        TABLE + table,
        ADA,
        Context({"aws:username": ("ada",), "dynamodb:leadingkeys": keys, "dynamodb:attributes": attributes}.get),
    ),
    st.sampled_from(["GetItem", "PutItem", "Query"]),
    st.sampled_from(["a", "b", "ada"]),
    st.sampled_from([(), ("ada",), ("ada", "bob")]),
    st.sampled_from([(), ("a",), ("a", "b")]),
)


def decided(question: Question, own: Any, theirs: Any, *, same: bool) -> Decision:
    return decide(question, [identity(own)], resource(theirs), is_same_account=same)


@given(questions, own_statements, their_statements, st.booleans())
def test_a_statement_that_denies_always_wins(question: Question, own: Any, theirs: Any, same: bool) -> None:
    denying = [
        statement
        for policy in (identity(own), resource(theirs))
        if policy is not None
        for statement in policy.statements
        if statement.effect == "Deny" and statement.applies(question)
    ]
    decision = decided(question, own, theirs, same=same)
    if denying:
        assert not decision.is_allowed
        assert decision.statement in denying


@given(questions, own_statements, their_statements, st.booleans(), statements(["Allow"], with_principals=False))
def test_one_more_permission_never_takes_one_away(
    question: Question, own: Any, theirs: Any, same: bool, more: dict[str, Any]
) -> None:
    if decided(question, own, theirs, same=same).is_allowed:
        assert decided(question, [*own, more], theirs, same=same).is_allowed
        assert decided(question, own, [*theirs, {**more, "Principal": "*"}], same=same).is_allowed


@given(questions, own_statements, their_statements, st.booleans(), statements(["Deny"], with_principals=False))
def test_one_more_denial_never_gives_a_permission(
    question: Question, own: Any, theirs: Any, same: bool, more: dict[str, Any]
) -> None:
    if not decided(question, own, theirs, same=same).is_allowed:
        assert not decided(question, [*own, more], theirs, same=same).is_allowed


@given(questions, own_statements, their_statements)
def test_what_another_account_may_do_its_own_account_might_too(question: Question, own: Any, theirs: Any) -> None:
    if decided(question, own, theirs, same=False).is_allowed:
        assert decided(question, own, theirs, same=True).is_allowed

"""Resource policies: put, shown, replaced by revision, enforced, and gone with what they guard."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import Engine, expect
from hashrange.engine import keyspace
from hashrange.values.ordered import after
from unit.policies.guarded import ACCOUNT, Guarded, allow, arn_of, deny, policy_of, table_arn
from unit.policies.test_authorise import KEY, is_allowed

TABLE = table_arn()
INVALID = "One or more parameter values were invalid: "
ELSEWHERE = TABLE.replace("us-east-1", "us-west-2")
IN_CHINA = TABLE.replace("arn:aws:", "arn:aws-cn:")
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def for_ada(*actions: str, **members: Any) -> str:
    return policy_of(allow(*actions, Principal={"AWS": arn_of("ada")}, **members))


def put(engine: Engine, policy: str, **members: Any) -> str:
    revision: str = engine.call("PutResourcePolicy", ResourceArn=TABLE, Policy=policy, **members)["RevisionId"]
    return revision


def not_found(reason: str = TABLE) -> tuple[str, str]:
    return "PolicyNotFoundException", f"Resource-based policy not found for the provided ResourceArn: {reason}"


def none_for(revision: str) -> tuple[str, str]:
    return not_found(
        f"Requested update for policy with revision id {revision}, but table table has no associated policy."
    )


def another_for(revision: str) -> tuple[str, str]:
    return not_found(
        f"Requested update for policy with revision id {revision}, but the policy associated to target table table "
        "has another revision id."
    )


def stored_policies(engine: Engine) -> int:
    with engine.store.read() as snapshot:
        return sum(1 for _ in snapshot.scan(keyspace.POLICY, after(keyspace.POLICY)))


def test_a_policy_is_shown_without_its_white_space(engine: Guarded) -> None:
    policy = for_ada("GetItem")
    revision = put(engine, json.dumps(json.loads(policy), indent=4))
    shown = engine.call("GetResourcePolicy", ResourceArn=TABLE)
    assert shown == {"Policy": json.dumps(json.loads(policy), separators=(",", ":")), "RevisionId": revision}
    assert revision == str(engine.clock.micros() // 1000)


def test_a_table_without_a_policy_says_so(engine: Guarded) -> None:
    expect(*not_found(), lambda: engine.call("GetResourcePolicy", ResourceArn=TABLE))


def test_the_same_policy_again_changes_nothing(engine: Guarded) -> None:
    revision = put(engine, for_ada("GetItem"))
    engine.clock.advance(60)
    assert put(engine, " " + for_ada("GetItem")) == revision
    assert put(engine, for_ada("PutItem")) != revision


def test_two_revisions_differ_even_within_a_millisecond(engine: Guarded) -> None:
    assert put(engine, for_ada("GetItem")) != put(engine, for_ada("PutItem"))


def test_a_change_may_be_meant_for_one_revision(engine: Guarded) -> None:
    expect(*none_for("1"), lambda: put(engine, for_ada("GetItem"), ExpectedRevisionId="1"))
    revision = put(engine, for_ada("GetItem"), ExpectedRevisionId="NO_POLICY")
    expect(*not_found(), lambda: put(engine, for_ada("PutItem"), ExpectedRevisionId="NO_POLICY"))
    expect(*another_for("1"), lambda: put(engine, for_ada("PutItem"), ExpectedRevisionId="1"))
    second = put(engine, for_ada("PutItem"), ExpectedRevisionId=revision)
    delete = {"ResourceArn": TABLE, "ExpectedRevisionId": revision}
    expect(*another_for(revision), lambda: engine.call("DeleteResourcePolicy", **delete))
    assert engine.call("DeleteResourcePolicy", ResourceArn=TABLE, ExpectedRevisionId=second) == {"RevisionId": second}


def test_taking_off_a_policy_that_is_not_there_is_no_error(engine: Guarded) -> None:
    assert engine.call("DeleteResourcePolicy", ResourceArn=TABLE) == {}
    expect(*none_for("1"), lambda: engine.call("DeleteResourcePolicy", ResourceArn=TABLE, ExpectedRevisionId="1"))


REFUSED: list[tuple[str, str]] = [
    ("{", "Invalid policy document: This policy contains invalid Json"),
    (policy_of(), "Invalid policy document: Could not parse the policy: Statement is empty!"),
    (policy_of(allow("GetItem")), "Invalid policy document: Missing required field Principal"),
    (
        policy_of(allow("GetItem", NotPrincipal={"AWS": arn_of("ada")})),
        "Invalid policy document: NotPrincipal goes with Deny only",
    ),
    (policy_of(allow("GetItem", Principal={"AWS": "ada"})), "Invalid principal in policy document."),
    (
        policy_of(allow("ListStreams", "GetItem", "GetRecords", Principal="*")),
        "Invalid policy document: The following action names are invalid: "
        '"dynamodb:ListStreams", "dynamodb:GetRecords"',
    ),
    (policy_of(allow("GetItem", Principal="*")) + " " * 20_480, "Maximum policy size of 20480 bytes exceeded"),
]


@pytest.mark.parametrize(("policy", "message"), REFUSED)
def test_a_policy_that_breaks_a_rule_is_refused(engine: Guarded, policy: str, message: str) -> None:
    expect("ValidationException", INVALID + message, lambda: put(engine, policy))
    expect("ValidationException", INVALID + message, lambda: engine.create_table("new", ResourcePolicy=policy))


@pytest.mark.parametrize("principal", ["*", {"AWS": "*"}, {"AWS": [arn_of("ada"), "*"]}])
def test_nothing_is_granted_to_everybody(engine: Guarded, principal: Any) -> None:
    unbounded = (
        "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure "
        "least-privilege form of access"
    )
    expect("ValidationException", unbounded, lambda: put(engine, policy_of(allow("GetItem", Principal=principal))))
    put(engine, policy_of(deny("PutItem", Principal=principal)))
    at_home = {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}
    put(engine, policy_of(allow("GetItem", Principal=principal, Condition=at_home)))


def test_only_its_owner_changes_the_policy_of_a_table() -> None:
    engine = Engine()  # where everybody may do everything
    engine.create_table()
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
    expect(
        "ValidationException",
        "This action is only supported by accounts that match the resource owner\u2019s account.",
        lambda: engine.call("GetResourcePolicy", key="222222222222", ResourceArn=arn),
    )


def test_a_deny_for_all_but_one_reaches_the_others_of_his_account(engine: Guarded) -> None:
    engine.user("ada", allow("GetItem"))
    engine.user("bob", allow("GetItem"))
    excepted = {"AWS": [arn_of("ada"), f"arn:aws:iam::{ACCOUNT}:root"]}  # as the IAM user guide has it
    put(engine, policy_of(deny("GetItem", NotPrincipal=excepted)))
    assert is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    expect(
        "AccessDeniedException",
        f"User: {arn_of('bob')} is not authorized to perform: dynamodb:GetItem on resource: {TABLE} "
        "with an explicit deny in a resource-based policy",
        lambda: engine.call("GetItem", key="bob", TableName="table", Key=KEY),
    )


def test_a_policy_may_have_exactly_the_largest_size(engine: Guarded) -> None:
    policy = for_ada("GetItem")
    assert put(engine, policy + " " * (20_480 - len(policy)))


@pytest.mark.parametrize(
    ("arn", "code", "message"),
    [
        (table_arn("none"), "ResourceNotFoundException", "Requested resource not found: Table: none not found"),
        (
            f"{TABLE}/stream/2026-01-01T00:00:00.000",
            "ResourceNotFoundException",
            "Requested resource not found: Stream: 2026-01-01T00:00:00.000 not found for Table: table",
        ),
        ("table", "ValidationException", f"{INVALID}ARNs must start with 'arn:': table"),
        (ELSEWHERE, "ValidationException", f"{INVALID}Invalid resource Arn: {ELSEWHERE}"),
        (IN_CHINA, "ValidationException", f"{INVALID}Invalid resource Arn: {IN_CHINA}"),
        (
            f"{TABLE}/index/by-day",
            "ValidationException",
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {TABLE}/index/by-day",
        ),
    ],
)
def test_only_tables_and_streams_that_exist_have_policies(engine: Guarded, arn: str, code: str, message: str) -> None:
    expect(code, message, lambda: engine.call("GetResourcePolicy", ResourceArn=arn))


def test_a_table_may_be_created_with_its_policy(engine: Guarded) -> None:
    engine.create_table("guarded", ResourcePolicy=for_ada("GetItem"))
    shown = engine.call("GetResourcePolicy", ResourceArn=table_arn("guarded"))
    assert json.loads(shown["Policy"]) == json.loads(for_ada("GetItem"))
    engine.user("ada")
    assert is_allowed(engine, "GetItem", TableName="guarded", Key=KEY)
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)


def test_a_policy_allows_and_denies(engine: Guarded) -> None:
    engine.user("ada", allow("PutItem"))
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    put(engine, for_ada("GetItem", resource=TABLE))
    assert is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    put(engine, policy_of(deny("PutItem", Principal="*")))
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    expect(
        "AccessDeniedException",
        f"User: {arn_of('ada')} is not authorized to perform: dynamodb:PutItem on resource: {TABLE} "
        "with an explicit deny in a resource-based policy",
        lambda: engine.call("PutItem", key="ada", TableName="table", Item=KEY),
    )
    engine.call("DeleteResourcePolicy", ResourceArn=TABLE)
    assert is_allowed(engine, "PutItem", TableName="table", Item=KEY)


def test_the_policy_of_a_table_guards_its_indexes(engine: Guarded) -> None:
    engine.user("ada")
    put(engine, for_ada("Scan", resource=f"{TABLE}/index/*"))
    assert is_allowed(engine, "Scan", TableName="table", IndexName="by-day")
    assert not is_allowed(engine, "Scan", TableName="table")


def test_root_is_above_the_policies_of_its_tables(engine: Guarded) -> None:
    put(engine, policy_of(deny("*", Principal="*")))
    assert engine.call("GetItem", TableName="table", Key=KEY) == {}
    assert "RevisionId" in engine.call("DeleteResourcePolicy", ResourceArn=TABLE)


def test_nobody_locks_himself_out_by_mistake(engine: Guarded) -> None:
    engine.user("ada", allow("*"))
    policy = policy_of(deny("PutResourcePolicy", Principal={"AWS": arn_of("ada")}))
    members = {"ResourceArn": TABLE, "Policy": policy}
    message = f"{INVALID}The new resource policy will not allow you to update the resource policy in the future."
    expect("ValidationException", message, lambda: engine.call("PutResourcePolicy", key="ada", **members))
    engine.call("PutResourcePolicy", key="ada", ConfirmRemoveSelfResourceAccess=True, **members)
    assert not is_allowed(engine, "PutResourcePolicy", ResourceArn=TABLE, Policy=for_ada("GetItem"))


def test_a_stream_has_a_policy_of_its_own(engine: Guarded) -> None:
    description = engine.create_table("logged", StreamSpecification=STREAM)
    stream = description["LatestStreamArn"]
    engine.user("ada")
    assert not is_allowed(engine, "DescribeStream", StreamArn=stream)
    policy = for_ada("DescribeStream", "GetRecords", "GetShardIterator")
    engine.call("PutResourcePolicy", ResourceArn=stream, Policy=policy)
    assert is_allowed(engine, "DescribeStream", StreamArn=stream)
    assert not is_allowed(engine, "DescribeTable", TableName="logged")
    message = 'Invalid policy document: The following action names are invalid: "dynamodb:GetItem"'
    expect(
        "ValidationException",
        INVALID + message,
        lambda: engine.call("PutResourcePolicy", ResourceArn=stream, Policy=for_ada("GetItem")),
    )


def test_a_policy_goes_with_what_it_guards(engine: Guarded) -> None:
    stream = engine.create_table("logged", StreamSpecification=STREAM, ResourcePolicy=for_ada("GetItem"))[
        "LatestStreamArn"
    ]
    engine.call("PutResourcePolicy", ResourceArn=stream, Policy=for_ada("DescribeStream"))
    assert stored_policies(engine) == 2
    engine.call("DeleteTable", TableName="logged")
    engine.run_jobs()
    engine.user("ada")
    assert is_allowed(engine, "DescribeStream", StreamArn=stream)  # which outlives its table by a day
    assert stored_policies(engine) == 1
    engine.clock.advance(25 * 3600)
    engine.run_jobs()
    assert stored_policies(engine) == 0
    engine.create_table("logged")
    assert not is_allowed(engine, "GetItem", TableName="logged", Key=KEY)


def test_where_nobody_is_asked_who_he_is_a_policy_is_only_kept() -> None:
    engine = Engine()
    arn = engine.create_table(ResourcePolicy=policy_of(deny("*", Principal="*")))["TableArn"]
    assert engine.call("GetItem", TableName="table", Key=KEY) == {}
    assert "deny" in engine.call("GetResourcePolicy", ResourceArn=arn)["Policy"].lower()

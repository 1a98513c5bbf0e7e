"""Update-, Describe- and ListContributorInsights, and the rules they make."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Engine, expect
from hashrange.engine.database import DatabaseSettings

NOT_ACTIVE = (
    "Table or Index is not in a valid state to update Key Access Insights: "
    "TableStatus must be ACTIVE to enable ContributorInsights."
)


@pytest.fixture
def engine() -> Engine:
    return Engine()


def create(engine: Engine, name: str = "table") -> None:
    """A table with an index by `state`, which has no sort key."""
    engine.create_table(
        name,
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "state")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def update(engine: Engine, action: str, table: str = "table", **members: Any) -> Any:
    return engine.call("UpdateContributorInsights", TableName=table, ContributorInsightsAction=action, **members)


def describe(engine: Engine, table: str = "table", **members: Any) -> Any:
    return engine.call("DescribeContributorInsights", TableName=table, **members)


def test_a_table_is_not_watched_until_somebody_asks(engine: Engine) -> None:
    create(engine)
    assert describe(engine) == {"TableName": "table", "ContributorInsightsStatus": "DISABLED"}


def test_enabling_makes_a_rule_for_each_kind_of_key(engine: Engine) -> None:
    create(engine)
    assert update(engine, "ENABLE") == {
        "TableName": "table",
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS",
    }
    assert describe(engine) == {
        "TableName": "table",
        "ContributorInsightsStatus": "ENABLED",
        "ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS",
        "ContributorInsightsRuleList": [
            f"DynamoDBContributorInsights-{code}-table-1800000000000" for code in ("PKC", "SKC", "PKT", "SKT")
        ],
        "LastUpdateDateTime": 1_800_000_000.0,
    }


def test_an_index_without_a_sort_key_has_no_rule_for_one(engine: Engine) -> None:
    create(engine)
    update(engine, "ENABLE", IndexName="by-state")
    described = describe(engine, IndexName="by-state")
    assert described["IndexName"] == "by-state"
    assert described["ContributorInsightsRuleList"] == [
        f"DynamoDBContributorInsights-{code}-table-by-state-1800000000000" for code in ("PKC", "PKT")
    ]
    assert describe(engine)["ContributorInsightsStatus"] == "DISABLED"


def test_only_throttles_may_be_watched(engine: Engine) -> None:
    create(engine)
    update(engine, "ENABLE", ContributorInsightsMode="THROTTLED_KEYS")
    described = describe(engine)
    assert described["ContributorInsightsMode"] == "THROTTLED_KEYS"
    assert [name.split("-")[1] for name in described["ContributorInsightsRuleList"]] == ["PKT", "SKT"]


def test_a_change_takes_as_long_as_tables_take() -> None:
    engine = Engine(settings=DatabaseSettings(table_delay_micros=2_000_000))
    create(engine)
    expect("ValidationException", NOT_ACTIVE, lambda: update(engine, "ENABLE"))
    engine.clock.advance(2)
    statuses = []
    for action in ("ENABLE", "DISABLE"):
        update(engine, action)
        statuses.append(describe(engine)["ContributorInsightsStatus"])
        engine.clock.advance(2)
        statuses.append(describe(engine)["ContributorInsightsStatus"])
    assert statuses == ["ENABLING", "ENABLED", "DISABLING", "DISABLED"]


def test_asking_for_what_is_already_so_changes_nothing(engine: Engine) -> None:
    create(engine)
    update(engine, "ENABLE")
    before = describe(engine)
    engine.clock.advance(60)
    assert update(engine, "ENABLE")["ContributorInsightsStatus"] == "ENABLED"
    assert describe(engine) == before


def test_insights_survive_other_changes_of_the_table(engine: Engine) -> None:
    create(engine)
    update(engine, "ENABLE", IndexName="by-state")
    engine.call("UpdateTable", TableName="table", DeletionProtectionEnabled=True)
    assert describe(engine, IndexName="by-state")["ContributorInsightsStatus"] == "ENABLED"


def test_rule_names_fit_into_what_cloudwatch_allows(engine: Engine) -> None:
    create(engine, "t" * 255)
    update(engine, "ENABLE", "t" * 255)
    assert {len(name) for name in describe(engine, "t" * 255)["ContributorInsightsRuleList"]} == {128}


def test_what_is_not_there_cannot_be_watched(engine: Engine) -> None:
    create(engine)
    missing = "Requested resource not found: Table: other not found"
    expect("ResourceNotFoundException", missing, lambda: update(engine, "ENABLE", "other"))
    expect("ResourceNotFoundException", missing, lambda: describe(engine, "other"))
    index = "Requested resource not found: Index: nope not found for table: table"
    expect("ResourceNotFoundException", index, lambda: update(engine, "ENABLE", IndexName="nope"))


def test_lists_come_in_pages(engine: Engine) -> None:
    for name in ("a-table", "b-table", "c-table"):
        create(engine, name)
    update(engine, "ENABLE", "a-table")
    update(engine, "ENABLE", "b-table", IndexName="by-state")
    update(engine, "ENABLE", "b-table")
    update(engine, "DISABLE", "b-table")
    found, token = [], {}
    while True:
        page = engine.call("ListContributorInsights", MaxResults=1, **token)
        found += page["ContributorInsightsSummaries"]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    mode = {"ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS"}
    assert found == [
        {"TableName": "a-table", "ContributorInsightsStatus": "ENABLED", **mode},
        {"TableName": "b-table", "ContributorInsightsStatus": "DISABLED"},
        {"TableName": "b-table", "IndexName": "by-state", "ContributorInsightsStatus": "ENABLED", **mode},
    ]
    of_one = engine.call("ListContributorInsights", TableName="b-table")["ContributorInsightsSummaries"]
    assert of_one == found[1:]
    bad = {"NextToken": "é"}
    expect("ValidationException", "Invalid NextToken", lambda: engine.call("ListContributorInsights", **bad))

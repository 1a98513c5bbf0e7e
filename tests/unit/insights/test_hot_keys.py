"""Which keys were used most: counted from real requests, and told by CloudWatch's GetInsightRuleReport."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError, Engine, expect
from hashrange.engine import keyspace
from hashrange.insights.window import MINUTES_KEPT
from hashrange.values.ordered import after

CLOUDWATCH = "GraniteServiceVersion20100801"
START = 1_800_000_000.0
VALUES = {":one": {"N": "1"}}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "state")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    enable(engine)
    return engine


def enable(engine: Engine, action: str = "ENABLE", **members: Any) -> None:
    engine.call("UpdateContributorInsights", TableName="table", ContributorInsightsAction=action, **members)


def key(pk: str, sk: str = "1") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def put(engine: Engine, pk: str, sk: str = "1", **attributes: Any) -> None:
    engine.call("PutItem", TableName="table", Item={**key(pk, sk), **attributes})


def get(engine: Engine, pk: str, sk: str = "1") -> None:
    engine.call("GetItem", TableName="table", Key=key(pk, sk), ConsistentRead=True)


def rule_name(engine: Engine, code: str, **members: Any) -> str:
    described = engine.call("DescribeContributorInsights", TableName="table", **members)
    names: list[str] = described["ContributorInsightsRuleList"]
    return next(name for name in names if f"-{code}-" in name)


def report(engine: Engine, code: str = "SKC", index: str | None = None, **members: Any) -> Any:
    engine.db.recorder.flush()
    wanted = {
        "RuleName": rule_name(engine, code, **({} if index is None else {"IndexName": index})),
        "StartTime": START - 3600,
        "EndTime": engine.clock.seconds() + 60,
        "Period": 60,
        **members,
    }
    return engine.call(f"{CLOUDWATCH}.GetInsightRuleReport", **wanted)


def weights(found: Any) -> dict[tuple[str, ...], float]:
    return {tuple(each["Keys"]): each["ApproximateAggregateValue"] for each in found["Contributors"]}


def stored_windows(engine: Engine) -> int:
    with engine.store.read() as snapshot:
        return sum(1 for _ in snapshot.scan(keyspace.HOT_KEYS, after(keyspace.HOT_KEYS)))


def test_a_write_unit_weighs_as_much_as_three_read_units(engine: Engine) -> None:
    put(engine, "ada")
    get(engine, "bob")
    found = report(engine)
    assert weights(found) == {("ada", "1"): 3.0, ("bob", "1"): 1.0}
    assert (found["KeyLabels"], found["AggregationStatistic"]) == (["pk", "sk"], "SUM")
    assert (found["AggregateValue"], found["ApproximateUniqueCount"]) == (4.0, 2)


def test_partitions_are_counted_by_themselves(engine: Engine) -> None:
    for sk in ("1", "2", "3"):
        get(engine, "ada", sk)
    get(engine, "bob")
    assert weights(report(engine, "PKC")) == {("ada",): 3.0, ("bob",): 1.0}
    assert list(weights(report(engine, "PKC", MaxContributorCount=1))) == [("ada",)]


def test_a_query_counts_for_its_partition_only(engine: Engine) -> None:
    put(engine, "ada")
    engine.call(
        "Query",
        TableName="table",
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "ada"}},
        ConsistentRead=True,
    )
    engine.call("Scan", TableName="table")
    assert weights(report(engine, "PKC")) == {("ada",): 4.0}
    assert weights(report(engine, "SKC")) == {("ada", "1"): 3.0}


def test_keys_that_are_read_together_share_what_they_cost(engine: Engine) -> None:
    wanted = {"table": {"Keys": [key("ada"), key("bob")], "ConsistentRead": True}}
    engine.call("BatchGetItem", RequestItems=wanted)
    assert weights(report(engine)) == {("ada", "1"): 1.0, ("bob", "1"): 1.0}


def test_every_item_of_a_transaction_counts(engine: Engine) -> None:
    puts = [{"Put": {"TableName": "table", "Item": key(pk)}} for pk in ("ada", "bob")]
    engine.call("TransactWriteItems", TransactItems=puts)
    assert weights(report(engine)) == {("ada", "1"): 6.0, ("bob", "1"): 6.0}


def test_an_index_is_watched_by_its_own_keys(engine: Engine) -> None:
    enable(engine, IndexName="by-state")
    put(engine, "ada", state={"S": "paid"})
    put(engine, "bob")  # not in the index
    engine.call(
        "Query",
        TableName="table",
        IndexName="by-state",
        KeyConditionExpression="#s = :s",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":s": {"S": "open"}},
    )
    found = report(engine, "PKC", "by-state")
    assert (found["KeyLabels"], weights(found)) == (["state"], {("paid",): 3.0, ("open",): 0.5})
    assert weights(report(engine, "PKC")) == {("ada",): 3.0, ("bob",): 3.0}


def test_throttles_are_counted_where_capacity_was_missing() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    )
    enable(engine, ContributorInsightsMode="THROTTLED_KEYS")
    refused = 0
    for _ in range(400):
        try:
            put(engine, "ada")
        except ApiError:
            refused += 1
    assert refused > 0
    found = report(engine, "SKT")
    assert (found["AggregationStatistic"], weights(found)) == ("COUNT", {("ada", "1"): float(refused)})
    assert weights(report(engine, "PKT")) == {("ada",): float(refused)}


def test_tables_that_are_not_watched_leave_nothing_behind(engine: Engine) -> None:
    enable(engine, "DISABLE")
    put(engine, "ada")
    engine.db.recorder.flush()
    assert stored_windows(engine) == 0


def test_periods_show_when_a_key_was_hot(engine: Engine) -> None:
    get(engine, "ada")
    engine.clock.advance(60)
    get(engine, "ada")
    get(engine, "ada")
    get(engine, "bob")
    engine.clock.advance(60)
    get(engine, "bob")
    found = report(engine, "PKC", Metrics=["Sum", "SampleCount", "UniqueContributors", "MaxContributorValue"])
    ada, bob = found["Contributors"]
    assert ada["Datapoints"] == [
        {"Timestamp": START, "ApproximateValue": 1.0},
        {"Timestamp": START + 60, "ApproximateValue": 2.0},
    ]
    assert [point["Timestamp"] for point in bob["Datapoints"]] == [START + 60, START + 120]
    assert found["MetricDatapoints"][1] == {
        "Timestamp": START + 60,
        "Sum": 3.0,
        "SampleCount": 3.0,
        "UniqueContributors": 2.0,
        "MaxContributorValue": 2.0,
    }
    five = report(engine, "PKC", Period=300)["Contributors"]
    assert [len(each["Datapoints"]) for each in five] == [1, 1]
    only_first = report(engine, "PKC", EndTime=START + 60)
    assert weights(only_first) == {("ada",): 1.0}


def test_several_processes_count_together(engine: Engine) -> None:
    other = Engine(engine.store)
    for each in (engine, other):
        put(each, "ada")
        each.db.recorder.flush()
    assert weights(report(engine)) == {("ada", "1"): 6.0}


def test_a_rule_made_anew_knows_nothing_of_the_one_before(engine: Engine) -> None:
    put(engine, "ada")
    engine.db.recorder.flush()
    enable(engine, "DISABLE")
    engine.clock.advance(120)
    enable(engine)
    assert weights(report(engine)) == {}


def test_minutes_are_forgotten_after_a_day(engine: Engine) -> None:
    put(engine, "ada")
    engine.db.recorder.flush()
    assert stored_windows(engine) == 2
    engine.clock.advance(60 * (MINUTES_KEPT + 1))
    engine.run_jobs()
    assert stored_windows(engine) == 0


def test_cloudwatch_lists_the_rules(engine: Engine) -> None:
    first = engine.call(f"{CLOUDWATCH}.DescribeInsightRules", MaxResults=3)
    rest = engine.call(f"{CLOUDWATCH}.DescribeInsightRules", MaxResults=3, NextToken=first["NextToken"])
    rules = first["InsightRules"] + rest["InsightRules"]
    assert sorted(rule["Name"].split("-")[1] for rule in rules) == ["PKC", "PKT", "SKC", "SKT"]
    assert {rule["State"] for rule in rules} == {"ENABLED"}
    assert "NextToken" not in rest


def test_reports_on_nonsense_are_refused(engine: Engine) -> None:
    def ask(**members: Any) -> None:
        report(engine, **members)

    missing = "Insight rule nope does not exist."
    expect("ResourceNotFoundException", missing, lambda: ask(RuleName="nope"))
    order = "The parameter StartTime must be less than the parameter EndTime."
    expect("InvalidParameterValueException", order, lambda: ask(StartTime=START, EndTime=START))
    expect("InvalidParameterValueException", "The parameter Period must be a multiple of 60.", lambda: ask(Period=61))
    count = "The parameter MaxContributorCount must be between 1 and 100."
    expect("InvalidParameterValueException", count, lambda: ask(MaxContributorCount=101))
    metric = "The value Median for parameter Metrics is not supported."
    expect("InvalidParameterValueException", metric, lambda: ask(Metrics=["Median"]))


def test_absurd_ranges_get_a_bounded_answer(engine: Engine) -> None:
    put(engine, "ada")
    assert weights(report(engine, StartTime=-1e15, EndTime=1e15)) == {("ada", "1"): 3.0}
    assert weights(report(engine, StartTime=-1e15, EndTime=-1e14)) == {}

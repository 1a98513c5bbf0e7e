"""What requests do is what the metrics of AWS/DynamoDB say."""

from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.engine.scope import scope_of
from hashrange.metrics.series import series
from hashrange.storage import Result, Unavailable
from hashrange.storage.memory import MemoryStore
from unit.metrics.watching import cloudwatch, get, lines, put, query, values

SCOPE = scope_of("000000000000", "us-east-1")
INDEX = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
LOCAL = {
    "IndexName": "by-age",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "age", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "ALL"},
}


def attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=attributes("pk", "sk", "owner", "age"),
        GlobalSecondaryIndexes=[INDEX],
        LocalSecondaryIndexes=[LOCAL],
    )
    return engine


def test_consumed_units_are_summed_by_the_minute(engine: Engine) -> None:
    for _ in range(3):
        put(engine)
    engine.clock.advance(60)
    put(engine)
    get(engine)
    get(engine, ConsistentRead=True)
    assert values(engine, "ConsumedWriteCapacityUnits") == [3.0, 1.0]
    assert values(engine, "ConsumedReadCapacityUnits") == [1.5]
    assert values(engine, "ConsumedReadCapacityUnits", "SampleCount") == [2.0]
    assert values(engine, "ConsumedReadCapacityUnits", "Maximum") == [1.0]


def test_a_request_counts_for_the_minute_in_which_it_was_made(engine: Engine) -> None:
    put(engine)
    engine.clock.advance(600)  # nothing was handed over in between
    put(engine)
    found = lines(engine, query("ConsumedWriteCapacityUnits", period=300))
    assert found["m"] == [1.0, 1.0]


def test_global_indexes_are_counted_by_themselves_and_local_ones_with_the_table(engine: Engine) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "x"}, "owner": {"S": "ada"}, "age": {"S": "9"}}
    engine.call("PutItem", TableName="table", Item=item)
    engine.call(
        "Query",
        TableName="table",
        IndexName="by-owner",
        KeyConditionExpression="#o = :o",
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues={":o": {"S": "ada"}},
    )
    index = {"TableName": "table", "GlobalSecondaryIndexName": "by-owner"}
    assert values(engine, "ConsumedWriteCapacityUnits") == [2.0]
    assert values(engine, "ConsumedWriteCapacityUnits", **index) == [1.0]
    assert values(engine, "ConsumedReadCapacityUnits", **index) == [0.5]
    assert values(engine, "ConsumedReadCapacityUnits") == []


def test_latencies_are_told_by_operation(engine: Engine) -> None:
    put(engine)
    get(engine)
    by_put = {"TableName": "table", "Operation": "PutItem"}
    assert values(engine, "SuccessfulRequestLatency", "SampleCount", **by_put) == [1.0]
    assert 0 < values(engine, "SuccessfulRequestLatency", "p99", **by_put)[0] < 10_000
    assert values(engine, "SuccessfulRequestLatency", TableName="table") == []


def test_returned_items_are_counted_for_reads_of_many(engine: Engine) -> None:
    for key in ("a", "b", "c"):
        put(engine, key)
    engine.call("Scan", TableName="table")
    assert values(engine, "ReturnedItemCount", TableName="table", Operation="Scan") == [3.0]


def test_failed_conditions_are_counted_for_the_table_and_not_as_mistakes(engine: Engine) -> None:
    put(engine)
    with pytest.raises(ApiError):
        put(engine, ConditionExpression="attribute_not_exists(pk)")
    assert values(engine, "ConditionalCheckFailedRequests") == [1.0]
    assert lines(engine, account("UserErrors"))["m"] == []


def account(name: str) -> dict[str, Any]:
    stat = {"Metric": {"Namespace": "AWS/DynamoDB", "MetricName": name}, "Period": 60, "Stat": "Sum"}
    return {"Id": "m", "MetricStat": stat}


def test_mistakes_of_clients_are_counted_for_the_account(engine: Engine) -> None:
    for _ in range(2):
        with pytest.raises(ApiError):
            engine.call("GetItem", TableName="nowhere", Key={"pk": {"S": "a"}})
    assert lines(engine, account("UserErrors"))["m"] == [2.0]


def test_a_batch_counts_for_each_of_its_tables(engine: Engine) -> None:
    engine.create_table("other")
    item = {"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "x"}}}}
    engine.call("BatchWriteItem", RequestItems={"table": [item], "other": [item]})
    for table in ("table", "other"):
        assert values(engine, "ConsumedWriteCapacityUnits", TableName=table) == [1.0]
        found = values(engine, "SuccessfulRequestLatency", "SampleCount", TableName=table, Operation="BatchWriteItem")
        assert found == [1.0]


def test_expired_items_are_counted(engine: Engine) -> None:
    engine.call(
        "UpdateTimeToLive", TableName="table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
    )
    past = {"N": str(int(engine.clock.seconds()) - 10)}
    for key in ("a", "b"):
        engine.call("PutItem", TableName="table", Item={"pk": {"S": key}, "sk": {"S": "x"}, "until": past})
    engine.run_jobs()
    assert values(engine, "TimeToLiveDeletedItemCount") == [2.0]


def test_the_filling_of_an_index_is_measured() -> None:
    engine = Engine()
    engine.create_table()
    for number in range(5):
        item = {"pk": {"S": str(number)}, "sk": {"S": "x"}, "owner": {"S": "ada"}}
        engine.call("PutItem", TableName="table", Item=item)
    engine.call(
        "UpdateTable",
        TableName="table",
        AttributeDefinitions=attributes("owner"),
        GlobalSecondaryIndexUpdates=[{"Create": INDEX}],
    )
    engine.run_jobs()
    index = {"TableName": "table", "GlobalSecondaryIndexName": "by-owner"}
    assert values(engine, "OnlineIndexConsumedWriteCapacity", **index) == [5.0]
    assert 0 < values(engine, "OnlineIndexPercentageProgress", "Maximum", **index)[0] <= 100


def test_reads_of_a_stream_are_counted() -> None:
    engine = Engine()
    table = engine.create_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    put(engine)
    arn, label = table["LatestStreamArn"], table["LatestStreamLabel"]
    shard = engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = engine.call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    engine.call("GetRecords", ShardIterator=iterator["ShardIterator"])
    where = {"TableName": "table", "Operation": "GetRecords", "StreamLabel": label}
    assert values(engine, "ReturnedRecordsCount", **where) == [1.0]
    assert values(engine, "ReturnedBytes", **where)[0] > 0


def test_capacity_has_a_history() -> None:
    engine = Engine()
    given = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=given)
    engine.run_jobs()
    engine.clock.advance(120)
    engine.call("UpdateTable", TableName="table", ProvisionedThroughput={**given, "ReadCapacityUnits": 9})
    engine.run_jobs()
    engine.clock.advance(60)
    assert values(engine, "ProvisionedReadCapacityUnits", "Average") == [5.0, 5.0, 9.0, 9.0]
    assert values(engine, "ProvisionedReadCapacityUnits", "Maximum", period=300)[-1] == 9.0
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    engine.clock.advance(600)
    assert len(values(engine, "ProvisionedReadCapacityUnits", "Average")) == 3


def test_an_hour_of_capacity_is_made_of_its_minutes() -> None:
    engine = Engine()
    assert engine.clock.seconds() % 3600 == 0
    engine.clock.advance(600)
    given = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=given)
    engine.run_jobs()
    engine.clock.advance(1800)
    engine.call("UpdateTable", TableName="table", ProvisionedThroughput={**given, "ReadCapacityUnits": 11})
    engine.run_jobs()
    engine.clock.advance(1200 + 540)

    def by_hour(statistic: str) -> list[float]:
        asked = query("ProvisionedReadCapacityUnits", statistic, period=3600)
        now = engine.clock.seconds()
        answer = cloudwatch(
            engine, "GetMetricData", MetricDataQueries=[asked], StartTime=now - 7740, EndTime=now + 60,
            ScanBy="TimestampAscending",
        )  # fmt: skip
        (found,) = answer["MetricDataResults"]
        return list(found["Values"])

    assert engine.clock.seconds() - 7740 == 1_800_000_000 - 3600  # the whole hour before the first
    assert by_hour("SampleCount") == [50.0, 10.0]
    assert by_hour("Average") == [(30 * 5 + 20 * 11) / 50, 11.0]
    assert (by_hour("Minimum"), by_hour("Maximum")) == ([5.0, 11.0], [11.0, 11.0])


def test_tables_of_other_accounts_and_regions_are_not_seen(engine: Engine) -> None:
    put(engine)
    engine.db.recorder.flush()
    now = engine.clock.seconds()
    answer = engine.call(
        "GraniteServiceVersion20100801.GetMetricData",
        region="eu-west-1",
        MetricDataQueries=[query("ConsumedWriteCapacityUnits")],
        StartTime=now - 60,
        EndTime=now + 60,
    )
    assert answer["MetricDataResults"][0]["Values"] == []


class FailingStore(MemoryStore):
    """A store that does not take writes for a while."""

    failing = False

    def write(self, plan: Any, done: Any) -> None:
        if self.failing:
            done(Result(error=Unavailable("for now")))
        else:
            super().write(plan, done)


def test_what_could_not_be_stored_is_not_lost() -> None:
    store = FailingStore()
    engine = Engine(store)
    engine.create_table()
    put(engine)
    store.failing = True
    engine.db.recorder.flush()
    engine.clock.advance(60)
    store.failing = False
    put(engine)
    assert values(engine, "ConsumedWriteCapacityUnits") == [1.0, 1.0]


def test_measurements_are_forgotten_after_fifteen_days(engine: Engine) -> None:
    put(engine)
    engine.run_jobs()
    engine.clock.advance(14 * 86_400)
    engine.run_jobs()
    assert lines(engine, query("ConsumedWriteCapacityUnits", period=3600), hours=24 * 15)["m"] == [1.0]
    engine.clock.advance(2 * 86_400)
    engine.run_jobs()
    engine.clock.advance(3600)
    engine.run_jobs()
    with engine.db.read() as snapshot:
        kept = [key for key, _ in snapshot.scan(b"M", b"N") if b"table" in key]
    assert kept == []


def test_what_was_counted_last_is_handed_over_beside_what_is_on_its_way(engine: Engine) -> None:
    recorder = engine.db.recorder
    with engine.db.read():  # meanwhile nothing is written
        get(engine)
        recorder.flush()
        get(engine)
        recorder.flush()  # does nothing
        recorder.finish()
    with engine.db.read() as snapshot:
        found = series(snapshot, SCOPE, "ConsumedReadCapacityUnits", {"TableName": "table"}, 0, 10**9)
    assert [statistic.sum for _, statistic in found] == [1.0]


def test_a_flush_that_has_nothing_to_tell_writes_nothing(engine: Engine) -> None:
    engine.db.recorder.flush()
    writes: list[Any] = []
    engine.store.write = lambda plan, done: writes.append(plan)  # type: ignore[method-assign]
    engine.db.recorder.flush()
    assert writes == []

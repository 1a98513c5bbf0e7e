"""What the stories have found, told plainly."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import DatabaseSettings
from hashrange.jobs import fill_indexes, propagate_indexes, remove_deleted
from hashrange.jobs.job import Job
from hashrange.jobs.runner import JOBS
from property.engine.client import Client, in_memory

TABLE = "found"
SECOND = 1_000_000
INDEX: dict[str, Any] = {
    "IndexName": "by-g",
    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}
G_IS_STRING = [{"AttributeName": "g", "AttributeType": "S"}]


def create(client: Client, *indexes: dict[str, Any]) -> None:
    names = ["pk", *(element["AttributeName"] for index in indexes for element in index["KeySchema"])]
    members: dict[str, Any] = {"GlobalSecondaryIndexes": list(indexes)} if indexes else {}
    client.call(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        **members,
    )
    client.clock.advance(client.db.settings.table_delay_micros / SECOND)


def put(client: Client, **texts: str) -> Any:
    item = {name: {"S": text} for name, text in texts.items()}
    return client.call("PutItem", TableName=TABLE, Item=item, ReturnConsumedCapacity="INDEXES")


def delete(client: Client, name: str) -> None:
    client.call("DeleteItem", TableName=TABLE, Key={"pk": {"S": name}})


def change_index(client: Client, **update: Any) -> None:
    client.call("UpdateTable", TableName=TABLE, AttributeDefinitions=G_IS_STRING, GlobalSecondaryIndexUpdates=[update])


def describe(client: Client) -> Any:
    return client.call("DescribeTable", TableName=TABLE)["Table"]


def finish(client: Client, job: Job) -> None:
    while client.step(JOBS.index(job)):
        pass


def test_an_item_written_again_with_its_attributes_in_another_order_is_the_same_item() -> None:
    with in_memory() as client:
        create(client, INDEX, {**INDEX, "IndexName": "by-h", "KeySchema": [{"AttributeName": "h", "KeyType": "HASH"}]})
        put(client, pk="a", g="x", h="y")
        assert put(client, h="y", g="x", pk="a")["ConsumedCapacity"] == {
            "TableName": TABLE,
            "CapacityUnits": 1.0,
            "Table": {"CapacityUnits": 1.0},
        }
        put(client, h="y", t="more", g="x", pk="a")
        assert client.problems() == []


def test_items_that_change_before_a_new_index_comes_to_them_are_counted_once() -> None:
    with in_memory() as client:
        create(client)
        for name in ("changed", "moved", "removed", "kept"):
            put(client, pk=name, g="x")
        change_index(client, Create=INDEX)
        put(client, pk="changed", g="x", t="more")
        put(client, pk="moved", g="y")
        delete(client, "removed")
        put(client, pk="new", g="z")
        assert client.problems() == []
        finish(client, fill_indexes.JOB)
        assert client.problems() == []
        assert describe(client)["GlobalSecondaryIndexes"][0]["ItemCount"] == 4


def test_a_table_that_is_updated_while_an_index_is_filled_becomes_active_again() -> None:
    with in_memory(DatabaseSettings(table_delay_micros=SECOND)) as client:
        create(client)
        change_index(client, Create=INDEX)
        client.clock.advance(1)
        client.call("UpdateTable", TableName=TABLE, TableClass="STANDARD_INFREQUENT_ACCESS")
        finish(client, fill_indexes.JOB)
        assert describe(client)["TableStatus"] == "UPDATING"
        client.clock.advance(1)
        table = describe(client)
        assert table["TableStatus"] == "ACTIVE"
        assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
        assert table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"


def test_an_index_can_be_deleted_while_it_is_filled() -> None:
    with in_memory() as client:
        create(client)
        put(client, pk="a", g="x")
        change_index(client, Create=INDEX)
        client.call("UpdateTable", TableName=TABLE, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
        assert "GlobalSecondaryIndexes" not in describe(client)
        client.run_jobs()
        assert client.problems() == []


def test_an_index_can_be_added_beside_one_with_a_throughput_limit() -> None:
    limited = {**INDEX, "IndexName": "limited", "OnDemandThroughput": {"MaxReadRequestUnits": 5}}
    with in_memory() as client:
        create(client, limited)
        change_index(client, Create=INDEX)
        client.run_jobs()
        assert [index["IndexStatus"] for index in describe(client)["GlobalSecondaryIndexes"]] == ["ACTIVE", "ACTIVE"]


def test_an_index_that_is_being_deleted_need_not_be_true_any_more() -> None:
    with in_memory(DatabaseSettings(table_delay_micros=SECOND)) as client:
        create(client, INDEX)
        put(client, pk="a", g="x")
        put(client, pk="b", g="x")
        change_index(client, Delete={"IndexName": "by-g"})
        delete(client, "a")
        put(client, pk="b", g="y")
        assert client.problems() == []


def test_a_postponed_write_is_not_counted_twice_in_a_new_index() -> None:
    with in_memory(DatabaseSettings(index_delay_micros=SECOND)) as client:
        create(client)
        change_index(client, Create=INDEX)
        put(client, pk="a", g="x")
        finish(client, fill_indexes.JOB)
        client.clock.advance(1)
        finish(client, propagate_indexes.JOB)
        assert client.problems() == []


def test_a_postponed_write_leaves_nothing_in_an_index_that_is_gone() -> None:
    with in_memory(DatabaseSettings(index_delay_micros=SECOND)) as client:
        create(client, INDEX)
        put(client, pk="a", g="x")
        change_index(client, Delete={"IndexName": "by-g"})
        finish(client, remove_deleted.JOB)
        client.clock.advance(1)
        finish(client, propagate_indexes.JOB)
        assert client.problems() == []

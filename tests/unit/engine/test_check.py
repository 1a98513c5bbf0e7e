"""`check` finds what is wrong, and only that."""

import pytest

from harness import Engine
from hashrange.engine import keyspace
from hashrange.storage import Plan, write_and_wait
from hashrange.values.item import Item

INDEX = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")],
        GlobalSecondaryIndexes=[INDEX],
    )
    for number in range(3):
        item = {"pk": {"S": "a"}, "sk": {"S": str(number)}, "owner": {"S": "me"}, "n": {"N": "1"}}
        engine.call("PutItem", TableName="table", Item=item)
    assert engine.problems() == []
    return engine


def keys(engine: Engine, prefix: bytes) -> list[bytes]:
    with engine.store.read() as snapshot:
        return [key for key, _ in snapshot.scan(prefix, prefix + b"\xff")]


def put(engine: Engine, key: bytes, value: bytes | None) -> None:
    write_and_wait(engine.store, lambda snapshot: Plan([(key, value)]))


def test_a_missing_index_entry_is_found(engine: Engine) -> None:
    put(engine, keys(engine, keyspace.INDEX)[0], None)
    assert any("has no entry in index by-owner" in problem for problem in engine.problems())


def test_an_index_entry_without_its_item_is_found(engine: Engine) -> None:
    put(engine, keys(engine, keyspace.ITEM)[0], None)
    assert any("has no item" in problem for problem in engine.problems())


def test_a_wrong_size_is_found(engine: Engine) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "0"}, "owner": {"S": "me"}, "n": {"N": "1"}}
    put(engine, keys(engine, keyspace.ITEM)[0], Item.of(item, 999, 0).stored())
    assert any("says it has 999 bytes" in problem for problem in engine.problems())


def test_a_number_that_is_not_normalised_is_found(engine: Engine) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "0"}, "owner": {"S": "me"}, "n": {"N": "1.0"}}
    put(engine, keys(engine, keyspace.ITEM)[0], Item.of(item, 17, 0).stored())
    assert any("is not normalised" in problem for problem in engine.problems())


def test_an_item_under_the_wrong_key_is_found(engine: Engine) -> None:
    item = {"pk": {"S": "b"}, "sk": {"S": "0"}}
    put(engine, keys(engine, keyspace.ITEM)[0], Item.of(item, 6, 0).stored())
    assert any("should lie under" in problem for problem in engine.problems())


def test_a_wrong_counter_is_found(engine: Engine) -> None:
    put(engine, keyspace.counter_key(1, keyspace.BASE_TABLE, keyspace.ITEMS), (7).to_bytes(8, "little"))
    assert any("counts 7 items, has 3" in problem for problem in engine.problems())


def test_an_item_of_no_table_is_found(engine: Engine) -> None:
    put(engine, keyspace.item_prefix(99) + b"x" * 16, b"anything")
    assert any("belongs to no table" in problem for problem in engine.problems())

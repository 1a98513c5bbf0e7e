"""`explain` tells what a request costs before it is made, and why, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.engine.scope import scope_of
from hashrange.engine.usage import Unlimited
from hashrange.explain import pages
from hashrange.explain.explain import explain, operation_of
from hashrange.explain.explanation import Explanation

SCOPE = scope_of("000000000000", "us-east-1")
PAID = {"ExpressionAttributeNames": {"#s": "state"}, "ExpressionAttributeValues": {":s": {"S": "paid"}}}


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def text(length: int) -> dict[str, Any]:
    return {"S": "x" * length}


@pytest.fixture
def engine() -> Engine:
    """Fifty orders of Ada, each of 320 bytes, of which every tenth is paid; and one of Bob, of 5,000 bytes or so."""
    engine = Engine()
    names = ("pk", "sk", "state", "day")
    engine.create_table(
        "orders",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-day",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "day", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    for number in range(50):
        state = "paid" if number % 10 == 0 else "open"
        item = {**key("ada", f"{number:03}"), "state": {"S": state}, "x": text(300)}
        engine.call("PutItem", TableName="orders", Item=item)
    engine.call("PutItem", TableName="orders", Item={**key("bob", "1"), "day": {"S": "monday"}, "x": text(5000)})
    engine.db.ledger = Unlimited()
    return engine


def explained(engine: Engine, operation: str, **members: Any) -> Explanation:
    return explain(engine.db, SCOPE, operation, members)


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"TableName": "orders", "Key": key("ada", "001")}),
    ("GetItem", {"TableName": "orders", "Key": key("bob", "1"), "ConsistentRead": True}),
    ("GetItem", {"TableName": "orders", "Key": key("nobody", "1")}),
    ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key("ada", "001"), key("bob", "1"), key("no", "1")]}}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "orders", "Key": key("bob", "1")}}]}),
    (
        "Query",
        {
            "TableName": "orders",
            "KeyConditionExpression": "pk = :p AND sk > :s",
            "ExpressionAttributeValues": {":p": {"S": "ada"}, ":s": {"S": "010"}},
        },
    ),
    ("Query", {"TableName": "orders", "IndexName": "by-state", "KeyConditionExpression": "#s = :s", **PAID}),
    (
        "Query",
        {
            "TableName": "orders",
            "IndexName": "by-day",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "bob"}},
            "Select": "ALL_ATTRIBUTES",
        },
    ),
    ("Scan", {"TableName": "orders", "FilterExpression": "#s = :s", **PAID}),
    ("Scan", {"TableName": "orders", "Limit": 3, "ConsistentRead": True}),
    ("PutItem", {"TableName": "orders", "Item": {**key("ada", "001"), "state": {"S": "paid"}}}),
    ("PutItem", {"TableName": "orders", "Item": {**key("eve", "1"), "x": text(3000), "day": {"S": "today"}}}),
    (
        "UpdateItem",
        {"TableName": "orders", "Key": key("ada", "001"), "UpdateExpression": "SET #s = :s", **PAID},
    ),
    ("DeleteItem", {"TableName": "orders", "Key": key("bob", "1")}),
    ("DeleteItem", {"TableName": "orders", "Key": key("nobody", "1")}),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "orders": [{"PutRequest": {"Item": key("new", "1")}}, {"DeleteRequest": {"Key": key("ada", "002")}}]
            }
        },
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "orders", "Item": {**key("new", "1"), "state": {"S": "open"}}}},
                {"Delete": {"TableName": "orders", "Key": key("bob", "1")}},
                {
                    "ConditionCheck": {
                        "TableName": "orders",
                        "Key": key("ada", "003"),
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ]
        },
    ),
    ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE pk = 'ada' AND state = 'paid'"}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE pk = 'ada' AND sk = '001'"}),
    ("ExecuteStatement", {"Statement": "UPDATE orders SET x = 'y' WHERE pk = 'bob' AND sk = '1'"}),
]


def charged(answer: Any) -> float:
    consumed = answer["ConsumedCapacity"]
    return float(sum(each["CapacityUnits"] for each in (consumed if isinstance(consumed, list) else [consumed])))


def contents(engine: Engine) -> list[tuple[bytes, bytes]]:
    with engine.store.read() as snapshot:
        return list(snapshot.scan(b"\x00", b"\xff"))


@pytest.mark.parametrize(("operation", "members"), REQUESTS)
def test_what_is_told_is_what_is_charged(engine: Engine, operation: str, members: dict[str, Any]) -> None:
    before = contents(engine)
    found = explained(engine, operation, **members)
    assert contents(engine) == before
    assert found.error is None
    answer = engine.call(operation, **members, ReturnConsumedCapacity="INDEXES")
    assert found.units("Read") + found.units("Write") == charged(answer)


@pytest.mark.parametrize(("operation", "members"), REQUESTS)
def test_every_line_of_arithmetic_ends_in_units_that_add_up(
    engine: Engine, operation: str, members: dict[str, Any]
) -> None:
    for step in explained(engine, operation, **members).steps:
        sums = [line for line in step.arithmetic if "deletion and a put" not in line]
        units = [float(line.rpartition("= ")[2].rpartition(": ")[2].split()[0].replace(",", "")) for line in sums]
        assert sum(units) == step.consumed.total


def test_a_filter_that_throws_away_what_it_read_is_told_of_a_better_index(engine: Engine) -> None:
    found = explained(engine, "Scan", TableName="orders", FilterExpression="#s = :s", **PAID)
    [step] = found.steps
    assert (step.access, step.items_evaluated, step.items_returned) == ("scan", 51, 5)
    assert any("46 items of 51 were read, paid for and thrown away" in hint for hint in found.hints)
    assert "Index by-state has state as its partition key: a Query there reads only what is wanted." in found.hints


def test_a_filtered_query_is_told_of_a_key_within_its_partition(engine: Engine) -> None:
    found = explained(
        engine,
        "Query",
        TableName="orders",
        KeyConditionExpression="pk = :p",
        FilterExpression="#d = :d",
        ExpressionAttributeNames={"#d": "day"},
        ExpressionAttributeValues={":p": {"S": "ada"}, ":d": {"S": "monday"}},
    )
    assert found.hints[1] == "Index by-day has pk and day as its key: a Query there reads only what is wanted."
    members = {"KeyConditionExpression": "pk = :p", "FilterExpression": "x = :d"}
    values = {":p": {"S": "ada"}, ":d": {"S": "monday"}}
    found = explained(engine, "Query", TableName="orders", ExpressionAttributeValues=values, **members)
    assert found.hints[1] == "An index with pk as its partition key and x as its sort key would read only that."


def test_a_key_in_the_filter_of_a_scan_wants_to_be_a_query(engine: Engine) -> None:
    values = {":p": {"S": "bob"}}
    found = explained(engine, "Scan", TableName="orders", FilterExpression="pk = :p", ExpressionAttributeValues=values)
    assert any("as a key condition of a Query it would be a lookup" in hint for hint in found.hints)


def test_a_query_that_is_all_there_is_to_it_gets_no_hints(engine: Engine) -> None:
    operation, members = REQUESTS[6]
    found = explained(engine, operation, **members)
    assert (found.steps[0].index, found.hints) == ("by-state", [])


def test_a_projection_is_said_not_to_save_anything(engine: Engine) -> None:
    found = explained(engine, "Scan", TableName="orders", ProjectionExpression="pk")
    assert any("A projection makes the answer smaller, not the read" in hint for hint in found.hints)


def test_items_that_a_local_index_has_to_fetch_are_named(engine: Engine) -> None:
    operation, members = REQUESTS[7]
    found = explained(engine, operation, **members)
    assert "1 item fetched whole" in found.steps[0].arithmetic[1]
    assert any("every item is fetched from the table as well" in hint for hint in found.hints)


def test_a_long_range_is_told_to_its_end(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    found = explained(engine, "Scan", TableName="orders", Limit=3)
    whole = found.steps[0].whole
    assert whole is not None
    assert (whole.items, whole.pages, whole.units, whole.is_complete) == (51, 1, 3.0, True)
    monkeypatch.setattr(pages, "ENTRIES_COUNTED_MAX", 10)
    whole = explained(engine, "Scan", TableName="orders", Limit=3).steps[0].whole
    assert whole is not None
    assert (whole.items, whole.is_complete) == (11, False)


def test_an_index_key_that_changes_costs_twice(engine: Engine) -> None:
    operation, members = REQUESTS[12]
    lines = explained(engine, operation, **members).steps[0].arithmetic
    assert lines[-1] == "global index by-state: the key in it changes, which is a deletion and a put: 2 units"


def test_a_transaction_is_said_to_cost_double(engine: Engine) -> None:
    operation, members = REQUESTS[16]
    found = explained(engine, operation, **members)
    assert "x 2, in a transaction" in found.steps[0].arithmetic[0]
    assert "items cost double" in found.hints[-1]


def test_what_would_be_refused_is_told_with_what_it_costs(engine: Engine) -> None:
    found = explained(
        engine,
        "PutItem",
        TableName="orders",
        Item=key("bob", "1"),
        ConditionExpression="attribute_not_exists(pk)",
    )
    assert found.error == "ConditionalCheckFailedException: The conditional request failed"
    assert found.units("Write") == 5.0


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"TableName": "nope", "Key": key("a", "b")}, "ResourceNotFoundException: Requested resource not found"),
        (
            {"TableName": "orders", "Key": {"pk": {"S": "a"}}},
            "ValidationException: The provided key element does not match the schema",
        ),
    ],
)
def test_bad_requests_are_explained_by_their_error(engine: Engine, members: dict[str, Any], error: str) -> None:
    found = explained(engine, "GetItem", **members)
    assert (found.error, found.steps) == (error, [])
    with pytest.raises(ApiError) as caught:
        engine.call("GetItem", **members)
    assert str(caught.value) == error


def test_values_that_are_none_are_explained_too(engine: Engine) -> None:
    found = explained(engine, "GetItem", TableName="orders", Key={"pk": {"S": 1}, "sk": {"S": "a"}})
    assert found.error is not None
    assert found.error.startswith("SerializationException")


def test_operations_are_known_in_both_spellings() -> None:
    assert operation_of("GetItem") == operation_of("get-item") == "GetItem"
    with pytest.raises(Exception, match="CreateTable cannot be explained"):
        operation_of("CreateTable")

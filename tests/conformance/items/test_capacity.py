"""ReturnConsumedCapacity and ReturnItemCollectionMetrics: what reads and writes cost."""

import pytest

from conformance.support.tables import values, wire

TOTAL, INDEXES = {"ReturnConsumedCapacity": "TOTAL"}, {"ReturnConsumedCapacity": "INDEXES"}


def sized(size, **key):
    """An item of exactly this many bytes."""
    item = wire(**key)
    used = sum(len(name) + len(value["S"]) for name, value in item.items()) + len("fill")
    return {**item, "fill": {"S": "x" * (size - used)}}


def test_nothing_is_reported_unless_asked(table):
    assert "ConsumedCapacity" not in table.put_item(Item=wire(pk="a", sk="b"))
    assert "ConsumedCapacity" not in table.scan(ReturnConsumedCapacity="NONE")


@pytest.mark.parametrize(("size", "units"), [(1024, 1.0), (1025, 2.0), (10240, 10.0)])
def test_a_write_costs_a_unit_for_each_kilobyte(hash_table, size, units):
    answer = hash_table.put_item(Item=sized(size, pk="a"), **TOTAL)
    assert answer["ConsumedCapacity"] == {"TableName": hash_table.name, "CapacityUnits": units}
    assert hash_table.put_item(Item=wire(pk="a"), **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == units
    hash_table.put_item(Item=sized(size, pk="a"))
    update = {"Key": wire(pk="a"), "UpdateExpression": "REMOVE absent"}
    assert hash_table.update_item(**update, **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == units
    assert hash_table.delete_item(Key=wire(pk="a"), **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == units
    assert hash_table.delete_item(Key=wire(pk="a"), **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == 1.0


@pytest.mark.parametrize(("size", "units"), [(4096, 1.0), (4097, 2.0), (40960, 10.0)])
def test_a_read_costs_a_unit_for_each_four_kilobytes_and_half_if_eventual(hash_table, size, units):
    hash_table.put_item(Item=sized(size, pk="a"))
    key = {"Key": wire(pk="a"), "ProjectionExpression": "pk"}
    assert hash_table.get_item(**key, **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == units / 2
    strong = hash_table.get_item(**key, ConsistentRead=True, **INDEXES)["ConsumedCapacity"]
    assert strong == {"TableName": hash_table.name, "CapacityUnits": units, "Table": {"CapacityUnits": units}}
    missing = hash_table.get_item(Key=wire(pk="b"), ConsistentRead=True, **TOTAL)["ConsumedCapacity"]
    assert missing["CapacityUnits"] == 1.0


def test_a_page_is_rounded_up_once_and_charged_before_the_filter(table):
    table.fill([{"pk": "a", "sk": str(number), "v": "x" * 1000} for number in range(10)])
    query = {
        "KeyConditionExpression": "pk = :a",
        "FilterExpression": "v = :a",
        "ExpressionAttributeValues": values(a="a"),
        **TOTAL,
    }
    answer = table.query(**query)
    assert answer["Count"] == 0
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 1.5
    assert table.query(**query, ConsistentRead=True)["ConsumedCapacity"]["CapacityUnits"] == 3.0
    assert table.scan(Select="COUNT", **TOTAL)["ConsumedCapacity"]["CapacityUnits"] == 1.5
    nothing = {**query, "ExpressionAttributeValues": values(a="none")}
    assert table.query(**nothing)["ConsumedCapacity"]["CapacityUnits"] == 0.5


@pytest.fixture
def indexed(make_table):
    return make_table("pk / sk", local={"lsi": ("pk / l", "KEYS_ONLY")}, global_={"gsi": ("g", ["a"])})


def consumed(table, **request):
    return table.put_item(Item=wire(pk="p", sk="s", **request), **INDEXES)["ConsumedCapacity"]


def test_indexes_cost_what_changes_in_them(indexed):
    created = consumed(indexed, l="1", g="1")
    assert created == {
        "TableName": indexed.name,
        "CapacityUnits": 3.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"lsi": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0}},
    }
    unprojected = consumed(indexed, l="1", g="1", other="x")
    assert unprojected == {"TableName": indexed.name, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}
    moved = consumed(indexed, l="1", g="2", other="x")
    assert moved["GlobalSecondaryIndexes"] == {"gsi": {"CapacityUnits": 2.0}}
    assert "LocalSecondaryIndexes" not in moved
    projected = consumed(indexed, l="1", g="2", a="1")
    assert projected["GlobalSecondaryIndexes"] == {"gsi": {"CapacityUnits": 1.0}}
    removed = consumed(indexed)
    assert removed["CapacityUnits"] == 3.0


def test_reading_an_index_is_charged_to_it(indexed):
    indexed.fill([{"pk": "p", "sk": str(number), "l": "1", "g": "1", "v": "x" * 5000} for number in range(3)])
    answer = indexed.query(
        IndexName="gsi", KeyConditionExpression="g = :g", ExpressionAttributeValues=values(g="1"), **INDEXES
    )
    assert answer["ConsumedCapacity"] == {
        "TableName": indexed.name,
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 0.5}},
    }
    local = {
        "IndexName": "lsi",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="p"),
        **INDEXES,
    }
    assert indexed.query(**local)["ConsumedCapacity"] == {
        "TableName": indexed.name,
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "LocalSecondaryIndexes": {"lsi": {"CapacityUnits": 0.5}},
    }
    fetched = indexed.query(**local, Select="ALL_ATTRIBUTES")["ConsumedCapacity"]
    assert fetched["Table"] == {"CapacityUnits": 3 * 2 * 0.5}


def test_item_collections_are_measured_only_with_local_indexes(indexed, table):
    size = {"ReturnItemCollectionMetrics": "SIZE"}
    answer = indexed.put_item(Item=wire(pk="p", sk="s"), **size)
    assert answer["ItemCollectionMetrics"] == {
        "ItemCollectionKey": wire(pk="p"),
        "SizeEstimateRangeGB": [0.0, 1.0],
    }
    assert "ItemCollectionMetrics" not in table.put_item(Item=wire(pk="p", sk="s"), **size)


def test_transactions_cost_double(indexed, client):
    answer = client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": indexed.name, "Item": wire(pk="p", sk="s", g="1")}},
            {
                "ConditionCheck": {
                    "TableName": indexed.name,
                    "Key": wire(pk="x", sk="y"),
                    "ConditionExpression": "attribute_not_exists(pk)",
                }
            },
        ],
        **INDEXES,
    )
    assert answer["ConsumedCapacity"] == [
        {
            "TableName": indexed.name,
            "CapacityUnits": 5.0,
            "WriteCapacityUnits": 5.0,
            "Table": {"CapacityUnits": 4.0, "WriteCapacityUnits": 4.0},
            "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0, "WriteCapacityUnits": 1.0}},
        }
    ]
    gets = [{"Get": {"TableName": indexed.name, "Key": wire(pk=pk, sk="s")}} for pk in ("p", "missing")]
    answer = client.transact_get_items(TransactItems=gets, **TOTAL)
    assert answer["ConsumedCapacity"] == [{"TableName": indexed.name, "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}]

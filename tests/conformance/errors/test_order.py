"""Which of two broken rules speaks first."""

import pytest

from conformance.support.expect import ENVELOPE, error_of
from conformance.support.tables import Table, table_request, unique_name, values, wire

KEY = wire(pk="a", sk="b")
NOT_A_NUMBER = {"N": "x"}
NUMERIC = ENVELOPE + "The parameter cannot be converted to a numeric value: x"
SYNTAX = 'Syntax error; token: "<EOF>", near: "foo"'
MISMATCH = "The provided key element does not match the schema"
MIXED = "Can not use both expression and non-expression parameters in the same request: "
INVALID = "One or more parameter values were invalid: "
LARGE = {"S": "x" * 409_600}


@pytest.fixture(scope="module")
def shared(create_table):
    table = create_table("pk / sk", global_={"gsi": ("g / h", "KEYS_ONLY")})
    yield table
    table.delete_table()


def refusal(call, **request):
    code, message = error_of(call, **request)
    assert code in ("ValidationException", "ResourceNotFoundException", "ConditionalCheckFailedException")
    return message


def test_put_checks_the_request_then_the_table_then_keys_then_the_condition(shared, client):
    """Walks down the rules: every step mends the rule that spoke and leaves all later ones broken."""
    missing = unique_name()
    request = {
        "TableName": missing,
        "Item": {"pk": NOT_A_NUMBER, "g": {"N": "1"}, "fill": LARGE},
        "ReturnConsumedCapacity": "wrong",
        "ReturnValues": "ALL_NEW",
        "Expected": {"a": {"Exists": False}},
        "ConditionExpression": "foo",
    }
    steps = [
        ("Value 'wrong' at 'returnConsumedCapacity'", {"ReturnConsumedCapacity": "NONE"}),
        (MIXED, {"Expected": None}),
        ("cannot be converted to a numeric value", {"Item": wire(g=1, fill="x" * 409_600)}),
        ("ReturnValues can only be ALL_OLD or NONE", {"ReturnValues": "NONE"}),
        ("Item size has exceeded the maximum allowed size", {"Item": wire(g=1)}),
        (SYNTAX, {"ConditionExpression": "attribute_exists(pk)"}),
        ("Requested resource not found", {"TableName": shared.name}),
        ("Missing the key pk in the item", {"Item": wire(pk=1, g=1)}),
        ("Type mismatch for key pk expected: S actual: N", {"Item": wire(pk="a", sk="b", g=1)}),
        ("Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi", {"Item": KEY}),
        ("The conditional request failed", {}),
    ]
    for message, mended in steps:
        given = {name: value for name, value in request.items() if value is not None}
        assert message in refusal(client.put_item, **given)
        request.update(mended)


PAIRS = {
    "update: key values before expressions": (
        "update_item",
        {"Key": {"pk": NOT_A_NUMBER}, "UpdateExpression": "foo"},
        NUMERIC,
    ),
    "update: update expression before condition": (
        "update_item",
        {"Key": KEY, "UpdateExpression": "foo", "ConditionExpression": "bar"},
        ENVELOPE + 'Invalid UpdateExpression: Syntax error; token: "foo", near: "foo"',
    ),
    "update: expressions before the key schema": (
        "update_item",
        {"Key": wire(pk=1), "ConditionExpression": "foo"},
        ENVELOPE + "Invalid ConditionExpression: " + SYNTAX,
    ),
    "update: unused names before unused values": (
        "update_item",
        {
            "Key": KEY,
            "UpdateExpression": "REMOVE a",
            "ExpressionAttributeNames": {"#x": "x"},
            "ExpressionAttributeValues": values(y="y"),
        },
        ENVELOPE + "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}",
    ),
    "update: the key schema before changing the key": (
        "update_item",
        {"Key": wire(pk=1), "UpdateExpression": "REMOVE pk"},
        MISMATCH,
    ),
    "update: changing the key before the condition": (
        "update_item",
        {"Key": KEY, "UpdateExpression": "REMOVE pk", "ConditionExpression": "attribute_exists(nothing)"},
        "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
    ),
    "delete: key values before expressions": (
        "delete_item",
        {"Key": {"pk": NOT_A_NUMBER}, "ConditionExpression": "foo"},
        NUMERIC,
    ),
    "delete: expressions before the key schema": (
        "delete_item",
        {"Key": wire(pk=1), "ConditionExpression": "foo"},
        ENVELOPE + "Invalid ConditionExpression: " + SYNTAX,
    ),
    "delete: the key schema before the condition": (
        "delete_item",
        {"Key": wire(pk=1), "ConditionExpression": "attribute_exists(pk)"},
        MISMATCH,
    ),
    "get: key values before the projection": (
        "get_item",
        {"Key": {"pk": NOT_A_NUMBER}, "ProjectionExpression": "a,"},
        NUMERIC.removeprefix(ENVELOPE),
    ),
    "get: the projection before the key schema": (
        "get_item",
        {"Key": wire(pk=1), "ProjectionExpression": "a,"},
        'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
    ),
    "query: start key values before the key condition": (
        "query",
        {"ExclusiveStartKey": {"pk": NOT_A_NUMBER}},
        NUMERIC.removeprefix(ENVELOPE),
    ),
    "query: the key condition must be there before the filter is read": (
        "query",
        {"FilterExpression": "foo"},
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
    ),
    "query: expressions before the index": (
        "query",
        {"KeyConditionExpression": "foo", "IndexName": "none"},
        "Invalid KeyConditionExpression: " + SYNTAX,
    ),
    "query: the index before consistency": (
        "query",
        {
            "KeyConditionExpression": "g = :v",
            "ExpressionAttributeValues": values(v="v"),
            "IndexName": "none",
            "ConsistentRead": True,
        },
        "The table does not have the specified index: none",
    ),
    "query: consistency before the start key": (
        "query",
        {
            "KeyConditionExpression": "g = :v",
            "ExpressionAttributeValues": values(v="v"),
            "IndexName": "gsi",
            "ConsistentRead": True,
            "ExclusiveStartKey": wire(x="y"),
        },
        "Consistent reads are not supported on global secondary indexes",
    ),
    "query: the start key before the key condition's attributes": (
        "query",
        {
            "KeyConditionExpression": "x = :v",
            "ExpressionAttributeValues": values(v="v"),
            "ExclusiveStartKey": wire(x="y"),
        },
        "The provided starting key is invalid",
    ),
    "query: the key condition's attributes before the filter's": (
        "query",
        {
            "KeyConditionExpression": "x = :v",
            "FilterExpression": "sk = :v",
            "ExpressionAttributeValues": values(v="v"),
        },
        "Query condition missed key schema element: pk",
    ),
    "query: the start key's place before the filter": (
        "query",
        {
            "KeyConditionExpression": "pk = :v",
            "FilterExpression": "sk = :v",
            "ExpressionAttributeValues": values(v="v"),
            "ExclusiveStartKey": KEY,
        },
        "The provided starting key is outside query boundaries based on provided conditions",
    ),
    "query: the filter before the projection of the index": (
        "query",
        {
            "KeyConditionExpression": "g = :v",
            "FilterExpression": "h = :v",
            "ExpressionAttributeValues": values(v="v"),
            "IndexName": "gsi",
            "ProjectionExpression": "x",
        },
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: h",
    ),
    "scan: segments before expressions": (
        "scan",
        {"Segment": 1, "FilterExpression": "foo"},
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    ),
    "scan: expressions before the index": (
        "scan",
        {"FilterExpression": "foo", "IndexName": "none"},
        "Invalid FilterExpression: " + SYNTAX,
    ),
    "scan: the index before the start key": (
        "scan",
        {"IndexName": "none", "ExclusiveStartKey": wire(x="y")},
        "The table does not have the specified index: none",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_the_earlier_rule_speaks(shared, case):
    operation, request, message = PAIRS[case]
    assert refusal(getattr(shared, operation), **request) == message


BEFORE_TABLES = {
    "put_item": {"Item": {"pk": NOT_A_NUMBER}},
    "get_item": {"Key": {"pk": NOT_A_NUMBER}},
    "delete_item": {"Key": {"pk": NOT_A_NUMBER}},
    "update_item": {"Key": {"pk": NOT_A_NUMBER}},
    "scan": {"ExclusiveStartKey": {"pk": NOT_A_NUMBER}},
    "query": {
        "KeyConditionExpression": "pk = :v",
        "ExpressionAttributeValues": {":v": NOT_A_NUMBER},
    },
}


@pytest.mark.parametrize("operation", BEFORE_TABLES)
def test_a_wrong_request_speaks_before_a_missing_table(client, operation):
    table = Table(client, unique_name())
    message = refusal(getattr(table, operation), **BEFORE_TABLES[operation])
    assert message.endswith("The parameter cannot be converted to a numeric value: x")


def test_a_missing_table_speaks_before_a_key_that_does_not_match(client):
    table = Table(client, unique_name())
    assert refusal(table.get_item, Key=wire(x=1)) == "Requested resource not found"
    assert refusal(table.put_item, Item=wire(x=1)) == "Requested resource not found"


def test_a_new_table_is_checked_from_billing_to_indexes(client):
    steps = [
        (
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
            INVALID
            + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"KeySchema": [{"AttributeName": "undefined", "KeyType": "RANGE"}]},
            "Invalid KeySchema: Some index key attribute have no definition",
        ),
        (
            {"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]},
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            {"LocalSecondaryIndexes": []},
            INVALID + "List of LocalSecondaryIndexes is empty",
        ),
        ({"GlobalSecondaryIndexes": []}, INVALID + "List of GlobalSecondaryIndexes is empty"),
    ]
    for position, (_, message) in enumerate(steps):
        request = table_request("pk")
        for change, _ in reversed(steps[position:]):
            request = {**request, **change}
        assert refusal(client.create_table, **request) == message


def test_a_batch_counts_before_it_looks(client, shared):
    requests = [{"PutRequest": {"Item": {"pk": NOT_A_NUMBER}}}] * 26
    code, message = error_of(client.batch_write_item, RequestItems={shared.name: requests})
    assert code == "ValidationException"
    assert "numeric" not in message


def test_a_transaction_looks_at_its_actions_in_order(client):
    put = {"Put": {"TableName": unique_name(), "Item": {"pk": NOT_A_NUMBER}}}
    check = {"ConditionCheck": {"TableName": unique_name(), "Key": KEY, "ConditionExpression": "foo"}}
    assert "numeric" in refusal(client.transact_write_items, TransactItems=[put, check])
    assert "Syntax error" in refusal(client.transact_write_items, TransactItems=[check, put])

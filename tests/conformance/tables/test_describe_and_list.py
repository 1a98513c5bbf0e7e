"""DescribeTable and ListTables."""

import pytest

from conformance.support.expect import error_of, invalid, refuses
from conformance.support.tables import table_request, unique_name, wire


def test_an_on_demand_table_is_described_in_full(table):
    description = table.describe_table()["Table"]
    assert description["TableStatus"] == "ACTIVE"
    assert description["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12000,
        "WriteUnitsPerSecond": 4000,
        "Status": "ACTIVE",
    }
    assert set(description["BillingModeSummary"]) == {"BillingMode", "LastUpdateToPayPerRequestDateTime"}
    assert set(description) == {
        "AttributeDefinitions",
        "TableName",
        "KeySchema",
        "TableStatus",
        "CreationDateTime",
        "ProvisionedThroughput",
        "TableSizeBytes",
        "ItemCount",
        "TableArn",
        "TableId",
        "BillingModeSummary",
        "DeletionProtectionEnabled",
        "WarmThroughput",
    }


def test_a_table_that_does_not_exist_cannot_be_described(client):
    name = unique_name()
    with refuses("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found"):
        client.describe_table(TableName=name)


def test_a_table_can_be_named_by_its_arn(table, client):
    arn = table.describe_table()["Table"]["TableArn"]
    item = wire(pk="a", sk="b", n=1)
    client.put_item(TableName=arn, Item=item)
    key = wire(pk="a", sk="b")
    assert client.get_item(TableName=arn, Key=key)["Item"] == item
    assert client.describe_table(TableName=arn)["Table"]["TableName"] == table.name
    assert client.scan(TableName=arn)["Count"] == 1
    client.update_item(TableName=arn, Key=key, UpdateExpression="REMOVE n")
    client.transact_write_items(
        TransactItems=[
            {"Delete": {"TableName": arn, "Key": key}},
            {"Put": {"TableName": table.name, "Item": wire(pk="c", sk="d")}},
        ]
    )
    assert client.batch_get_item(RequestItems={arn: {"Keys": [wire(pk="c", sk="d")]}})["Responses"] == {
        arn: [wire(pk="c", sk="d")]
    }
    client.batch_write_item(RequestItems={arn: [{"DeleteRequest": {"Key": wire(pk="c", sk="d")}}]})
    client.delete_item(TableName=arn, Key=wire(pk="c", sk="d"))
    assert table.scan()["Count"] == 0


@pytest.fixture(scope="module")
def listing(connect):
    """A client of an account that has only the five tables of this module, and their names."""
    client = connect(account="111122223333")
    names = sorted(unique_name(letter) for letter in "aBc.-")
    for name in names:
        client.create_table(**{**table_request("pk"), "TableName": name})
    yield client, names
    for name in names:
        client.delete_table(TableName=name)


def test_tables_are_listed_in_byte_order(listing):
    client, names = listing
    answer = client.list_tables()
    assert answer["TableNames"] == names
    assert "LastEvaluatedTableName" not in answer


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_tables_are_listed_page_by_page(listing, limit):
    client, names = listing
    found, request = [], {"Limit": limit}
    while True:
        answer = client.list_tables(**request)
        assert len(answer["TableNames"]) <= limit
        found += answer["TableNames"]
        if "LastEvaluatedTableName" not in answer:
            break
        assert answer["LastEvaluatedTableName"] == found[-1]
        request["ExclusiveStartTableName"] = found[-1]
    assert found == names


def test_a_list_may_start_after_a_table_that_does_not_exist(listing):
    client, names = listing
    start = names[2] + ".."
    assert client.list_tables(ExclusiveStartTableName=start)["TableNames"] == names[3:]


@pytest.mark.parametrize(("limit", "bound"), [(0, "greater than or equal to 1"), (101, "less than or equal to 100")])
def test_a_list_has_1_to_100_tables(client, limit, bound):
    with invalid(
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
        f"Member must have value {bound}"
    ):
        client.list_tables(Limit=limit)


def test_counts_follow_the_items(make_table):
    table = make_table("pk", global_={"gsi": ("g", "KEYS_ONLY")})
    table.fill([{"pk": "a", "g": "x"}, {"pk": "b", "g": "x", "more": "12345"}, {"pk": "c"}])
    description = table.describe_table()["Table"]
    assert description["ItemCount"] == 3
    assert description["TableSizeBytes"] == 5 + 5 + 9 + 3
    assert description["GlobalSecondaryIndexes"][0]["ItemCount"] == 2
    assert description["GlobalSecondaryIndexes"][0]["IndexSizeBytes"] == 10
    table.delete_item(Key=wire(pk="b"))
    assert table.describe_table()["Table"]["ItemCount"] == 2


def test_limits_and_endpoints_are_described(client):
    limits = client.describe_limits()
    assert limits["AccountMaxReadCapacityUnits"] == limits["AccountMaxWriteCapacityUnits"] == 80000
    assert limits["TableMaxReadCapacityUnits"] == limits["TableMaxWriteCapacityUnits"] == 40000
    [endpoint] = client.describe_endpoints()["Endpoints"]
    assert endpoint == {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}


def test_more_capacity_than_the_account_has_is_refused(client):
    request = table_request("pk", BillingMode="PROVISIONED")
    request["ProvisionedThroughput"] = {"ReadCapacityUnits": 40001, "WriteCapacityUnits": 1}
    code, message = error_of(client.create_table, **request)
    assert code == "LimitExceededException"
    assert message.startswith(
        "The requested ReadCapacityUnits, 40001, is above the per table maximum for the account in us-east-1. "
        "Per table maximum: 40000. Refer to "
    )

"""DeleteTable, and what is left of a table afterwards: nothing."""

from conformance.support.expect import invalid, not_found, refuses
from conformance.support.tables import Table, table_request, unique_name, wire


def test_the_answer_shows_the_table_being_deleted_without_its_keys(create_table):
    table = create_table("pk / sk", local={"lsi": "pk / l"}, global_={"gsi": "g"})
    arn = table.describe_table()["Table"]["TableArn"]
    description = table.delete_table()["TableDescription"]
    assert description["TableStatus"] == "DELETING"
    assert description["TableArn"] == arn
    for absent in (
        "AttributeDefinitions",
        "KeySchema",
        "CreationDateTime",
        "LocalSecondaryIndexes",
        "GlobalSecondaryIndexes",
    ):
        assert absent not in description


def test_a_deleted_table_is_gone(create_table, client):
    table = create_table("pk")
    table.put_item(Item=wire(pk="a"))
    table.delete_table()
    client.get_waiter("table_not_exists").wait(TableName=table.name)
    with not_found(f"Requested resource not found: Table: {table.name} not found"):
        table.describe_table()
    with not_found(f"Requested resource not found: Table: {table.name} not found"):
        table.delete_table()
    with not_found():
        table.get_item(Key=wire(pk="a"))
    with not_found():
        table.put_item(Item=wire(pk="a"))
    assert table.name not in [
        name for page in client.get_paginator("list_tables").paginate() for name in page["TableNames"]
    ]


def test_a_table_of_the_same_name_starts_empty_and_with_another_id(create_table, client):
    table = create_table("pk", global_={"gsi": "g"})
    table.fill([{"pk": str(number), "g": "x"} for number in range(100)])
    before = table.describe_table()["Table"]
    for key in ("pk", "pk / sk:N"):
        table.delete_table()
        client.get_waiter("table_not_exists").wait(TableName=table.name)
        client.create_table(**{**table_request(key), "TableName": table.name})
        client.get_waiter("table_exists").wait(TableName=table.name)
        after = table.describe_table()["Table"]
        assert after["TableArn"] == before["TableArn"]
        assert after["TableId"] != before["TableId"]
        assert after["ItemCount"] == 0
        assert table.scan()["Items"] == []
    table.delete_table()


def test_a_protected_table_cannot_be_deleted(create_table):
    table = create_table("pk", DeletionProtectionEnabled=True)
    with invalid(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
    ):
        table.delete_table()
    answer = table.update_table(DeletionProtectionEnabled=False)["TableDescription"]
    assert answer["DeletionProtectionEnabled"] is False
    assert answer["TableStatus"] == "ACTIVE"
    table.delete_table()


def test_every_data_operation_on_a_missing_table_is_told_so(client):
    table = Table(client, unique_name())
    key, item = wire(pk="a"), wire(pk="a")
    calls = (
        lambda: table.put_item(Item=item),
        lambda: table.get_item(Key=key),
        lambda: table.delete_item(Key=key),
        lambda: table.update_item(Key=key),
        lambda: table.scan(),
        lambda: table.query(KeyConditionExpression="pk = :v", ExpressionAttributeValues={":v": {"S": "a"}}),
        lambda: client.batch_get_item(RequestItems={table.name: {"Keys": [key]}}),
        lambda: client.batch_write_item(RequestItems={table.name: [{"PutRequest": {"Item": item}}]}),
        lambda: client.transact_write_items(TransactItems=[{"Put": {"TableName": table.name, "Item": item}}]),
        lambda: client.transact_get_items(TransactItems=[{"Get": {"TableName": table.name, "Key": key}}]),
    )
    for call in calls:
        with refuses("ResourceNotFoundException", "Requested resource not found"):
            call()

"""The same table name means another table in another account or region."""

import pytest

from conformance.support.expect import not_found
from conformance.support.tables import table_request, unique_name, wire


@pytest.fixture
def owners(connect):
    """Three clients that each own a table of the same name, the name, and a clean-up."""
    name = unique_name()
    clients = {
        ("444455556666", "us-east-1"): connect(account="444455556666"),
        ("777788889999", "us-east-1"): connect(account="777788889999"),
        ("444455556666", "eu-central-1"): connect(account="444455556666", region="eu-central-1"),
    }
    for client in clients.values():
        client.create_table(**{**table_request("pk"), "TableName": name})
    yield name, clients
    for client in clients.values():
        client.delete_table(TableName=name)


def test_a_key_of_twelve_digits_is_an_account(owners):
    name, clients = owners
    for (account, region), client in clients.items():
        arn = client.describe_table(TableName=name)["Table"]["TableArn"]
        assert arn == f"arn:aws:dynamodb:{region}:{account}:table/{name}"


def test_accounts_and_regions_do_not_see_each_other(owners, client):
    name, clients = owners
    for (account, region), owner in clients.items():
        owner.put_item(TableName=name, Item=wire(pk="a", owner=account + region))
    for (account, region), owner in clients.items():
        assert owner.get_item(TableName=name, Key=wire(pk="a"))["Item"] == wire(pk="a", owner=account + region)
        assert owner.scan(TableName=name)["Count"] == 1
    with not_found():
        client.get_item(TableName=name, Key=wire(pk="a"))


def test_deleting_a_table_leaves_its_namesakes_alone(owners):
    name, clients = owners
    first, second, third = clients.values()
    second.put_item(TableName=name, Item=wire(pk="a"))
    first.delete_table(TableName=name)
    first.get_waiter("table_not_exists").wait(TableName=name)
    assert second.scan(TableName=name)["Count"] == 1
    assert third.scan(TableName=name)["Count"] == 0
    first.create_table(**{**table_request("pk"), "TableName": name})


@pytest.mark.parametrize("region", ["local", "localhost"])
def test_odd_region_names_are_regions_of_their_own(connect, region):
    client = connect(region=region)
    request = table_request("pk")
    arn = client.create_table(**request)["TableDescription"]["TableArn"]
    assert arn.split(":")[3] == region
    assert request["TableName"] in client.list_tables()["TableNames"]
    client.delete_table(TableName=request["TableName"])

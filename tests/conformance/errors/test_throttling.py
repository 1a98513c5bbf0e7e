"""Throttled requests as clients see them: the error, its reasons, and what is left of a batch."""

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from conformance.support.tables import wire

UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
LARGE = "x" * 330_000  # more than 300 write units, which is all that a table with one has


@pytest.fixture
def exhausted(make_table):
    """A provisioned table without any credit for writes."""
    table = make_table("pk", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    table.put_item(Item=wire(pk="large", data=LARGE))
    return table


def arn_of(table):
    return table.describe_table()["Table"]["TableArn"]


def test_the_reasons_are_where_the_sdk_looks_for_them(exhausted):
    with pytest.raises(ClientError) as caught:
        exhausted.put_item(Item=wire(pk="a"))
    response = caught.value.response
    assert response["Error"]["Code"] == "ProvisionedThroughputExceededException"
    assert response["ThrottlingReasons"] == [
        {"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn_of(exhausted)}
    ]


def test_the_reasons_on_demand_are_where_the_sdk_looks_for_them(make_table):
    table = make_table("pk", OnDemandThroughput={"MaxWriteRequestUnits": 1})
    table.put_item(Item=wire(pk="large", data=LARGE))
    with pytest.raises(ClientError) as caught:
        table.put_item(Item=wire(pk="a"))
    response = caught.value.response
    assert response["Error"]["Code"] == "ThrottlingException"
    assert response["throttlingReasons"] == [
        {"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": arn_of(table)}
    ]


def test_what_a_batch_could_not_write_can_be_sent_again_as_it_is(client, exhausted, make_table):
    other = make_table("pk")
    name = arn_of(exhausted)
    left = [
        {"PutRequest": {"Item": wire(pk="a", n=1)}},
        {"DeleteRequest": {"Key": wire(pk="large")}},
    ]
    answer = client.batch_write_item(
        RequestItems={name: left, other.name: [{"PutRequest": {"Item": wire(pk="b")}}]},
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["UnprocessedItems"] == {name: left}
    assert answer["ConsumedCapacity"] == [{"TableName": other.name, "CapacityUnits": 1.0}]


def test_the_sdk_tries_again_until_there_is_capacity(server, make_table):
    table = make_table("pk", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    table.put_item(Item=wire(pk="large", data="x" * 300 * 1024))  # one unit above the credit
    with pytest.raises(ClientError):
        table.put_item(Item=wire(pk="a"))
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name="us-east-1")
    retries = Config(retries={"mode": "standard", "max_attempts": 10})
    patient = session.client("dynamodb", endpoint_url=server, config=retries)
    patient.put_item(TableName=table.name, Item=wire(pk="b"))
    assert table.get(pk="b") == wire(pk="b")

"""Tags of tables."""

import pytest

from conformance.support.expect import error_of, refuses

INVALID = "One or more parameter values were invalid: "


@pytest.fixture
def arn(table):
    return table.describe_table()["Table"]["TableArn"]


def tags(**given):
    return [{"Key": key, "Value": value} for key, value in given.items()]


def listed(client, arn):
    """Every page of a table's tags."""
    found, request = [], {"ResourceArn": arn}
    while True:
        answer = client.list_tags_of_resource(**request)
        found.append(answer["Tags"])
        if "NextToken" not in answer:
            return found
        request["NextToken"] = answer["NextToken"]


def test_tags_are_added_replaced_and_removed(client, arn):
    client.tag_resource(ResourceArn=arn, Tags=tags(team="blue", cost="low"))
    client.tag_resource(ResourceArn=arn, Tags=tags(cost="high"))
    assert sorted(map(tuple, map(dict.values, listed(client, arn)[0]))) == [("cost", "high"), ("team", "blue")]
    client.untag_resource(ResourceArn=arn, TagKeys=["team", "never there"])
    assert listed(client, arn) == [tags(cost="high")]


def test_tags_are_listed_ten_at_a_time(client, arn):
    given = {f"key{number:02}": str(number) for number in range(25)}
    client.tag_resource(ResourceArn=arn, Tags=tags(**given))
    found = listed(client, arn)
    assert [len(page) for page in found] == [10, 10, 5]
    assert {tag["Key"]: tag["Value"] for page in found for tag in page} == given


def test_fifty_tags_are_enough(client, arn):
    client.tag_resource(ResourceArn=arn, Tags=tags(**{f"key{number}": "" for number in range(50)}))
    refused = ("ValidationException", INVALID + "Number of Tags exceed the current limit for the provided ResourceArn")
    assert error_of(client.tag_resource, ResourceArn=arn, Tags=tags(one_more="")) == refused
    client.tag_resource(ResourceArn=arn, Tags=tags(key1="replaced"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Atleast one Tag needs to be provided as Input."),
        (tags(**{"aws:mine": "x"}), "Tag Key cannot be prefixed with aws:, Key: aws:mine"),
        (tags(**{"a*": "x"}), "The Tag Key provided is invalid, Key: a*"),
        (tags(a="x;y"), "The Tag Value provided is invalid, Value: x;y"),
        (tags(a="1") + tags(a="2"), "Duplicate Tag Keys provided as input: Duplicate Tag Key found a"),
    ],
)
def test_tags_have_rules(client, arn, given, message):
    refused = ("ValidationException", INVALID + message)
    assert error_of(client.tag_resource, ResourceArn=arn, Tags=given) == refused


def test_at_least_one_key_is_removed(client, arn):
    refused = ("ValidationException", INVALID + "Atleast one Tag Key needs to be provided as Input.")
    assert error_of(client.untag_resource, ResourceArn=arn, TagKeys=[]) == refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("x", "ARNs must start with 'arn:': x"),
        ("arn:aws:s3:::bucket", "Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket"),
        (
            "arn:aws:dynamodb:us-east-1:000000000000:table/t/index/i",
            "Invalid resource arn provided, only table or stream is accepted. "
            "Provided resource arn: arn:aws:dynamodb:us-east-1:000000000000:table/t/index/i",
        ),
    ],
)
def test_only_tables_have_tags(client, wrong, message):
    assert error_of(client.list_tags_of_resource, ResourceArn=wrong) == ("ValidationException", INVALID + message)


def test_a_missing_table_has_no_tags(client, arn):
    missing = arn + "-missing"
    with refuses("ResourceNotFoundException", f"Requested resource not found: ResourceArn: {missing} not found"):
        client.list_tags_of_resource(ResourceArn=missing)


@pytest.mark.parametrize("token", ["x", "7", "9" * 5000])
def test_a_token_of_our_own_making_is_refused(client, arn, token):
    refused = ("ValidationException", INVALID + "NextToken is invalid")
    assert error_of(client.list_tags_of_resource, ResourceArn=arn, NextToken=token) == refused

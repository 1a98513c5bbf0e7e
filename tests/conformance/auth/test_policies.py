"""Real clients with keys that may do some things only: the examples of DynamoDB's own guide to fine-grained access."""

import json

import pytest
from botocore.exceptions import ClientError

TABLE = "GameScores"
ARN = f"arn:aws:dynamodb:us-east-1:000000000000:table/{TABLE}"
PLAYERS = ("ada", "bob")


def statement(*actions, **members):
    return {"Effect": "Allow", "Action": [f"dynamodb:{action}" for action in actions], "Resource": ARN, **members}


def document(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


OWN_ITEMS = document(
    statement(
        "GetItem",
        "BatchGetItem",
        "Query",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "BatchWriteItem",
        Condition={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}},
    )
)
OWN_SCORES = document(
    statement(
        "GetItem",
        "Query",
        Condition={
            "ForAllValues:StringEquals": {
                "dynamodb:LeadingKeys": ["${aws:username}"],
                "dynamodb:Attributes": ["UserId", "GameTitle", "TopScore"],
            },
            "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
        },
    )
)


def refusal(call):
    with pytest.raises(ClientError) as caught:
        call()
    assert caught.value.response["Error"]["Code"] == "AccessDeniedException"
    return caught.value.response["Error"]["Message"]


def key(user, game="chess"):
    return {"UserId": {"S": user}, "GameTitle": {"S": game}}


@pytest.fixture(scope="module")
def scores(verifying):
    client = verifying.first
    names = ("UserId", "GameTitle")
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": n, "KeyType": k} for n, k in zip(names, ("HASH", "RANGE"), strict=True)],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        BillingMode="PAY_PER_REQUEST",
    )
    for player in PLAYERS:
        client.put_item(TableName=TABLE, Item={**key(player), "TopScore": {"N": "7"}, "Email": {"S": f"{player}@x"}})
    return verifying


@pytest.fixture
def player(scores, tmp_path):
    """Makes clients of users by their names and policies."""

    def make(name, policy):
        file = tmp_path / f"{name}.json"
        file.write_text(policy)
        made = scores.keys("create", "--user", name, "--policy", file)
        client = scores.client(made)
        client.key, client.key_id = made, made["AWS_ACCESS_KEY_ID"]
        return client

    return make


def test_two_players_see_their_own_items_only(player):
    ada, bob = player("ada", OWN_ITEMS), player("bob", OWN_ITEMS)
    assert ada.get_item(TableName=TABLE, Key=key("ada"))["Item"]["Email"] == {"S": "ada@x"}
    assert bob.get_item(TableName=TABLE, Key=key("bob"))["Item"]["Email"] == {"S": "bob@x"}
    assert refusal(lambda: ada.get_item(TableName=TABLE, Key=key("bob"))) == (
        f"User: arn:aws:iam::000000000000:user/ada is not authorized to perform: dynamodb:GetItem on resource: {ARN} "
        "because no identity-based policy allows the dynamodb:GetItem action"
    )
    own = {"KeyConditionExpression": "UserId = :u", "ExpressionAttributeValues": {":u": {"S": "bob"}}}
    assert bob.query(TableName=TABLE, **own)["Count"] == 1
    assert "dynamodb:Query" in refusal(lambda: ada.query(TableName=TABLE, **own))
    both = {TABLE: {"Keys": [key("ada"), key("bob")]}}
    assert "dynamodb:BatchGetItem" in refusal(lambda: ada.batch_get_item(RequestItems=both))
    assert "dynamodb:Scan" in refusal(lambda: ada.scan(TableName=TABLE))
    assert "dynamodb:ListTables" in refusal(ada.list_tables)


def test_a_player_sees_some_attributes_only(player):
    ada = player("ada", OWN_SCORES)
    shown = ada.get_item(TableName=TABLE, Key=key("ada"), ProjectionExpression="GameTitle, TopScore")
    assert shown["Item"] == {"GameTitle": {"S": "chess"}, "TopScore": {"N": "7"}}
    refusal(lambda: ada.get_item(TableName=TABLE, Key=key("ada")))
    refusal(lambda: ada.get_item(TableName=TABLE, Key=key("ada"), ProjectionExpression="Email"))
    refusal(lambda: ada.get_item(TableName=TABLE, Key=key("bob"), ProjectionExpression="TopScore"))


def test_a_policy_that_is_attached_or_detached_counts_from_the_next_request_on(scores, player, tmp_path):
    ada = player("ada", OWN_ITEMS)
    refusal(lambda: ada.describe_table(TableName=TABLE))
    more = tmp_path / "more.json"
    more.write_text(document(statement("DescribeTable")))
    scores.keys("attach", ada.key_id, "--policy", more)
    assert ada.describe_table(TableName=TABLE)["Table"]["TableArn"] == ARN
    scores.keys("detach", ada.key_id, "--policy", "more")
    refusal(lambda: ada.describe_table(TableName=TABLE))


def test_a_table_has_a_word_to_say_too(scores, player):
    root, ada = scores.first, player("ada", OWN_ITEMS)
    principal = {"AWS": "arn:aws:iam::000000000000:user/ada"}
    allowing = {**statement("Scan"), "Principal": principal}
    denying = {**statement("GetItem"), "Principal": principal, "Effect": "Deny"}
    revision = root.put_resource_policy(ResourceArn=ARN, Policy=document(allowing, denying))["RevisionId"]
    try:
        assert ada.scan(TableName=TABLE)["Count"] == len(PLAYERS)
        message = refusal(lambda: ada.get_item(TableName=TABLE, Key=key("ada")))
        assert message.endswith("with an explicit deny in a resource-based policy")
        assert root.get_resource_policy(ResourceArn=ARN)["RevisionId"] == revision
        assert root.get_item(TableName=TABLE, Key=key("ada"))["Item"]
    finally:
        root.delete_resource_policy(ResourceArn=ARN)
    refusal(lambda: ada.scan(TableName=TABLE))


def test_the_command_line_tells_what_the_server_decides(scores, player):
    ada = player("ada", OWN_ITEMS)
    for user, code in (("ada", 0), ("bob", 1)):
        request = json.dumps({"TableName": TABLE, "Key": key(user)})
        told = scores.cli("policy", "explain", "GetItem", request, "--key", ada.key_id, "--data", scores.data)
        assert told.returncode == code, told
        assert f"ForAllValues:StringEquals dynamodb:LeadingKeys: {user}, held against ${{aws:username}}" in told.stdout


def test_functions_are_guarded_too(scores, player):
    functions = scores.client(player("ada", OWN_ITEMS).key, "lambda")
    assert "lambda:ListEventSourceMappings on resource: *" in refusal(functions.list_event_source_mappings)

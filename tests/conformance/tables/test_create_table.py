"""CreateTable: what it takes, what it answers, what it refuses."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from conformance.support.expect import error_of, invalid, refuses
from conformance.support.tables import definitions, table_request, unique_name

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def test_the_answer_shows_the_table_being_created(client):
    request = table_request("pk / sk:N")
    description = client.create_table(**request)["TableDescription"]
    assert description["TableStatus"] == "CREATING"
    assert description["TableName"] == request["TableName"]
    assert description["KeySchema"] == request["KeySchema"]
    assert description["AttributeDefinitions"] == definitions({"pk": "S", "sk": "N"})
    assert description["ItemCount"] == description["TableSizeBytes"] == 0
    assert description["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert description["DeletionProtectionEnabled"] is False
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", description["TableId"])
    assert re.fullmatch(rf"arn:aws:dynamodb:us-east-1:\d{{12}}:table/{request['TableName']}", description["TableArn"])
    assert abs(description["CreationDateTime"] - datetime.now(UTC)) < timedelta(minutes=5)
    for absent in ("WarmThroughput", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "SSEDescription"):
        assert absent not in description
    client.delete_table(TableName=request["TableName"])


def test_a_provisioned_table_has_no_billing_mode_summary(client):
    request = table_request("pk", ProvisionedThroughput=UNITS)
    del request["BillingMode"]
    description = client.create_table(**request)["TableDescription"]
    assert description["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    assert "BillingModeSummary" not in description
    client.delete_table(TableName=request["TableName"])


def test_a_table_can_be_created_with_every_option_at_once(client):
    request = table_request(
        "pk / sk:B",
        local={"by-number": ("pk / n:N", "KEYS_ONLY"), "by-date": ("pk / date", ["a", "b"])},
        global_={"everything": "date / n:N", "some": ("n:N", ["c"])},
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
        WarmThroughput={"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    for index in request["GlobalSecondaryIndexes"]:
        index["ProvisionedThroughput"] = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 3}
    name = request["TableName"]
    created = client.create_table(**request)["TableDescription"]
    assert {index["IndexStatus"] for index in created["GlobalSecondaryIndexes"]} == {"CREATING"}
    assert created["WarmThroughput"]["ReadUnitsPerSecond"] == 13000
    client.get_waiter("table_exists").wait(TableName=name)

    table = client.describe_table(TableName=name)["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert table["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert table["DeletionProtectionEnabled"] is True
    assert table["WarmThroughput"] == {
        "ReadUnitsPerSecond": 13000,
        "WriteUnitsPerSecond": 5000,
        "Status": "ACTIVE",
    }
    local = {index["IndexName"]: index for index in table["LocalSecondaryIndexes"]}
    assert local["by-number"] == {
        "IndexName": "by-number",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "IndexSizeBytes": 0,
        "ItemCount": 0,
        "IndexArn": f"{table['TableArn']}/index/by-number",
    }
    assert sorted(local["by-date"]["Projection"]["NonKeyAttributes"]) == ["a", "b"]
    global_ = {index["IndexName"]: index for index in table["GlobalSecondaryIndexes"]}
    assert global_["everything"]["IndexStatus"] == "ACTIVE"
    assert global_["everything"]["Projection"] == {"ProjectionType": "ALL"}
    assert "Backfilling" not in global_["everything"]
    assert global_["some"]["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 2,
        "WriteCapacityUnits": 3,
    }
    assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "team", "Value": "blue"}]
    client.update_table(TableName=name, DeletionProtectionEnabled=False)
    client.delete_table(TableName=name)


def test_an_on_demand_table_may_limit_its_throughput(make_table):
    table = make_table("pk", OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})
    description = table.describe_table()["Table"]
    assert description["OnDemandThroughput"] == {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}


def test_a_table_accepts_writes_as_soon_as_it_exists(table):
    table.put_item(Item={"pk": {"S": "a"}, "sk": {"S": "b"}})
    assert table.get(pk="a", sk="b") == {"pk": {"S": "a"}, "sk": {"S": "b"}}


def test_a_table_can_exist_only_once(table, client):
    request = {**table_request("pk"), "TableName": table.name}
    with refuses("ResourceInUseException", f"Table already exists: {table.name}"):
        client.create_table(**request)


def attribute(name, kind="S"):
    return {"AttributeName": name, "AttributeType": kind}


def element(name, kind):
    return {"AttributeName": name, "KeyType": kind}


def global_index(name, *schema, projection=None):
    return {"IndexName": name, "KeySchema": list(schema), "Projection": projection or {"ProjectionType": "ALL"}}


PK, SK = element("pk", "HASH"), element("sk", "RANGE")
REFUSED = {
    "throughput of an on-demand table": (
        {"ProvisionedThroughput": UNITS},
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
    ),
    "no throughput of a provisioned table": (
        {"BillingMode": "PROVISIONED"},
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    ),
    "throughput out of bounds": (
        {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": {"ReadCapacityUnits": 1000000000001, "WriteCapacityUnits": 1},
        },
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
    ),
    "a key attribute without definition": (
        {"KeySchema": [PK, SK]},
        "Invalid KeySchema: Some index key attribute have no definition",
    ),
    "a definition that no key uses": (
        {"AttributeDefinitions": [attribute("pk"), attribute("other")]},
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
        "defined in AttributeDefinitions",
    ),
    "a definition that no key or index uses": (
        {
            "AttributeDefinitions": [attribute("pk"), attribute("g"), attribute("other")],
            "GlobalSecondaryIndexes": [global_index("gsi", element("g", "HASH"))],
        },
        INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, g, other], keys used: [pk, g]",
    ),
    "an index key without definition": (
        {"GlobalSecondaryIndexes": [global_index("gsi", element("g", "HASH"))]},
        INVALID
        + "Some index key attributes are not defined in AttributeDefinitions. Keys: [g], AttributeDefinitions: [pk]",
    ),
    "one name for both key attributes": (
        {"KeySchema": [PK, element("pk", "RANGE")]},
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "a first element that is not HASH": (
        {"KeySchema": [element("pk", "RANGE")]},
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    ),
    "a second element that is not RANGE": (
        {
            "KeySchema": [PK, element("sk", "HASH")],
            "AttributeDefinitions": [attribute("pk"), attribute("sk")],
        },
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
    ),
    "an attribute defined twice": (
        {"AttributeDefinitions": [attribute("pk"), attribute("pk", "N")]},
        "Attribute Name is duplicated: pk",
    ),
    "an empty list of local indexes": (
        {"LocalSecondaryIndexes": []},
        INVALID + "List of LocalSecondaryIndexes is empty",
    ),
    "an empty list of global indexes": (
        {"GlobalSecondaryIndexes": []},
        INVALID + "List of GlobalSecondaryIndexes is empty",
    ),
    "a local index on a table without sort key": (
        {"LocalSecondaryIndexes": [global_index("lsi", PK, SK)]},
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
    ),
    "a projection without type": (
        {"GlobalSecondaryIndexes": [{"IndexName": "gsi", "KeySchema": [PK], "Projection": {}}]},
        INVALID + "Unknown ProjectionType: null",
    ),
    "attributes beside projection ALL": (
        {
            "GlobalSecondaryIndexes": [
                global_index("gsi", PK, projection={"ProjectionType": "ALL", "NonKeyAttributes": ["a"]})
            ]
        },
        INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
    ),
    "no attributes with projection INCLUDE": (
        {"GlobalSecondaryIndexes": [global_index("gsi", PK, projection={"ProjectionType": "INCLUDE"})]},
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    "two indexes of one name": (
        {"GlobalSecondaryIndexes": [global_index("gsi", PK), global_index("gsi", PK)]},
        INVALID + "Duplicate index name: gsi",
    ),
    "too many global indexes": (
        {"GlobalSecondaryIndexes": [global_index(f"gsi{number}", PK) for number in range(21)]},
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
    ),
    "throughput of an index of an on-demand table": (
        {"GlobalSecondaryIndexes": [{**global_index("gsi", PK), "ProvisionedThroughput": UNITS}]},
        INVALID + "ProvisionedThroughput should not be specified for index: gsi when BillingMode is PAY_PER_REQUEST",
    ),
    "no throughput of an index of a provisioned table": (
        {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": UNITS,
            "GlobalSecondaryIndexes": [global_index("gsi", PK)],
        },
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    "a sort key before the partition key of an index": (
        {
            "AttributeDefinitions": [attribute("pk"), attribute("a"), attribute("b")],
            "GlobalSecondaryIndexes": [
                global_index("gsi", element("pk", "HASH"), element("a", "RANGE"), element("b", "HASH"))
            ],
        },
        INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
    ),
    "a tag for AWS": (
        {"Tags": [{"Key": "aws:x", "Value": ""}]},
        INVALID + "Tag Key cannot be prefixed with aws:, Key: aws:x",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_a_table_is_refused(client, case):
    changes, message = REFUSED[case]
    assert error_of(client.create_table, **{**table_request("pk"), **changes}) == ("ValidationException", message)


LOCAL_REFUSED = {
    "without sort key": ([PK], INVALID + "Index KeySchema does not have a range key for index: lsi"),
    "with another partition key": (
        [element("other", "HASH"), SK],
        INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for index: lsi. "
        "index hash key: other, table hash key: pk",
    ),
}


@pytest.mark.parametrize("case", LOCAL_REFUSED)
def test_a_local_index_shares_the_partition_key_and_has_a_sort_key(client, case):
    schema, message = LOCAL_REFUSED[case]
    request = table_request("pk / sk", LocalSecondaryIndexes=[global_index("lsi", *schema)])
    request["AttributeDefinitions"].append(attribute("other"))
    with invalid(message):
        client.create_table(**request)


def test_five_local_indexes_are_enough(client):
    request = table_request("pk / sk", local={f"lsi{number}": "pk / other" for number in range(6)})
    with invalid(INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"):
        client.create_table(**request)


@pytest.mark.parametrize("name", ["ab", "a" * 256])
def test_a_table_name_has_3_to_255_characters(client, name):
    bound = "greater than or equal to 3" if len(name) < 3 else "less than or equal to 255"
    with invalid(
        f"1 validation error detected: Value '{name}' at 'tableName' failed to satisfy constraint: "
        f"Member must have length {bound}"
    ):
        client.create_table(**{**table_request("pk"), "TableName": name})


def test_a_table_name_has_no_strange_characters(client):
    with invalid(
        "1 validation error detected: Value 'a/b*c' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    ):
        client.create_table(**{**table_request("pk"), "TableName": "a/b*c"})


def test_a_table_name_is_required(client):
    request = table_request("pk")
    del request["TableName"]
    with invalid("The parameter 'TableName' is required but was not present in the request"):
        client.create_table(**request)


def test_nothing_is_left_of_a_refused_table(client):
    name = unique_name()
    error_of(client.create_table, **{**table_request("pk"), "TableName": name, "KeySchema": [PK, SK]})
    with refuses("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found"):
        client.describe_table(TableName=name)

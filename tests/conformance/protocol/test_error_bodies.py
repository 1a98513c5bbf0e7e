"""Error bodies, byte for byte: type, message, and which of the two spellings of `message`."""

import pytest

from conformance.support.tables import unique_name, wire

SERVICE = "com.amazon.coral.service#"
MODEL = "com.amazonaws.dynamodb.v20120810#"
VALIDATE = "com.amazon.coral.validate#"


def refused(answer):
    assert answer.status == 400
    return answer.json


def test_a_validation_error(http):
    body = refused(http.call("PutItem", {"TableName": "abc"}))
    assert body == {
        "__type": VALIDATE + "ValidationException",
        "message": "1 validation error detected: Value null at 'item' failed to satisfy constraint: "
        "Member must not be null",
    }


def test_a_missing_table(http):
    body = refused(http.call("GetItem", {"TableName": unique_name(), "Key": wire(pk="a")}))
    assert body == {"__type": MODEL + "ResourceNotFoundException", "message": "Requested resource not found"}


def test_a_table_that_exists(http, table):
    request = {
        "TableName": table.name,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    body = refused(http.call("CreateTable", request))
    assert body == {"__type": MODEL + "ResourceInUseException", "message": f"Table already exists: {table.name}"}


def test_a_failed_condition_with_its_item(http, hash_table):
    hash_table.put_item(Item=wire(pk="a", n=1))
    request = {
        "TableName": hash_table.name,
        "Item": wire(pk="a"),
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    body = refused(http.call("PutItem", request))
    assert body == {
        "__type": MODEL + "ConditionalCheckFailedException",
        "Message": "The conditional request failed",
        "Item": wire(pk="a", n=1),
    }


def test_a_cancelled_transaction(http, hash_table):
    check = {"TableName": hash_table.name, "Key": wire(pk="a"), "ConditionExpression": "attribute_exists(pk)"}
    body = refused(http.call("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]}))
    assert body == {
        "__type": MODEL + "TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[ConditionalCheckFailed]",
        "CancellationReasons": [{"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}],
    }


@pytest.mark.parametrize("body", [b"", b"{", b"{'a': 1}", b"nonsense", b'{"TableName": "\xff"}', b'{"a": 01}'])
def test_broken_json_has_no_message(http, body):
    assert refused(http.call("GetItem", body)) == {"__type": SERVICE + "SerializationException"}


def test_an_unknown_operation_has_no_message(http):
    expected = {"__type": SERVICE + "UnknownOperationException"}
    assert refused(http.call("MakeCoffee", {})) == expected
    assert refused(http.call("ListTables", {}, X_Amz_Target=None)) == expected
    assert refused(http.call("ListTables", {}, X_Amz_Target="DynamoDB_20111205.ListTables")) == expected
    assert refused(http.call("ListTables", {}, X_Amz_Target="ListTables")) == expected


def test_broken_json_speaks_before_the_operation_and_the_operation_before_authentication(http):
    unsigned = {"Authorization": None, "X_Amz_Date": None}
    assert refused(http.call("MakeCoffee", b"{", **unsigned)) == {"__type": SERVICE + "SerializationException"}
    assert refused(http.call("MakeCoffee", {}, **unsigned)) == {"__type": SERVICE + "UnknownOperationException"}
    missing = refused(http.call("GetItem", {"TableName": 5}, **unsigned))
    assert missing["__type"] == SERVICE + "MissingAuthenticationTokenException"


def test_nobody_signed(http):
    body = refused(http.call("ListTables", {}, Authorization=None))
    assert body == {
        "__type": SERVICE + "MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }


def test_a_signature_without_its_parts(http):
    body = refused(http.call("ListTables", {}, Authorization="AWS4-HMAC-SHA256", X_Amz_Date=None))
    assert body == {
        "__type": SERVICE + "IncompleteSignatureException",
        "message": "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256",
    }


def test_two_signatures(http):
    target = {"X_Amz_Target": "DynamoDB_20120810.ListTables", "Content_Type": "application/x-amz-json-1.0"}
    answer = http.send("POST", "/?X-Amz-Algorithm=AWS4-HMAC-SHA256", b"{}", Authorization="AWS4-HMAC-SHA256", **target)
    assert refused(answer) == {
        "__type": SERVICE + "InvalidSignatureException",
        "message": "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    }


def attribute(value):
    return {"TableName": "abc", "Item": {"a": value}}


SERIALIZATION = {
    "a number for a string": ("GetItem", {"TableName": 5}, "NUMBER_VALUE cannot be converted to String"),
    "a fraction for a string": ("GetItem", {"TableName": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
    "true for a string": ("GetItem", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
    "false for a string": ("GetItem", {"TableName": False}, "FALSE_VALUE cannot be converted to String"),
    "a list for a string": (
        "GetItem",
        {"TableName": []},
        "Unrecognized collection type class java.lang.String",
    ),
    "an object for a string": (
        "GetItem",
        {"TableName": {}},
        "Start of structure or map found where not expected",
    ),
    "a string for a number": ("Scan", {"Limit": "x"}, "STRING_VALUE cannot be converted to Integer"),
    "a list for an attribute value": (
        "PutItem",
        attribute([]),
        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
    ),
    "a list for a map": (
        "PutItem",
        {"TableName": "abc", "Item": []},
        "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
    ),
    "a string for a map": ("PutItem", {"TableName": "abc", "Item": "x"}, "Unexpected field type"),
    "a string for an attribute value": ("PutItem", attribute("x"), "Unexpected value type in payload"),
    "a number for a number": ("PutItem", attribute({"N": 3}), "NUMBER_VALUE cannot be converted to String"),
    "a word for a boolean": ("PutItem", attribute({"BOOL": "maybe"}), "Unexpected token received from parser"),
    "text for a binary": (
        "PutItem",
        attribute({"B": "abc"}),
        "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
    ),
    "a number for a binary": (
        "PutItem",
        attribute({"B": 5}),
        "only base-64-encoded strings are convertible to bytes",
    ),
}


@pytest.mark.parametrize("case", SERIALIZATION)
def test_a_member_of_the_wrong_json_type(http, case):
    operation, request, message = SERIALIZATION[case]
    assert refused(http.call(operation, request)) == {
        "__type": SERVICE + "SerializationException",
        "Message": message,
    }


def test_a_wrong_type_speaks_before_a_constraint(http):
    body = refused(http.call("PutItem", {"TableName": "", "ReturnValues": "x", "Item": {"a": {"S": 5}}}))
    assert body["Message"] == "NUMBER_VALUE cannot be converted to String"


def test_unknown_members_are_ignored_and_null_is_absence(http, hash_table):
    request = {
        "TableName": hash_table.name,
        "Item": wire(pk="a"),
        "ConditionExpression": None,
        "ReturnValues": None,
        "Color": {"is": ["red"]},
    }
    assert http.call("PutItem", request).json == {}


def test_fractions_for_integers_are_floored(http, hash_table):
    hash_table.fill([{"pk": str(number)} for number in range(5)])
    assert http.call("Scan", {"TableName": hash_table.name, "Limit": 2.9}).json["Count"] == 2


@pytest.mark.parametrize(("text", "value"), [("true", True), ("YES", True), ("0", False), ("No", False)])
def test_words_for_booleans_are_understood(http, hash_table, text, value):
    http.call("PutItem", {"TableName": hash_table.name, "Item": {"pk": {"S": "a"}, "b": {"BOOL": text}}})
    assert hash_table.get(pk="a")["b"] == {"BOOL": value}


def test_answers_are_the_same_bytes_whoever_asks(http, hash_table):
    hash_table.put_item(Item=wire(pk="a", n=1, l=["x"]))
    body = http.call("GetItem", {"TableName": hash_table.name, "Key": wire(pk="a")}).body
    assert body == b'{"Item":{"pk":{"S":"a"},"n":{"N":"1"},"l":{"L":[{"S":"x"}]}}}'


def test_text_of_any_script_survives(http, hash_table):
    text = '\u0000\u001f"\\/ ä ﬀ \u2028 🎈 \ud7ff'
    request = {"TableName": hash_table.name, "Item": {"pk": {"S": "a"}, "t": {"S": text}, text: {"S": ""}}}
    assert http.call("PutItem", request).status == 200
    item = http.call("GetItem", {"TableName": hash_table.name, "Key": wire(pk="a")}).json["Item"]
    assert item == request["Item"]

"""Bodies made to take long: each is refused in little more than the time it takes to parse it."""

import re
import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import ApiError, Engine, expect
from hashrange.http.large_bodies import brackets
from hashrange.http.overload import undisturbed
from hashrange.validation.schema import SERVICES, schema_of

BODY_BYTES = 4 * 1024 * 1024  # a quarter of what is allowed, to be quick
TOO_LARGE = "Item size has exceeded the maximum allowed size"
TOO_MANY_BRACKETS = "A request may not have more than 1,000,000 lists and objects."


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    engine.create_table("table")
    return engine


def filled(start, unit, end):
    """As many of one element as fit."""
    count = (BODY_BYTES - len(start) - len(end)) // (len(unit) + 1)
    return start + b",".join([unit] * count) + end


def numbered(start, unit, end):
    """As many different members as fit."""
    count = (BODY_BYTES - len(start) - len(end)) // (len(unit % 1_000_000) + 1)
    return start + b",".join(unit % number for number in range(1_000_000, 1_000_000 + count)) + end


def item(start, unit, end):
    return filled(b'{"TableName":"table","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"x":' + start, unit, end + b"}}")


UPDATE = b'{"TableName":"table","Key":{"pk":{"S":"a"},"sk":{"S":"b"}},"UpdateExpression":"SET a=:a",'
TABLE = b'{"TableName":"other","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":['
TOO_MANY = r"Member must have length less than or equal to \d+"

HOSTILE = {
    "a list": ("PutItem", item(b'{"L":[', b'{"S":""}', b"]}"), TOO_LARGE),
    "lists in lists": ("PutItem", item(b'{"L":[', b'{"L":[' * 30 + b"]}" * 30, b"]}"), TOO_MANY_BRACKETS),
    "lists in lists, not as many": (
        "PutItem",
        item(b'{"L":[', b'{"L":[' * 30 + b'{"S":"xxxxxxxxxx"}' + b"]}" * 30, b"]}"),
        TOO_LARGE,
    ),
    "a string set": ("PutItem", item(b'{"SS":[', b'"a"', b"]}"), TOO_LARGE),
    "a number set": ("PutItem", item(b'{"NS":[', b'"1"', b"]}"), TOO_LARGE),
    "attributes": (
        "PutItem",
        numbered(b'{"TableName":"table","Item":{"pk":{"S":"a"},"sk":{"S":"b"},', b'"%d":{"S":""}', b"}}"),
        TOO_LARGE,
    ),
    "a key": (
        "GetItem",
        filled(b'{"TableName":"table","Key":{"pk":{"L":[', b'{"S":""}', b"]}}}"),
        "does not match the schema",
    ),
    "values": (
        "UpdateItem",
        numbered(UPDATE + b'"ExpressionAttributeValues":{', b'":%d":{"S":""}', b"}}"),
        TOO_MANY,
    ),
    "a value": (
        "UpdateItem",
        filled(UPDATE + b'"ExpressionAttributeValues":{":a":{"L":[', b'{"S":""}', b"]}}}"),
        "Item size to update has exceeded the maximum allowed size",
    ),
    "names": ("UpdateItem", numbered(UPDATE + b'"ExpressionAttributeNames":{', b'"#%d":"a"', b"}}"), TOO_MANY),
    "indexes": (
        "CreateTable",
        filled(TABLE + b'],"GlobalSecondaryIndexes":[', b"{}", b"]}"),
        TOO_MANY_BRACKETS,
    ),
    "definitions": ("CreateTable", filled(TABLE, b'{"AttributeName":"a","AttributeType":"S"}', b"]}"), TOO_MANY),
    "expected": (
        "PutItem",
        numbered(b'{"TableName":"table","Item":{},"Expected":{', b'"%d":{"Exists":false}', b"}}"),
        TOO_MANY,
    ),
    "tags": ("TagResource", filled(b'{"ResourceArn":"a","Tags":[', b'{"Key":"a","Value":"b"}', b"]}"), TOO_MANY),
    "parameters": (
        "ExecuteStatement",
        filled(b'{"Statement":"SELECT * FROM a WHERE b=?","Parameters":[', b'{"S":""}', b"]}"),
        TOO_MANY,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_millions_of_elements_are_refused_soon(engine, name):
    operation, body, message = HOSTILE[name]
    started = time.process_time()
    with pytest.raises(ApiError) as caught:
        undisturbed(lambda _: engine.send(operation, body))(None)  # as the door does
    assert time.process_time() - started < 1.0  # most of them took between three seconds and half a minute
    assert caught.value.code == "ValidationException"
    assert re.search(message, caught.value.message)
    assert len(caught.value.message) < 200_000


def test_an_item_a_little_too_large_is_told_all_that_is_wrong_with_it(engine):
    attributes = {"pk": {"S": "a"}, "sk": {"S": "b"}, "x": {"S": "x" * 500_000}}
    expect("ValidationException", TOO_LARGE, lambda: engine.call("PutItem", TableName="table", Item=attributes))
    wrong = {**attributes, "y": {"L": [{"S": 1}]}}
    expect(
        "SerializationException",
        "NUMBER_VALUE cannot be converted to String",
        lambda: engine.call("PutItem", TableName="table", Item=wrong),
    )


def test_a_member_of_the_wrong_type_still_speaks_before_other_errors(engine):
    request = {
        "TableName": "table",
        "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "x"}, "y": {"M": {"z": {"SS": [1]}}}},
    }
    expect(
        "SerializationException",
        "NUMBER_VALUE cannot be converted to String",
        lambda: engine.call("PutItem", **request),
    )


def test_a_value_that_can_be_converted_is_converted_beside_others_that_were_looked_at(engine):
    engine.call(
        "PutItem",
        TableName="table",
        Item={"pk": {"S": "c"}, "sk": {"S": "d"}, "n": {"N": "1.0"}, "s": {"SS": ["b", "a"]}, "t": {"BOOL": "true"}},
    )
    stored = engine.call("GetItem", TableName="table", Key={"pk": {"S": "c"}, "sk": {"S": "d"}})["Item"]
    assert (stored["n"], stored["s"], stored["t"]) == ({"N": "1"}, {"SS": ["a", "b"]}, {"BOOL": True})


def test_all_values_of_a_request_may_have_two_megabytes(engine):
    values = {f":{number}": {"S": "x" * 300_000} for number in range(7)}
    expect(
        "ValidationException",
        "1 validation error detected: ExpressionAttributeValues exceeds max size",
        lambda: engine.call(
            "UpdateItem",
            TableName="table",
            Key={"pk": {"S": "a"}, "sk": {"S": "b"}},
            UpdateExpression="SET a=:0, b=:1, c=:2, d=:3, e=:4, f=:5, g=:6",
            ExpressionAttributeValues=values,
        ),
    )


def test_brackets_are_counted_outside_strings_only():
    document = {"a{": ["[{", "\\", '\\"{', '{"', {}, [[]], "", '"'], "": {"b": '{"c": [1, 2]}'}, "[": "{"}
    structure = 6  # the document, three lists and two objects in it
    assert brackets(orjson.dumps(document)) == structure
    assert brackets(orjson.dumps(orjson.dumps(document).decode())) == 0
    assert brackets(orjson.dumps([document, orjson.dumps(document).decode(), document])) == 1 + 2 * structure


@given(st.recursive(st.text('"\\[{}a'), lambda inner: st.lists(inner) | st.dictionaries(st.text('"\\[{}a'), inner)))
def test_brackets_are_counted_as_the_parser_sees_them(document):
    def count(value):
        if isinstance(value, str):
            return 0
        return 1 + sum(map(count, value.values() if isinstance(value, dict) else value))

    assert brackets(orjson.dumps(document)) == count(document)


def test_strings_full_of_brackets_are_no_lists(engine):
    engine.call(
        "BatchWriteItem",
        RequestItems={
            "table": [
                {
                    "PutRequest": {
                        "Item": {"pk": {"S": "brackets"}, "sk": {"S": str(number)}, "x": {"S": "[{" * 190_000}}
                    }
                }
                for number in range(4)
            ]
        },
    )


def test_json_nested_without_end_is_refused(engine):
    expect("SerializationException", None, lambda: engine.send("PutItem", b"[" * 1_000_000))
    expect("SerializationException", None, lambda: engine.send("PutItem", b'{"a":' * 1_000_000))


# ---- Patterns ------------------------------------------------------------------------------------------------------

PATTERNS = sorted(
    {
        (service, name)
        for service in SERVICES
        for name, raw in orjson.loads(orjson.dumps(schema_of(service)._raw)).items()
        if "pattern" in raw
    }
)


@pytest.mark.parametrize(("service", "name"), PATTERNS)
def test_no_pattern_takes_long_for_a_text_that_almost_matches(service, name):
    matches = schema_of(service).shape(name).matches
    started = time.process_time()
    for unit in ("a", "0", "-", ".", "a.", "0123456789abcdef", " "):
        for end in ("", "!", "\0", "$", "\n"):
            matches.fullmatch(unit * (20_000 // len(unit)) + end)
    assert time.process_time() - started < 0.5


def test_a_bucket_name_is_what_it_was_before_its_pattern_was_made_quick():
    matches = schema_of("dynamodb").shape("S3Bucket").matches
    slow = re.compile(r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$", re.ASCII)
    alphabet = "a.-_!"
    texts = [""] + [a + b + c + d for a in alphabet for b in alphabet for c in ("", *alphabet) for d in ("", *alphabet)]
    assert [bool(matches.fullmatch(text)) for text in texts] == [bool(slow.fullmatch(text)) for text in texts]

"""Keys that are missing, of the wrong type, or too many."""

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import values, wire

INVALID = "One or more parameter values were invalid: "
MISMATCH = "The provided key element does not match the schema"
EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "

WRONG_ITEMS = {
    "no partition key": (wire(sk=1), INVALID + "Missing the key pk in the item"),
    "no sort key": (wire(pk="a"), INVALID + "Missing the key sk in the item"),
    "partition key of the wrong type": (
        wire(pk=1, sk=1),
        INVALID + "Type mismatch for key pk expected: S actual: N",
    ),
    "sort key of the wrong type": (
        wire(pk="a", sk=True),
        INVALID + "Type mismatch for key sk expected: N actual: BOOL",
    ),
    "null": (wire(pk=None, sk=1), INVALID + "Type mismatch for key pk expected: S actual: NULL"),
    "empty": (wire(pk="", sk=1), EMPTY + "string value. Key: pk"),
}


@pytest.fixture(scope="module")
def numbered(create_table):
    table = create_table("pk / sk:N", global_={"gsi": "g / h:B"})
    yield table
    table.delete_table()


@pytest.mark.parametrize("case", WRONG_ITEMS)
def test_an_item_must_have_its_key(numbered, case):
    item, message = WRONG_ITEMS[case]
    with invalid(message):
        numbered.put_item(Item=item)


WRONG_KEYS = {
    "nothing": {},
    "no sort key": wire(pk="a"),
    "one attribute too many": wire(pk="a", sk=1, x=1),
    "another name": wire(pk="a", other=1),
    "another type": wire(pk="a", sk="1"),
    "a list": {"pk": {"L": []}, "sk": {"N": "1"}},
}


@pytest.mark.parametrize("case", WRONG_KEYS)
def test_a_key_must_match_the_schema(numbered, client, case):
    key = WRONG_KEYS[case]
    refused = ("ValidationException", MISMATCH)
    assert error_of(numbered.get_item, Key=key) == refused
    assert error_of(numbered.delete_item, Key=key) == refused
    assert error_of(numbered.update_item, Key=key) == refused
    assert error_of(client.batch_get_item, RequestItems={numbered.name: {"Keys": [key]}}) == refused
    requests = {numbered.name: [{"DeleteRequest": {"Key": key}}]}
    assert error_of(client.batch_write_item, RequestItems=requests) == refused


def test_an_empty_key_is_told_by_its_type(make_table):
    table = make_table("pk:B / sk")
    with invalid(EMPTY + "binary value. Key: pk"):
        table.get_item(Key=wire(pk=b"", sk="a"))
    with invalid(EMPTY + "string value. Key: sk"):
        table.delete_item(Key=wire(pk=b"a", sk=""))


def test_an_index_key_must_have_its_type(numbered):
    mismatch = INVALID + "Type mismatch for Index Key g Expected: S Actual: {} IndexName: gsi"
    with invalid(mismatch.format("N")):
        numbered.put_item(Item=wire(pk="a", sk=1, g=1))
    with invalid(mismatch.format("NULL")):
        numbered.put_item(Item=wire(pk="a", sk=1, g=None))
    with invalid(mismatch.format("M")):
        numbered.update_item(
            Key=wire(pk="a", sk=1), UpdateExpression="SET g = :v", ExpressionAttributeValues=values(v={})
        )


def test_an_index_key_that_an_update_computes_must_have_its_type(numbered):
    numbered.put_item(Item=wire(pk="a", sk=1, n=1))
    for value in ("n", "n + n", "if_not_exists(absent, n)"):
        with invalid("The update expression attempted to update the secondary index key to unsupported type"):
            numbered.update_item(Key=wire(pk="a", sk=1), UpdateExpression=f"SET g = {value}")


def test_an_index_key_must_not_be_empty(numbered):
    with invalid(
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: gsi, IndexKey: g"
    ):
        numbered.put_item(Item=wire(pk="a", sk=1, g=""))
    with invalid(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key "
        "to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty binary value."
    ):
        numbered.update_item(
            Key=wire(pk="a", sk=1), UpdateExpression="SET h = :v", ExpressionAttributeValues=values(v=b"")
        )


def test_a_key_is_a_scalar(numbered):
    message = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"
    with invalid(message):
        numbered.put_item(Item=wire(pk="a", sk=1), ConditionExpression="attribute_exists(pk.x)")
    with invalid(message):
        numbered.update_item(
            Key=wire(pk="a", sk=1), UpdateExpression="SET pk[0] = :v", ExpressionAttributeValues=values(v=1)
        )

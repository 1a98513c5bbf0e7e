"""Attribute values: types, normalisation, and what is not a value."""

from decimal import Decimal

import pytest

from conformance.support.expect import ENVELOPE, error_of
from conformance.support.tables import wire

INVALID = "One or more parameter values were invalid: "
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"

NUMBERS = {
    "0": "0",
    "-0": "0",
    "+5": "5",
    ".5": "0.5",
    "5.": "5",
    "1.e5": "100000",
    "007.500": "7.5",
    "1e3": "1000",
    "-1.5E-3": "-0.0015",
    "1E125": "1" + "0" * 125,
    "9.9999999999999999999999999999999999999E+125": "9" * 38 + "0" * 88,
    "1E-130": "0." + "0" * 129 + "1",
    "12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
    "0.1" + "0" * 60: "0.1",
    "0e125": "0",
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_come_back_in_one_form(hash_table, text):
    hash_table.put_item(Item={"pk": {"S": "a"}, "n": {"N": text}, "s": {"NS": [text]}, "l": {"L": [{"N": text}]}})
    item = hash_table.get(pk="a")
    assert item["n"] == {"N": NUMBERS[text]}
    assert item["s"] == {"NS": [NUMBERS[text]]}
    assert item["l"] == {"L": [{"N": NUMBERS[text]}]}


def test_numbers_as_keys_are_equal_by_value(make_table):
    table = make_table("pk:N")
    table.put_item(Item={"pk": {"N": "1000"}, "v": {"S": "first"}})
    table.put_item(Item={"pk": {"N": "1e3"}, "v": {"S": "second"}})
    assert table.scan()["Items"] == [{"pk": {"N": "1000"}, "v": {"S": "second"}}]
    assert table.get_item(Key={"pk": {"N": "+1000.0"}})["Item"]["v"] == {"S": "second"}


NOT_NUMBERS = {
    "": "The parameter cannot be converted to a numeric value: ",
    "abc": "The parameter cannot be converted to a numeric value: abc",
    " 1": "The parameter cannot be converted to a numeric value:  1",
    "1 ": "The parameter cannot be converted to a numeric value: 1 ",
    "1e": "The parameter cannot be converted to a numeric value: 1e",
    "1.2.3": "The parameter cannot be converted to a numeric value: 1.2.3",
    "0x10": "The parameter cannot be converted to a numeric value: 0x10",
    "NaN": "The parameter cannot be converted to a numeric value: NaN",
    "Infinity": "The parameter cannot be converted to a numeric value: Infinity",
    "1E126": OVERFLOW,
    "-1E126": OVERFLOW,
    "1E-131": UNDERFLOW,
    "1" * 39: "Attempting to store more than 38 significant digits in a Number",
}


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_not_a_number_is_refused(hash_table, text):
    refused = ("ValidationException", ENVELOPE + NOT_NUMBERS[text])
    for value in ({"N": text}, {"L": [{"M": {"x": {"N": text}}}]}, {"NS": ["1", text]}):
        assert error_of(hash_table.put_item, Item={"pk": {"S": "a"}, "n": value}) == refused


REFUSED = {
    "an empty string set": ({"SS": []}, ENVELOPE + INVALID + "An string set  may not be empty"),
    "an empty number set": ({"NS": []}, ENVELOPE + INVALID + "An number set  may not be empty"),
    "an empty binary set": ({"BS": []}, ENVELOPE + INVALID + "Binary sets should not be empty"),
    "a string twice in a set": (
        {"SS": ["b", "a", "b"]},
        ENVELOPE + INVALID + 'Input collection ["a", "b", "b"] contains duplicates.',
    ),
    "a number twice in a set": (
        {"NS": ["1", "2", "1.0"]},
        ENVELOPE + INVALID + "Input collection contains duplicates.",
    ),
    "a binary twice in a set": (
        {"BS": [b"\0", b"\xff", b"\0"]},
        ENVELOPE + INVALID + 'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
    ),
    "NULL false": ({"NULL": False}, ENVELOPE + INVALID + "Null attribute value types must have the value of true"),
    "no type": ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    "two types": (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_a_value_is_refused_at_any_depth(hash_table, case):
    value, message = REFUSED[case]
    for wrapped in (value, {"L": [value]}, {"M": {"x": {"L": [value]}}}):
        assert error_of(hash_table.put_item, Item={"pk": {"S": "a"}, "v": wrapped}) == ("ValidationException", message)


def nested(levels, kind):
    value = {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"x": value}} if kind == "M" else {"L": [value]}
    return value


@pytest.mark.parametrize("kind", ["M", "L"])
def test_a_value_may_be_nested_31_levels_deep(hash_table, kind):
    item = {"pk": {"S": "a"}, "v": nested(31, kind)}
    hash_table.put_item(Item=item)
    assert hash_table.get(pk="a") == item
    code, message = error_of(hash_table.put_item, Item={"pk": {"S": "a"}, "v": nested(32, kind)})
    assert (code, message.removeprefix(ENVELOPE)) == (
        "ValidationException",
        "Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit",
    )


def test_sets_keep_every_member_and_come_back_sorted(hash_table):
    hash_table.put_item(
        Item={
            "pk": {"S": "a"},
            "ss": {"SS": ["b", "ä", "a", "B"]},
            "ns": {"NS": ["10", "9", "-1", "1e10"]},
            "bs": {"BS": [b"\xff", b"", b"\x00"]},
        }
    )
    item = hash_table.get(pk="a")
    assert item["ss"] == {"SS": ["B", "a", "b", "ä"]}
    assert item["ns"] == {"NS": ["-1", "9", "10", "10000000000"]}
    assert item["bs"] == {"BS": [b"", b"\x00", b"\xff"]}


def test_binary_values_and_keys_come_back_byte_for_byte(make_table):
    table = make_table("pk:B / sk:B")
    every_byte = bytes(range(256))
    item = wire(pk=every_byte, sk=every_byte[::-1], v=every_byte * 10, m={"x": b"\x00"})
    table.put_item(Item=item)
    assert table.get(pk=every_byte, sk=every_byte[::-1]) == item


def test_the_resource_speaks_python(resource, table):
    shelf = resource.Table(table.name)
    item = {"pk": "a", "sk": "b", "price": Decimal("1.10"), "tags": {"x", "y"}, "list": [Decimal(1), None, True]}
    shelf.put_item(Item=item)
    assert shelf.get_item(Key={"pk": "a", "sk": "b"})["Item"] == {**item, "price": Decimal("1.1")}

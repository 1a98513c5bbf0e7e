"""Query: every key condition on every type of sort key, in both directions."""

import operator
import re
from decimal import Decimal

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import all_items, values

SORT_KEYS = {
    "S": ["A", "B", "a", "aa", "ab", "b", "é", "ﬀ", "🎈"],
    "N": [Decimal(text) for text in ("-1E125", "-12", "-2", "-0.5", "0", "1E-130", "0.5", "2", "10", "1E125")],
    "B": [b"\x00", b"\x00\x00", b"\x01", b"a", b"a\x00", b"aa", b"b", b"\xfe\xff", b"\xff"],
}
OPERATORS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@pytest.fixture(scope="module", params=SORT_KEYS)
def sorted_table(request, create_table):
    """A table with a partition to find things in, and neighbours that must never be found."""
    keys = SORT_KEYS[request.param]
    table = create_table(f"pk / sk:{request.param}")
    table.fill({"pk": pk, "sk": sk, "number": number} for pk in ("a", "b", "ab") for number, sk in enumerate(keys))
    yield table, keys
    table.delete_table()


def query(table, condition, *, forward=True, **given):
    request = {
        "KeyConditionExpression": f"pk = :pk AND {condition}" if condition else "pk = :pk",
        "ExpressionAttributeValues": values(pk="a", **given),
        "ScanIndexForward": forward,
    }
    whole = [int(item["number"]["N"]) for item in all_items(table.query, **request)]
    assert [int(item["number"]["N"]) for item in all_items(table.query, **request, Limit=2)] == whole
    return whole


def expected(keys, matches, *, forward):
    numbers = [number for number, key in enumerate(keys) if matches(key)]
    return numbers if forward else numbers[::-1]


@pytest.mark.parametrize("forward", [True, False])
def test_a_partition_is_read_in_the_order_of_its_sort_key(sorted_table, forward):
    table, keys = sorted_table
    assert query(table, "", forward=forward) == expected(keys, lambda _: True, forward=forward)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("symbol", OPERATORS)
def test_a_comparison_selects_a_range(sorted_table, symbol, forward):
    table, keys = sorted_table
    for bound in (keys[0], keys[3], keys[4], keys[-1]):
        matches = expected(keys, lambda key, bound=bound: compare(symbol, key, bound), forward=forward)
        assert query(table, f"sk {symbol} :v", forward=forward, v=bound) == matches


def compare(symbol, key, bound):
    if isinstance(key, str):
        key, bound = key.encode(), bound.encode()
    return OPERATORS[symbol](key, bound)


@pytest.mark.parametrize("forward", [True, False])
def test_between_includes_both_ends(sorted_table, forward):
    table, keys = sorted_table
    for low, high in ((0, -1), (2, 5), (4, 4)):
        matches = expected(
            keys,
            lambda key, low=low, high=high: compare(">=", key, keys[low]) and compare("<=", key, keys[high]),
            forward=forward,
        )
        assert query(table, "sk BETWEEN :v AND :w", forward=forward, v=keys[low], w=keys[high]) == matches


@pytest.mark.parametrize("forward", [True, False])
def test_begins_with_selects_a_prefix(sorted_table, forward):
    table, keys = sorted_table
    if isinstance(keys[0], Decimal):
        return
    for prefix in (keys[0], keys[3], keys[-1], keys[5] + keys[5]):
        matches = expected(keys, lambda key, prefix=prefix: key.startswith(prefix), forward=forward)
        assert query(table, "begins_with(sk, :v)", forward=forward, v=prefix) == matches


def test_a_condition_may_be_written_the_other_way_round(sorted_table):
    table, keys = sorted_table
    above = expected(keys, lambda key: compare(">", key, keys[3]), forward=True)
    assert query(table, ":v < sk", v=keys[3]) == above
    found = table.query(
        KeyConditionExpression="(#s > :v) AND (:pk = pk)",
        ExpressionAttributeNames={"#s": "sk"},
        ExpressionAttributeValues=values(pk="a", v=keys[3]),
    )
    assert found["Count"] == len(above)


def test_another_type_than_the_schema_says_is_refused(sorted_table):
    table, keys = sorted_table
    for condition, wrong in (("sk = :v", True), ("sk > :v", "text" if keys is SORT_KEYS["N"] else 1)):
        with invalid("One or more parameter values were invalid: Condition parameter type does not match schema type"):
            query(table, condition, v=wrong)


INVALID_CONDITION = "Invalid condition in KeyConditionExpression: "
PREFIX = "Invalid KeyConditionExpression: "
REFUSED = {
    "pk > :s": "Query key condition not supported",
    "begins_with(pk, :s)": "Query key condition not supported",
    "sk = :s": "Query condition missed key schema element: pk",
    "pk = :s AND extra = :s": "Query condition missed key schema element: sk",
    "pk = :s OR sk = :s": "Invalid operator used in KeyConditionExpression: OR",
    "NOT pk = :s": "Invalid operator used in KeyConditionExpression: NOT",
    "pk = :s AND sk <> :s": "Invalid operator used in KeyConditionExpression: <>",
    "pk = :s AND sk IN (:s)": "Invalid operator used in KeyConditionExpression: IN",
    "pk = :s AND attribute_exists(sk)": "Invalid operator used in KeyConditionExpression: attribute_exists",
    "pk = :s AND contains(sk, :s)": "Invalid operator used in KeyConditionExpression: contains",
    "pk = :s AND size(sk) = :n": PREFIX + "KeyConditionExpressions cannot contain nested operations",
    "pk = :s AND sk.x = :s": PREFIX + "KeyConditionExpressions cannot have conditions on nested attributes",
    "pk = :s AND pk = :s": PREFIX + "KeyConditionExpressions must only contain one condition per key",
    "pk = sk": INVALID_CONDITION + "Multiple attribute names used in one condition",
    "pk = :s AND :s = :s": INVALID_CONDITION + "No key attribute specified",
    "pk = :s AND :s BETWEEN sk AND :s": (
        INVALID_CONDITION + "BETWEEN operator must have the key attribute as its first operand"
    ),
    "pk = :s AND begins_with(:s, sk)": (
        INVALID_CONDITION + "begins_with operator must have the key attribute as its first operand"
    ),
    "pk = :s AND sk = :s AND extra = :s": (
        "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"
    ),
    "pk = :n": "One or more parameter values were invalid: Condition parameter type does not match schema type",
    "pk = :empty": (
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: pk"
    ),
    "pk = :s AND sk BETWEEN :z AND :s": (
        PREFIX + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:s}"
    ),
    "pk = :s AND sk BETWEEN :n AND :s": (
        PREFIX + "The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:s}"
    ),
    "pk = :s AND begins_with(sk, :n)": (
        PREFIX + "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"
    ),
    "": PREFIX + "The expression can not be empty;",
}
GIVEN = {"s": "s", "n": 1, "z": "z", "empty": ""}


@pytest.fixture(scope="module")
def plain(create_table):
    table = create_table()
    yield table
    table.delete_table()


@pytest.mark.parametrize("condition", REFUSED)
def test_what_is_not_a_key_condition_is_refused(plain, condition):
    given = {name: GIVEN[name] for name in re.findall(r":(\w+)", condition)}
    request = {"ExpressionAttributeValues": values(**given)} if given else {}
    refused = ("ValidationException", REFUSED[condition])
    assert error_of(plain.query, KeyConditionExpression=condition, **request) == refused


def test_a_query_has_a_key_condition(plain):
    with invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."):
        plain.query()


def test_a_table_without_sort_key_takes_no_second_condition(hash_table):
    with invalid("Query key condition not supported"):
        hash_table.query(KeyConditionExpression="pk = :s AND sk = :s", ExpressionAttributeValues=values(s="s"))

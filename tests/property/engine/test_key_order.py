"""Laws of sort keys: a query answers in the order of the values, and selects what Python's comparisons select."""

from __future__ import annotations

import base64
import operator
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from property.engine.client import Client, examples, in_memory, on_disk
from property.engine.values_model import Attributes, Value, comparable, normal

TABLE = "order"
COMPARISONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SOURCES: dict[str, dict[str, Any]] = {
    "pk": {"TableName": TABLE},
    "g": {"TableName": TABLE, "IndexName": "by-g"},
    "h": {"TableName": TABLE, "IndexName": "by-h"},
}
"""The three places that hold the same values as sort keys: the table, an index, and an index that ends otherwise."""


def long_enough(parts: tuple[bytes, int, bytes]) -> bytes:
    """Few different long beginnings, so that keys differ late; at most 1024 bytes."""
    head, count, tail = parts
    return (head * count + tail)[:1024]


BLOBS = st.one_of(
    st.lists(st.sampled_from([0, 1, 2, 97, 254, 255]), min_size=1, max_size=4).map(bytes),
    st.binary(min_size=1, max_size=6),
    st.tuples(
        st.sampled_from([b"\x00", b"a", b"\xff", b"\x00\xff", b"\x00\x01"]),
        st.sampled_from([230, 450, 479, 480, 481, 500, 1023, 1024]),
        st.binary(min_size=1, max_size=3),
    ).map(long_enough),
)
TEXTS = st.one_of(
    st.text("\x00\x01ab\x7f\x80é\uffff\U0001f600", min_size=1, max_size=4),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=4),
    st.tuples(
        st.sampled_from(["a", "\x00", "é"]), st.sampled_from([230, 455, 480, 511]), st.text("\x00a\x7fé", max_size=3)
    ).map(lambda parts: (parts[0] * parts[1] + parts[2])[:512]),
)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Anything that can be stored, written in any way: up to 38 digits, any exponent, either sign."""
    digits = draw(st.one_of(st.integers(0, 120), st.integers(0, 10**38 - 1)))
    exponent = draw(st.one_of(st.integers(-3, 3), st.integers(-130, 125 - len(str(digits)) + 1)))
    sign = draw(st.sampled_from(["", "-"]))
    return f"{sign}{digits}e{exponent}" if exponent or draw(st.booleans()) else f"{sign}{digits}"


def binary(data: bytes) -> Value:
    return {"B": base64.b64encode(data).decode()}


VALUES: dict[str, st.SearchStrategy[Value]] = {
    "S": TEXTS.map(lambda text: {"S": text}),
    "N": numbers().map(lambda text: {"N": text}),
    "B": BLOBS.map(binary),
}
KEYS = st.sampled_from("SNB").flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(VALUES[kind], min_size=1, max_size=12, unique_by=lambda value: comparable(normal(value))),
        st.lists(VALUES[kind], min_size=2, max_size=2),
    )
)
Keys = tuple[str, list[Value], list[Value]]


def create(client: Client, kind: str) -> None:
    projection = {"Projection": {"ProjectionType": "ALL"}}

    def schema(*names: str) -> list[dict[str, str]]:
        return [
            {"AttributeName": name, "KeyType": "HASH" if position == 0 else "RANGE"}
            for position, name in enumerate(names)
        ]

    client.call(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            *({"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g", "h", "last")),
            {"AttributeName": "sk", "AttributeType": kind},
        ],
        KeySchema=schema("pk", "sk"),
        GlobalSecondaryIndexes=[
            {"IndexName": "by-g", "KeySchema": schema("g", "sk"), **projection},
            {"IndexName": "by-h", "KeySchema": schema("h", "sk", "last"), **projection},
        ],
    )


def fill(client: Client, values: list[Value]) -> list[Attributes]:
    """Put an item for each value, and one in a neighbouring partition; the items in the order of the values."""
    items = []
    for value in values:
        item = {"sk": value, **{name: {"S": "x"} for name in ("pk", "g", "h", "last")}}
        if "N" not in value and len(comparable(value)) == 1024:
            item.pop("last")  # together they would be too long
        client.call("PutItem", TableName=TABLE, Item=item)
        client.call("PutItem", TableName=TABLE, Item={**item, **{name: {"S": "y"} for name in ("pk", "g", "h")}})
        items.append({**item, "sk": normal(value)})
    return sorted(items, key=lambda item: comparable(item["sk"]))


def query(client: Client, partition: str, condition: str = "", **values: Value) -> list[Any]:
    members = {
        **SOURCES[partition],
        "KeyConditionExpression": f"{partition} = :p" + (f" AND {condition}" if condition else ""),
        "ExpressionAttributeValues": {":p": {"S": "x"}, **{f":{name}": value for name, value in values.items()}},
    }
    forward = client.items("Query", **members)
    backward = client.items("Query", **members, ScanIndexForward=False)
    assert backward == forward[::-1]
    if not condition.startswith("sk = "):  # a query for one sort key cannot be restarted
        assert client.items("Query", **members, Limit=1) == forward
    return forward


def check_order_and_ranges(client: Client, drawn: Keys) -> None:
    kind, values, others = drawn
    create(client, kind)
    everything = fill(client, values)
    for partition in SOURCES:
        items = everything if partition != "h" else [item for item in everything if "last" in item]
        assert query(client, partition) == items
        for operand in (*others, values[0]):
            check_comparisons(client, partition, items, operand)
        low, high = sorted(map(normal, others), key=comparable)
        bounds = comparable(low), comparable(high)
        between = [item for item in items if bounds[0] <= comparable(item["sk"]) <= bounds[1]]
        assert query(client, partition, "sk BETWEEN :low AND :high", low=low, high=high) == between
    assert client.problems() == []


def check_comparisons(client: Client, partition: str, items: list[Attributes], operand: Value) -> None:
    bound = comparable(normal(operand))
    for sign, compare in COMPARISONS.items():
        selected = [item for item in items if compare(comparable(item["sk"]), bound)]
        assert query(client, partition, f"sk {sign} :operand", operand=operand) == selected
    if "N" in operand:
        return
    for length in {1, 2, len(bound) - 1, len(bound)} - {0}:
        prefix = shortened(operand, length)
        selected = [item for item in items if comparable(item["sk"]).startswith(comparable(prefix))]
        assert query(client, partition, "begins_with(sk, :prefix)", prefix=prefix) == selected


def shortened(value: Value, length: int) -> Value:
    if "S" in value:
        return {"S": value["S"][:length]}
    return binary(comparable(value)[:length])


@examples(30)
@given(KEYS)
def test_queries_answer_in_order_and_select_as_python_does(drawn: Keys) -> None:
    with in_memory() as client:
        check_order_and_ranges(client, drawn)


@examples(12)
@given(KEYS)
@example(("B", [binary(b"\xff" * length) for length in (479, 480, 481, 1024)], [binary(b"\xff")] * 2))
def test_queries_on_disk_answer_in_order_and_select_as_python_does(drawn: Keys) -> None:
    with on_disk() as client:
        check_order_and_ranges(client, drawn)

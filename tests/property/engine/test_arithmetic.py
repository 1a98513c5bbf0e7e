"""Numbers in updates are exact: what cannot be stored in 38 digits is refused and leaves the item as it was."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hashrange.errors import ValidationException
from hashrange.values.number import OVERFLOW
from property.engine.client import Client, examples, in_memory
from property.engine.values_model import EXACT, Unstorable, number

TABLE = "numbers"
KEY = {"pk": {"S": "counter"}}
UPDATES: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "ADD n :b": EXACT.add,
    "SET n = n + :b": EXACT.add,
    "SET n = :b + n": EXACT.add,
    "SET n = n - :b": EXACT.subtract,
    "SET n = :b - n": lambda a, b: EXACT.subtract(b, a),
    "SET n = if_not_exists(n, :b) + :b": EXACT.add,
}


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Anything that can be stored: near each other, far apart, and at the ends of the range."""
    digits = draw(st.one_of(st.integers(0, 999), st.integers(10**35, 10**38 - 1), st.just(10**38 - 1)))
    highest = 125 - len(str(digits)) + 1
    exponent = draw(st.one_of(st.integers(-3, 3), st.integers(-130, highest), st.sampled_from([-130, -129, highest])))
    return draw(st.sampled_from(["", "-"])) + f"{digits}e{min(exponent, highest)}"


def open_counter(client: Client) -> None:
    client.call(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


@examples(200)
@given(numbers(), st.lists(st.tuples(st.sampled_from(list(UPDATES)), numbers()), min_size=1, max_size=4))
@example("9" * 38, [("ADD n :b", "1"), ("ADD n :b", "1"), ("SET n = n - :b", "2e0")])
@example("1e-130", [("SET n = n - :b", "1e-130"), ("ADD n :b", "9.9e125"), ("ADD n :b", "1e-130")])
def test_sums_and_differences_are_exact_or_refused(start: str, steps: list[tuple[str, str]]) -> None:
    with in_memory() as client:
        open_counter(client)
        client.call("PutItem", TableName=TABLE, Item={**KEY, "n": {"N": start}})
        stored = Decimal(start)
        for expression, operand in steps:
            members = {
                "TableName": TABLE,
                "Key": KEY,
                "UpdateExpression": expression,
                "ExpressionAttributeValues": {":b": {"N": operand}},
            }
            try:
                expected = number(UPDATES[expression](stored, Decimal(operand)))
            except Unstorable:
                with pytest.raises(ValidationException, match=OVERFLOW):
                    client.call("UpdateItem", **members)
            else:
                answer = client.call("UpdateItem", **members, ReturnValues="UPDATED_NEW")
                assert answer["Attributes"] == {"n": {"N": expected}}
                stored = Decimal(expected)
            item = client.call("GetItem", TableName=TABLE, Key=KEY)["Item"]
            assert item == {**KEY, "n": {"N": number(stored)}}
        assert client.problems() == []


@examples(60)
@given(numbers(), numbers())
def test_adding_and_taking_away_again_gives_the_number_back(start: str, amount: str) -> None:
    """Where both steps can be stored."""
    with in_memory() as client:
        open_counter(client)
        client.call("PutItem", TableName=TABLE, Item={**KEY, "n": {"N": start}})
        for expression in ("ADD n :b", "SET n = n - :b"):
            try:
                client.call(
                    "UpdateItem",
                    TableName=TABLE,
                    Key=KEY,
                    UpdateExpression=expression,
                    ExpressionAttributeValues={":b": {"N": amount}},
                )
            except ValidationException:
                break
        else:
            item = client.call("GetItem", TableName=TABLE, Key=KEY)["Item"]
            assert Decimal(item["n"]["N"]) == Decimal(start)

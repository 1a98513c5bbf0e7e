"""The quick answer and the slow one agree, on requests made from the model and then damaged."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.errors import ClientError
from hashrange.validation import wording
from hashrange.validation.constraints import broken
from hashrange.validation.schema import SERVICES, Schema, Shape, schema_of
from hashrange.validation.shape import InputShape, load
from hashrange.values.attribute import check_attributes

OPERATIONS = [(service, operation) for service in SERVICES for operation in load(service)]
TEXTS = ["", "abc", "a;", ",", "x" * 40, "123456789012", "0123456789abcdef" * 8, "arn:aws:x:table/abc", "y" * 300, "é"]
NUMBERS = [1, 2, 5, 20, 2048]
ANYTHING = [None, True, False, 0, -1, 1.5, 10**13, "", "abc", "a;", "true", "y" * 2000, [], {}, [None], {"a": 1}, [[]]]
ATTRIBUTE_VALUES: list[dict[str, Any]] = [{"S": "x"}, {"N": "1"}, {"BOOL": True}, {"M": {"a": {"L": [{"B": "AAEC"}]}}}]
TYPE_CODES = ["S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"]


class Maker:
    """Makes requests from shapes; `damage` is the chance that a part of one is replaced by anything at all."""

    def __init__(self, schema: Schema, random: Random, damage: float) -> None:
        self.schema = schema
        self.random = random
        self.damage = damage

    def value(self, shape: Shape) -> Any:
        if self.random.random() < self.damage:
            anything = self.random.choice(ANYTHING)
            return {} if isinstance(anything, dict) and self.is_looked_into_elsewhere(shape) else anything
        if shape.name == wording.ATTRIBUTE_VALUE:
            return self.random.choice(ATTRIBUTE_VALUES)
        if self.schema.holds_attribute_values(shape):
            return {"pk": self.random.choice(ATTRIBUTE_VALUES)}
        if shape.kind == "structure":
            return self.structure(shape)
        if shape.kind in ("list", "map"):
            return self.collection(shape)
        return self.scalar(shape)

    def is_looked_into_elsewhere(self, shape: Shape) -> bool:
        """The quick answer says nothing about the inside of attribute values."""
        return shape.name == wording.ATTRIBUTE_VALUE or self.schema.holds_attribute_values(shape)

    def structure(self, shape: Shape) -> dict[str, Any]:
        made = {}
        optional = [name for name in shape.members if name not in shape.required]
        chosen = self.random.sample(optional, self.random.randint(0, min(3, len(optional))))
        needed = [name for structure, name in wording.REQUIRED_UNLESS if structure == shape.name]
        for name in {*shape.required, *chosen, *needed}:
            if self.random.random() >= self.damage:
                made[name] = self.value(self.schema.shape(shape.members[name]))
        if self.random.random() < self.damage:
            made["Unknown"] = 1
        return made

    def collection(self, shape: Shape) -> Any:
        assert shape.element is not None
        element = self.schema.shape(shape.element)
        count = self.random.randint(max(1, shape.minimum or 0), min(2, shape.maximum or 2))
        if self.random.random() < self.damage:
            count = self.random.choice([0, 26, 101])
        if shape.kind == "list":
            return [self.value(element) for _ in range(count)]
        return {f"name{index}": self.value(element) for index in range(count)}

    def scalar(self, shape: Shape) -> Any:
        if shape.enum:
            return self.random.choice(shape.enum)
        if shape.kind == "boolean":
            return self.random.random() < 0.5
        candidates: list[Any] = TEXTS if shape.kind == "string" else NUMBERS
        return self.random.choice([candidate for candidate in candidates if not broken(shape, candidate)])


def made(service: str, operation: str, random: Random, damage: float) -> tuple[InputShape, dict[str, Any]]:
    schema = schema_of(service)
    return load(service)[operation], Maker(schema, random, damage).structure(schema.input_of(operation))


def explained(shape: InputShape, request: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return shape.explain(request)
    except ClientError:
        return None


@pytest.mark.parametrize(("service", "operation"), OPERATIONS)
def test_a_request_in_order_is_plausible_for_every_operation(service: str, operation: str) -> None:
    for seed in range(10):
        shape, request = made(service, operation, Random(seed), damage=0)
        assert shape.plausible(request), request
        assert shape.explain(request) == request


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(OPERATIONS), st.randoms(use_true_random=False), st.sampled_from([0.02, 0.1, 0.3]))
def test_a_plausible_request_needs_no_explanation(operation: tuple[str, str], random: Random, damage: float) -> None:
    shape, request = made(*operation, random, damage)
    if shape.plausible(request):
        assert shape.explain(request) == request


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(OPERATIONS), st.randoms(use_true_random=False), st.sampled_from([0.02, 0.1, 0.3]))
def test_what_explain_returns_is_plausible(operation: tuple[str, str], random: Random, damage: float) -> None:
    shape, request = made(*operation, random, damage)
    cleaned = explained(shape, request)
    if cleaned is not None:
        assert shape.plausible(cleaned)
        assert shape.explain(cleaned) == cleaned


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3) | st.sampled_from(TYPE_CODES), inner),
    max_leaves=10,
)
MEMBERS = ["TableName", "Key", "Item", "RequestItems", "TransactItems", "Limit"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(OPERATIONS), st.dictionaries(st.text(max_size=5) | st.sampled_from(MEMBERS), JSON))
def test_any_json_object_gets_an_answer(operation: tuple[str, str], request: dict[str, Any]) -> None:
    shape = load(operation[0])[operation[1]]
    assert shape.plausible(request) in (True, False)
    explained(shape, request)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(TYPE_CODES), JSON, max_size=2))
def test_an_explained_attribute_value_is_never_malformed(value: dict[str, Any]) -> None:
    cleaned = explained(load("dynamodb")["PutItem"], {"TableName": "abc", "Item": {"a": value}})
    if cleaned is not None:
        with suppress(ClientError):
            check_attributes(cleaned["Item"])

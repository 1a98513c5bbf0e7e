"""The generated models, the tables that correct them, and how little of them is built before it is needed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hashrange.validation import wording
from hashrange.validation.operations import all_operation_names, operation_names
from hashrange.validation.plausible import Compiler
from hashrange.validation.schema import COMPANIONS, SERVICES, Schema, model_path, schema_of
from hashrange.validation.shape import InputShape


def committed(service: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(model_path(service).read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("service", [*SERVICES, *COMPANIONS])
def test_the_committed_model_is_what_the_installed_botocore_says(service: str) -> None:
    botocore = pytest.importorskip("botocore")
    if committed(service)["botocore"] != botocore.__version__:
        pytest.skip(f"generated from botocore {committed(service)['botocore']}, here is {botocore.__version__}")
    from hashrange.validation.generate import generated_model, model_text

    assert model_path(service).read_text(encoding="utf-8") == model_text(generated_model(service))


def test_both_services_are_complete() -> None:
    assert {service: len(names) for service, names in all_operation_names().items()} == {
        "dynamodb": 62,
        "dynamodbstreams": 4,
    }
    assert operation_names("dynamodbstreams") == ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")


def test_members_keep_the_order_of_the_model() -> None:
    assert list(schema_of("dynamodb").shape("GetItemInput").members)[:3] == ["TableName", "Key", "AttributesToGet"]


def test_printed_enum_orders_hold_the_values_of_the_model() -> None:
    shapes = committed("dynamodb")["shapes"]
    for name, order in wording.ENUM_ORDER.items():
        assert sorted(order) == sorted(shapes[name]["enum"]), name


def test_member_orders_name_every_member() -> None:
    shapes = committed("dynamodb")["shapes"]
    for name, order in wording.MEMBER_ORDER.items():
        assert sorted(order) == sorted(shapes[name]["members"]), name


def test_entry_orders_name_members_that_exist() -> None:
    schema = schema_of("dynamodb")
    for operation, order in wording.ENTRY_ORDER.items():
        assert {name.partition(".")[0] for name in order} <= set(schema.input_of(operation).members), operation


def test_every_correction_applies_to_something() -> None:
    shapes = committed("dynamodb")["shapes"] | committed("dynamodbstreams")["shapes"]
    for structure, member in (*wording.SUBSTITUTES, *wording.REQUIRED_UNLESS):
        assert member in shapes[structure].get("members", {"key": None}), (structure, member)
    for shape, _ in wording.SENTENCES:
        assert shape in shapes or shape in wording.SHAPES
    for operation in (*wording.NEWER_OPERATIONS, *(operation for operation, _ in wording.WHEN_MISSING)):
        assert operation in operation_names("dynamodb")


def test_nothing_is_built_before_it_is_used() -> None:
    schema = Schema("dynamodb")
    shape = InputShape(schema, Compiler(schema), "GetItem")
    assert "plausible" not in vars(shape)
    assert shape.plausible({"TableName": "abc", "Key": {}})
    assert "plausible" in vars(shape)

"""The settings of a trigger are checked in Lambda's words, and strangers cannot name code to run."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.errors import (
    ClientError,
    InvalidParameterValueException,
    ResourceConflictException,
    ResourceNotFoundException,
    ValidationException,
)

URL = "http://127.0.0.1:9/"


def test_a_trigger_is_described_as_lambda_does(engine: Any) -> None:
    members = {"EventSourceArn": engine.stream_arn, "FunctionName": URL, "StartingPosition": "LATEST"}
    created = engine.mapping("Create", trusted=False, **members)
    uuid = created["UUID"]
    assert created["State"] == "Creating"
    assert engine.mapping("Get", UUID=uuid) == {
        "UUID": uuid,
        "StartingPosition": "LATEST",
        "BatchSize": 100,
        "MaximumBatchingWindowInSeconds": 0,
        "ParallelizationFactor": 1,
        "MaximumRetryAttempts": -1,
        "MaximumRecordAgeInSeconds": -1,
        "EventSourceArn": engine.stream_arn,
        "FunctionArn": URL,
        "LastModified": engine.clock.seconds(),
        "LastProcessingResult": "No records processed",
        "State": "Enabled",
        "StateTransitionReason": "User action",
        "DestinationConfig": {"OnFailure": {}},
        "BisectBatchOnFunctionError": False,
        "TumblingWindowInSeconds": 0,
        "FunctionResponseTypes": [],
        "EventSourceMappingArn": f"arn:aws:lambda:us-east-1:000000000000:event-source-mapping:{uuid}",
    }


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"BatchSize": 0},
            ValidationException,
            "1 validation error detected: Value '0' at 'batchSize' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            {"MaximumBatchingWindowInSeconds": 301},
            ValidationException,
            "1 validation error detected: Value '301' at 'maximumBatchingWindowInSeconds' failed to satisfy "
            "constraint: Member must have value less than or equal to 300",
        ),
        ({"BatchSize": "many"}, InvalidParameterValueException, "BatchSize must be a whole number."),
        (
            {"MaximumRecordAgeInSeconds": 59},
            InvalidParameterValueException,
            "MaximumRecordAgeInSeconds must be -1 or at least 60.",
        ),
        ({"Enabled": "yes"}, InvalidParameterValueException, "Enabled must be true or false."),
        (
            {"FilterCriteria": {"Filters": [{"Pattern": "{"}]}},
            InvalidParameterValueException,
            "Invalid filter pattern definition.",
        ),
        (
            {"FilterCriteria": {"Filters": [{"Pattern": "{}"}] * 6}},
            InvalidParameterValueException,
            "FilterCriteria may have at most 5 filters.",
        ),
        (
            {"FunctionResponseTypes": ["Everything"]},
            InvalidParameterValueException,
            "FunctionResponseTypes may hold ReportBatchItemFailures only.",
        ),
        (
            {"TumblingWindowInSeconds": 30},
            InvalidParameterValueException,
            "Unsupported TumblingWindowInSeconds parameter for given event source type.",
        ),
        (
            {"Topics": ["x"]},
            InvalidParameterValueException,
            "Unsupported Topics parameter for given event source type.",
        ),
        (
            {"DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sqs:us-east-1:123456789012:queue"}}},
            InvalidParameterValueException,
            "DestinationConfig.OnFailure must be an http or https URL",
        ),
        (
            {"StartingPosition": None},
            InvalidParameterValueException,
            "1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: "
            "Member must not be null.",
        ),
        (
            {"StartingPosition": "AT_TIMESTAMP"},
            InvalidParameterValueException,
            "Unsupported starting position for stream type DYNAMODB: AT_TIMESTAMP",
        ),
        ({"EventSourceArn": None}, InvalidParameterValueException, "Unrecognized event source."),
        (
            {"EventSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/x/stream/y"},
            InvalidParameterValueException,
            "Stream not found: arn:aws:dynamodb:us-east-1:000000000000:table/x/stream/y",
        ),
        (
            {"FunctionName": "nobody"},
            ResourceNotFoundException,
            "Function not found: arn:aws:lambda:us-east-1:000000000000:function:nobody",
        ),
    ],
)
def test_what_cannot_be_is_refused(engine: Any, settings: Any, error: type[ClientError], message: str) -> None:
    with pytest.raises(error) as caught:
        engine.trigger(**{"function": URL, **settings} if "FunctionName" not in settings else {"function": "nobody"})
    assert caught.value.message == message
    assert engine.mapping("List") == {"EventSourceMappings": []}


@pytest.mark.parametrize("function", ["python:os:system", "command:rm -rf /", "command:true", "python:x", "a/b"])
def test_code_to_run_cannot_be_named_over_the_network(engine: Any, function: str) -> None:
    members = {"EventSourceArn": engine.stream_arn, "StartingPosition": "LATEST"}
    with pytest.raises(InvalidParameterValueException):
        engine.mapping("Create", trusted=False, FunctionName=function, **members)
    uuid = engine.trigger(URL)
    with pytest.raises(InvalidParameterValueException):
        engine.mapping("Update", trusted=False, UUID=uuid, FunctionName=function)


def test_a_directory_to_write_to_cannot_be_named_over_the_network(engine: Any, tmp_path: Any) -> None:
    uuid = engine.trigger(URL)
    config = {"OnFailure": {"Destination": str(tmp_path)}}
    with pytest.raises(InvalidParameterValueException):
        engine.mapping("Update", trusted=False, UUID=uuid, DestinationConfig=config)
    assert engine.mapping("Update", UUID=uuid, DestinationConfig=config)["DestinationConfig"] == config


@pytest.mark.parametrize("given", ["text", ["text"], {"Destination": 1}, {"Destination": "http://["}])
def test_a_destination_that_is_none_is_refused(engine: Any, given: Any) -> None:
    uuid = engine.trigger(URL)
    with pytest.raises(InvalidParameterValueException):
        engine.mapping("Update", trusted=False, UUID=uuid, DestinationConfig={"OnFailure": given})


def test_a_function_has_one_trigger_for_a_stream(engine: Any) -> None:
    uuid = engine.trigger(URL)
    with pytest.raises(ResourceConflictException, match=uuid):
        engine.trigger(URL)


def test_an_update_changes_what_it_names_and_nothing_else(engine: Any) -> None:
    uuid = engine.trigger(URL, BatchSize=7, FilterCriteria={"Filters": [{"Pattern": "{}"}]})
    before = engine.mapping("Get", UUID=uuid)
    engine.clock.advance(5)
    assert engine.mapping("Update", UUID=uuid, MaximumRetryAttempts=3)["State"] == "Updating"
    assert engine.mapping("Get", UUID=uuid) == {
        **before,
        "MaximumRetryAttempts": 3,
        "LastModified": engine.clock.seconds(),
    }


def test_a_deleted_trigger_is_gone(engine: Any) -> None:
    uuid = engine.trigger(URL)
    assert engine.mapping("Delete", UUID=uuid)["State"] == "Deleting"
    for verb in ("Get", "Update", "Delete"):
        with pytest.raises(ResourceNotFoundException, match="The resource you requested does not exist"):
            engine.mapping(verb, UUID=uuid)


def test_lists_are_paged_and_chosen_from(engine: Any) -> None:
    uuids = {engine.trigger(f"http://127.0.0.1:9/{number}") for number in range(5)}
    first = engine.mapping("List", MaxItems="3")
    rest = engine.mapping("List", MaxItems="3", Marker=first["NextMarker"])
    assert "NextMarker" not in rest
    assert {each["UUID"] for page in (first, rest) for each in page["EventSourceMappings"]} == uuids
    chosen = engine.mapping("List", FunctionName="http://127.0.0.1:9/2", EventSourceArn=engine.stream_arn)
    assert [each["FunctionArn"] for each in chosen["EventSourceMappings"]] == ["http://127.0.0.1:9/2"]
    assert engine.mapping("List", EventSourceArn="other") == {"EventSourceMappings": []}


@pytest.mark.parametrize("given", ["0", "10001", "-1", "x", "", "\u0661", "9" * 5000])
def test_a_page_has_a_size(engine: Any, given: str) -> None:
    with pytest.raises(InvalidParameterValueException):
        engine.mapping("List", MaxItems=given)

"""Functions that tests have called in a process of their own. What they see goes to a file that the event names."""

from __future__ import annotations

import os
import time
from typing import Any


def remember(event: dict[str, Any], context: Any) -> None:
    print("what a function prints is no answer")
    for record in event["Records"]:
        keys = record["dynamodb"]["Keys"]
        with open(keys["pk"]["S"], "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {keys['sk']['S']} {context.function_name}\n")
    assert context.get_remaining_time_in_millis() > 0
    assert context.aws_request_id


def report_last(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": event["Records"][-1]["dynamodb"]["SequenceNumber"]}]}


def fail(event: dict[str, Any], context: Any) -> None:
    raise ValueError("no such order")


def die(event: dict[str, Any], context: Any) -> None:
    os._exit(3)


def sleep(event: dict[str, Any], context: Any) -> None:
    time.sleep(60)


def answer_nonsense(event: dict[str, Any], context: Any) -> Any:
    return object()


def answer_not_a_number(event: dict[str, Any], context: Any) -> float:
    return float("nan")


def with_powertools(event: dict[str, Any], context: Any) -> dict[str, Any]:
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.data_classes import DynamoDBStreamEvent
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import (
        DynamoDBRecord,
        DynamoDBRecordEventName,
    )

    assert all(record.event_name == DynamoDBRecordEventName.INSERT for record in DynamoDBStreamEvent(event).records)

    def handle(record: DynamoDBRecord) -> None:
        assert record.dynamodb is not None
        item = record.dynamodb.new_image
        assert item["sk"] != "bad"
        with open(item["pk"], "a", encoding="utf-8") as file:
            file.write(f"{item['sk']} {item['amount'] * 2}\n")

    processor = BatchProcessor(event_type=EventType.DynamoDBStreams)
    answer: dict[str, Any] = process_partial_response(
        event=event, record_handler=handle, processor=processor, context=context
    )
    return answer

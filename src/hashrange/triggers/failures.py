"""Tells the destination on failure about a batch that was given up: which changes, not what they were.

The destination is a directory, which gets a file for each batch, or an HTTP endpoint, which gets a POST. One that
cannot be told is told nothing later: the batch is given up all the same.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from hashrange.triggers.batch import Batch, Place
from hashrange.triggers.call import Context, FunctionFailed, NotCalled, post
from hashrange.triggers.target import is_url

log = logging.getLogger("hashrange.triggers")

RETRIES_EXHAUSTED = "RetryAttemptsExhausted"
TOO_OLD = "RecordAgeExceeded"
POST_SECONDS = 30.0


def tell(place: Place, batch: Batch, context: Context, condition: str, calls: int, now_micros: int) -> None:
    """Pass the batch's description on, if the trigger says where to."""
    log.warning(
        "trigger %s: gave up %d records from %s on (%s)",
        place.trigger.uuid,
        len(batch.changes),
        batch.numbers[0],
        condition,
    )
    destination = place.trigger.on_failure
    if destination is None:
        return
    text = orjson.dumps(describe(place, batch, context, condition, calls, now_micros))
    try:
        if is_url(destination):
            post(destination, text, POST_SECONDS)
        else:
            folder = Path(destination)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{place.trigger.uuid}-{batch.numbers[0]}.json").write_bytes(text + b"\n")
    except (OSError, FunctionFailed, NotCalled) as error:
        log.error("trigger %s: the destination on failure could not be told: %s", place.trigger.uuid, error)


def describe(
    place: Place, batch: Batch, context: Context, condition: str, calls: int, now_micros: int
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "requestContext": {
            "requestId": context.request_id,
            "functionArn": context.arn,
            "condition": condition,
            "approximateInvokeCount": calls,
        },
        "version": "1.0",
        "timestamp": moment(now_micros, "milliseconds"),
        "DDBStreamBatchInfo": {
            "shardId": batch.shard_id,
            "startSequenceNumber": batch.numbers[0],
            "endSequenceNumber": batch.numbers[-1],
            "approximateArrivalOfFirstRecord": moment(batch.changes[0].written_at_micros, "seconds"),
            "approximateArrivalOfLastRecord": moment(batch.changes[-1].written_at_micros, "seconds"),
            "batchSize": len(batch.changes),
            "streamArn": place.stream.arn,
        },
    }
    if calls:
        described["responseContext"] = {
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": "Unhandled",
        }
    return described


def moment(micros: int, precision: str) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).isoformat(timespec=precision).replace("+00:00", "Z")

"""How far an import or a bulk operation has come, and what it reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from hashrange.engine.table import Table
from hashrange.engine.units import Consumed
from hashrange.limits import WRITE_UNIT_BYTES
from hashrange.transfer.batch import Refused
from hashrange.transfer.decompression import NONE
from hashrange.transfer.input_formats import input_format
from hashrange.transfer.objects import Objects
from hashrange.transfer.source import Bad, Place, Source
from hashrange.transfer.transfer import (
    BULK,
    CANCELLED,
    CANCELLING,
    COMPLETED,
    COMPLETED_WITH_ERRORS,
    FAILED,
    IMPORT,
    Transfer,
)

BEGIN, LOAD, END = "begin", "load", "end"

ERROR, CONDITION_CHECK_FAILURE = "ERROR", "CONDITION_CHECK_FAILURE"
REPORT_BYTES_MAX = 4 * 1024 * 1024  # of what is reported about one step; beyond it only keys are told

ITEM_VALIDATION_ERROR = "ItemValidationError"
ITEM_VALIDATION_MESSAGE = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)


@dataclass(frozen=True, slots=True)
class Progress:
    """What has been read and written so far."""

    phase: str = BEGIN
    place: Place = field(default_factory=Place)
    total_bytes: int | None = None
    processed_items: int = 0
    processed_bytes: int = 0
    written_items: int = 0
    errors: int = 0
    reports: int = 0  # how many were made; the last of them may wait in the store to be put into the bucket
    consumed: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, str] | None = None

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Progress:
        fields = orjson.loads(stored)
        return cls(**{**fields, "place": Place(**fields["place"])}) if fields else cls()

    @property
    def units(self) -> float:
        """All write units that were used."""
        return consumed_of(self.consumed).total


def consumed_of(stored: Mapping[str, Any]) -> Consumed:
    return Consumed(
        stored.get("table", 0.0), dict(stored.get("local_indexes", {})), dict(stored.get("global_indexes", {}))
    )


def added(stored: Mapping[str, Any], more: Consumed) -> Mapping[str, Any]:
    """What was consumed before and now, together."""
    consumed = consumed_of(stored)
    consumed.include(more)
    return asdict(consumed)


def usage(transfer: Transfer, progress: Progress) -> dict[str, Any]:
    """BulkOperationUsage of one table: write units, which are whole kilobytes, as bytes."""
    consumed = consumed_of(progress.consumed)
    answer: dict[str, Any] = {
        "TableName": transfer.request["TableName"],
        "BulkPutBytes": in_bytes(consumed.total),
        "Table": {"BulkPutBytes": in_bytes(consumed.table)},
    }
    for member, indexes in (
        ("LocalSecondaryIndexes", consumed.local_indexes),
        ("GlobalSecondaryIndexes", consumed.global_indexes),
    ):
        if indexes:
            answer[member] = {name: {"BulkPutBytes": in_bytes(units)} for name, units in indexes.items()}
    return answer


def in_bytes(units: float) -> int:
    return int(units) * WRITE_UNIT_BYTES


def outcome(transfer: Transfer, progress: Progress) -> Transfer:
    """The transfer with its final status and the reason for it."""
    if progress.failure is not None:
        failed = transfer.failed(progress.failure["code"], progress.failure["message"])
        return replace(failed, status=FAILED)
    if transfer.status == CANCELLING:
        cancelled = transfer.failed("Cancelled", "The bulk operation was cancelled on request")
        return replace(cancelled, status=CANCELLED)
    if not progress.errors:
        return replace(transfer, status=COMPLETED)
    if transfer.kind == BULK:
        return replace(transfer, status=COMPLETED_WITH_ERRORS)
    return replace(transfer.failed(ITEM_VALIDATION_ERROR, ITEM_VALIDATION_MESSAGE), status=FAILED)


def results(transfer: Transfer, progress: Progress) -> Mapping[str, Any]:
    """The counts of a transfer as its description shows them."""
    if transfer.kind == IMPORT:
        return {
            "ErrorCount": progress.errors,
            "ProcessedSizeBytes": progress.processed_bytes,
            "ProcessedItemCount": progress.processed_items,
            "ImportedItemCount": progress.written_items,
        }
    total = {} if progress.total_bytes is None else {"TotalInputBytes": progress.total_bytes}
    return {
        "ProcessedItemCount": progress.processed_items,
        "ProcessedInputBytes": progress.processed_bytes,
        **total,
        "FailedItemCount": progress.errors,
        "BulkOperationUsage": [usage(transfer, progress)],
    }


@dataclass(frozen=True, slots=True)
class Input:
    """Where a transfer reads from, and in which format: an import and a bulk operation say it in different members."""

    bucket: str
    prefix: str
    format: str
    options: Mapping[str, Any]
    compression: str

    @classmethod
    def of(cls, transfer: Transfer) -> Input:
        request = transfer.request
        if transfer.kind == IMPORT:
            place, described = request["S3BucketSource"], request
        else:
            place = described = request["InputS3Configuration"]
        return cls(
            bucket=place["S3Bucket"],
            prefix=place.get("S3KeyPrefix") or "",
            format=described["InputFormat"],
            options=described.get("InputFormatOptions") or {},
            compression=described.get("InputCompressionType", NONE),
        )

    def open(self, objects: Objects, types: Mapping[str, str], place: Place) -> Source:
        return Source(
            objects, self.bucket, self.prefix, self.compression, input_format(self.format, self.options, types), place
        )


class Reports:
    """What one step of a bulk operation reports about items that it did not write."""

    def __init__(self, transfer: Transfer, table: Table) -> None:
        self._table = table
        self._wanted = (transfer.request.get("OutputS3Configuration") or {}).get("OutputType") or ()
        self._size_bytes = 0
        self._lines: dict[str, list[str]] = {}

    def bad(self, bad: Bad) -> None:
        self._add(ERROR, {"Error": bad.reason, "Record": bad.record})

    def refused(self, refused: Refused) -> None:
        entry, existing = refused.entry, refused.existing
        if self._size_bytes > REPORT_BYTES_MAX:
            keys = self._table.key.take(entry.item.attributes)
            self._add(CONDITION_CHECK_FAILURE, {"Keys": keys})
            return
        line: dict[str, Any] = {"Item": entry.item.fragment}
        if existing is not None:
            line["ExistingItem"] = existing.fragment
        self._add(CONDITION_CHECK_FAILURE, line)

    def _add(self, kind: str, line: dict[str, Any]) -> None:
        if kind in self._wanted:
            text = orjson.dumps(line).decode()
            self._size_bytes += len(text)
            self._lines.setdefault(kind, []).append(text)

    def dump(self) -> bytes | None:
        return orjson.dumps(self._lines) if self._lines else None


class Output:
    """Where a bulk operation puts its reports."""

    def __init__(self, transfer: Transfer) -> None:
        given = transfer.request["OutputS3Configuration"]
        prefix = (given.get("S3KeyPrefix") or "").strip("/")
        self._base = f"{prefix}/AWSDynamoDB" if prefix else "AWSDynamoDB"
        self._id = transfer.id
        self.bucket: str = given["S3Bucket"]

    def key(self, name: str) -> str:
        return f"{self._base}/{self._id}/{name}"

    def put_report(self, objects: Objects, number: int, report: bytes) -> None:
        """Write a report, under the same names whenever it is written again."""
        for kind, lines in orjson.loads(report).items():
            content = "".join(f"{line}\n" for line in lines).encode()
            objects.put(self.bucket, self.key(f"{kind.lower().replace('_', '-')}/{number:08d}.json"), content)

"""Scan: read a whole table or index, or one segment of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.page import Reading
from hashrange.engine.source import Range, Source
from hashrange.errors import ValidationException
from hashrange.expressions import Prepared
from hashrange.operations.items.parameters import refuse_mixing
from hashrange.operations.operation import LongRead, Operation, Request
from hashrange.operations.reads.parameters import parse_legacy_scan, prepare_scan
from hashrange.operations.reads.reading import new_reading, read
from hashrange.operations.reads.selection import check_select, select
from hashrange.operations.reads.source import INVALID_START, check_start_key_values
from hashrange.values.types import Attributes

LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")
EXPRESSIONS = ("ProjectionExpression", "FilterExpression")


def scan(db: Database, request: Request) -> dict[str, Any] | LongRead:
    refuse_mixing(request.members.keys(), LEGACY, EXPRESSIONS)
    legacy = parse_legacy_scan(request)
    check_start_key_values(request)
    check_segment(request)
    prepared = prepare_scan(request, legacy)
    check_select(request)
    return read(db, request, partial(reading_of, request, prepared))


def check_segment(request: Request) -> None:
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is not None and total is None:
        raise ValidationException(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if total is not None and segment is None:
        raise ValidationException(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if segment is not None and segment >= total:
        text = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
        raise ValidationException(f"{text}: Segment: {segment} is not less than TotalSegments: {total}", newer=text)


def reading_of(request: Request, prepared: Prepared, source: Source) -> Reading:
    """What to read, checked against the key of the table or index."""
    start: Attributes | None = request.get("ExclusiveStartKey")
    check_start_key_shape(source, start)
    selection = select(request, source, prepared.projection)
    return new_reading(request, source, prepared, selection, range_of(request, source, start))


def check_start_key_shape(source: Source, start: Attributes | None) -> None:
    if start is None or source.has_position_shape(start):
        return
    if source.index is not None:
        raise ValidationException(INVALID_START)
    raise ValidationException(f"{INVALID_START}: The provided key element does not match the schema")


def range_of(request: Request, source: Source, start: Attributes | None) -> Range:
    """The stored keys of the table or of the requested segment, from the exclusive start key on."""
    number, total = request.get("Segment"), request.get("TotalSegments")
    whole = source.whole() if number is None or total is None else source.segment(number, total)
    if start is None:
        return whole
    position = source.position(start)
    if not whole[0] <= position < whole[1]:
        raise ValidationException(
            f"{INVALID_START}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "
            f"TotalSegments: {total} Segment: {number}"
        )
    return position + b"\0", whole[1]


OPERATION = Operation(name="Scan", run=scan)

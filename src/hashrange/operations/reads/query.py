"""Query: read a partition of a table or index, in sort-key order."""

from __future__ import annotations

from functools import partial
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.keys import check_key_size
from hashrange.engine.page import Reading
from hashrange.engine.source import Range, Source
from hashrange.errors import ValidationException
from hashrange.expressions import KeyRange, Prepared
from hashrange.operations.items.parameters import refuse_mixing
from hashrange.operations.operation import LongRead, Operation, Request
from hashrange.operations.reads.parameters import parse_legacy_query, prepare_query
from hashrange.operations.reads.reading import new_reading, read
from hashrange.operations.reads.selection import check_filter_names, check_select, select
from hashrange.operations.reads.source import INVALID_START, check_start_key_values
from hashrange.values.ordered import after
from hashrange.values.types import Attributes

LEGACY_BUT_KEYS = ("AttributesToGet", "QueryFilter", "ConditionalOperator")
LEGACY = (*LEGACY_BUT_KEYS, "KeyConditions")
EXPRESSIONS = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")


def query(db: Database, request: Request) -> dict[str, Any] | LongRead:
    check_mixing(request)
    legacy = parse_legacy_query(request)
    check_start_key_values(request)
    prepared = prepare_query(request, legacy)
    check_select(request)
    return read(db, request, partial(reading_of, request, prepared))


def check_mixing(request: Request) -> None:
    """KeyConditions alone may be used beside FilterExpression and ProjectionExpression."""
    given = request.members.keys()
    if "KeyConditionExpression" in given or not given.isdisjoint(LEGACY_BUT_KEYS):
        refuse_mixing(given, LEGACY, EXPRESSIONS)


def reading_of(request: Request, prepared: Prepared, source: Source) -> Reading:
    """What to read, checked against the key of the table or index."""
    start: Attributes | None = request.get("ExclusiveStartKey")
    check_start_key_shape(source, start)
    assert prepared.key_condition is not None
    key_range = prepared.key_condition.resolve(
        hash_names=source.partition_names,
        range_names=source.sort_names,
        types=source.table.definition.attribute_types,
        values=prepared.values,
    )
    reverse = not request.get("ScanIndexForward", True)
    span = stored_range(source, key_range)
    if start is not None:
        span = resumed(source, key_range, span, start, reverse=reverse)
    check_filter(request, source, prepared)
    selection = select(request, source, prepared.projection)
    partition = dict(zip(source.partition_names, key_range.partition_values, strict=True))
    return new_reading(request, source, prepared, selection, span, partition=partition, reverse=reverse)


def stored_range(source: Source, key_range: KeyRange) -> Range:
    """The stored keys that a key condition selects."""
    check_key_sizes(source, key_range)
    prefix = source.partition_prefix(key_range.partition_values, key_range.sort_values)
    if key_range.operator is not None:
        kind = source.sort[len(key_range.sort_values)][1]
        return source.sort_range(prefix, kind, key_range.operator, key_range.operands)
    if key_range.sort_values or not source.sort:
        return source.equal(prefix)
    return prefix, after(prefix)


def check_key_sizes(source: Source, key_range: KeyRange) -> None:
    """No key can be longer than the longest that may be written."""
    for (name, kind), value in zip(source.partition, key_range.partition_values, strict=True):
        check_key_size(name, kind, value[kind], is_sort_key=False)
    for (name, kind), value in zip(source.sort, key_range.sort_values):  # noqa: B905 - the last may be a range
        check_key_size(name, kind, value[kind], is_sort_key=True)
    if key_range.operator is not None:
        name, kind = source.sort[len(key_range.sort_values)]
        for value in key_range.operands:
            check_key_size(name, kind, value[kind], is_sort_key=True)


def check_start_key_shape(source: Source, start: Attributes | None) -> None:
    if start is not None and not source.has_position_shape(start):
        raise ValidationException(INVALID_START)


def resumed(source: Source, key_range: KeyRange, whole: Range, start: Attributes, *, reverse: bool) -> Range:
    """The rest of the range after an exclusive start key, which must lie inside it."""
    if source.index is None and not source.sort:
        raise ValidationException(f"The provided exclusive start key is invalid: ExclusiveStartKey: {_printed(start)}")
    if source.index is None and key_range.sort_values and key_range.operator is None:
        raise ValidationException("The query can return at most one row and cannot be restarted")
    if any(start[name] != value for (name, _), value in zip(source.partition, key_range.partition_values, strict=True)):
        raise ValidationException("The provided starting key is outside query boundaries based on provided conditions")
    position = source.position(start)
    if not whole[0] <= position < whole[1]:
        raise ValidationException("The provided starting key does not match the range key predicate")
    return (whole[0], position) if reverse else (position + b"\0", whole[1])


def _printed(key: Attributes) -> str:
    values = (f"{name}=AttributeValue: {{{kind}:{content}}}" for name, v in key.items() for kind, content in v.items())
    return f"{{{', '.join(values)}}}"


def check_filter(request: Request, source: Source, prepared: Prepared) -> None:
    """A query's filter is for what its key condition cannot say."""
    if prepared.filter is None:
        return
    parameter = "QueryFilter" if "QueryFilter" in request else "Filter Expression"
    for name in prepared.filter.top_level_names:
        if name in source.key_names:
            raise ValidationException(
                f"{parameter} can only contain non-primary key attributes: Primary key attribute: {name}"
            )
    check_filter_names(source, prepared.filter.top_level_names)


OPERATION = Operation(name="Query", run=query)

"""Parameters that the item operations share: mixing, return values, consumed capacity."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.table import ItemChange, Table
from hashrange.engine.units import Consumed
from hashrange.errors import ValidationException
from hashrange.operations.operation import Request
from hashrange.storage.interface import Snapshot
from hashrange.values.types import Attributes

REPORTS = ("ReturnConsumedCapacity", "ReturnItemCollectionMetrics")


def refuse_mixing(given: Set[str], legacy: tuple[str, ...], expressions: tuple[str, ...]) -> None:
    """A request speaks in expressions or in the older parameters, never in both."""
    if given.isdisjoint(legacy):
        return
    old = [name for name in legacy if name in given]
    new = [name for name in expressions if name in given]
    if new:
        raise ValidationException(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} Expression parameters: {{{', '.join(new)}}}",
            enveloped=True,
        )


def refuse_return_values(request: Request) -> None:
    """PutItem and DeleteItem have no new or updated attributes to return."""
    if request.get("ReturnValues", "NONE") not in ("NONE", "ALL_OLD"):
        raise ValidationException("ReturnValues can only be ALL_OLD or NONE", enveloped=True)


def shows_old(request: Request) -> bool:
    """Whether a failed condition is to show the item that it met."""
    return bool(request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD")


def report_write(
    request: Request, snapshot: Snapshot, outcome: ItemChange, consumed: Consumed, item: Attributes
) -> dict[str, Any]:
    """The ConsumedCapacity and ItemCollectionMetrics of a write, as far as the request asks for them."""
    if request.members.keys().isdisjoint(REPORTS):
        return {}
    answer = report_consumed(request, outcome.table, consumed)
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and outcome.table.definition.local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(snapshot, outcome, item)
    return answer


def report_consumed(request: Request, table: Table, consumed: Consumed) -> dict[str, Any]:
    level = request.get("ReturnConsumedCapacity", "NONE")
    return {} if level == "NONE" else {"ConsumedCapacity": consumed.report(level, table.name)}


def collection_metrics(snapshot: Snapshot, outcome: ItemChange, item: Attributes) -> dict[str, Any]:
    """The size range, in whole gigabytes, of the item collection that a written item belongs to."""
    table = outcome.table
    collection = outcome.base_key[: keyspace.PARTITION_HASH_BYTES]
    gigabytes = read_counter(snapshot, keyspace.collection_prefix(table.definition.id) + collection) // 1024**3
    name = table.key.partition_name
    return {
        "ItemCollectionKey": {name: item[name]},
        "SizeEstimateRangeGB": [float(gigabytes), float(gigabytes + 1)],
    }

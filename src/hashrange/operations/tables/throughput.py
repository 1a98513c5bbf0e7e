"""Changes of provisioned throughput and of the billing mode, with the rules about decreases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hashrange.engine.definition import (
    PAY_PER_REQUEST,
    PROVISIONED,
    IndexDefinition,
    TableDefinition,
    Throughput,
)
from hashrange.errors import LimitExceededException, ValidationException
from hashrange.limits import DECREASES_PER_DAY_FREE
from hashrange.operations.operation import Request
from hashrange.operations.tables.schema import ON_DEMAND_HAS_NO_UNITS, check_capacity, invalid

Wire = Mapping[str, Any]

DAY_MICROS = 86_400_000_000
HOUR_MICROS = 3_600_000_000


def check_billing(request: Request) -> None:
    """What a change of the billing mode must come with; without one, that depends on the table."""
    mode = request.get("BillingMode")
    given = "ProvisionedThroughput" in request
    if mode == PAY_PER_REQUEST and given:
        raise invalid(ON_DEMAND_HAS_NO_UNITS)
    if mode == PROVISIONED and not given:
        raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")


def changed_billing(table: TableDefinition, request: Request, now_micros: int) -> TableDefinition:
    """The table with the requested billing mode and throughput of its own and of its indexes."""
    mode = request.get("BillingMode", table.billing_mode)
    given = request.get("ProvisionedThroughput")
    updates = index_updates(request)
    if mode == PROVISIONED:
        return _provisioned(table, given, updates, now_micros)
    if given is not None:
        raise invalid(ON_DEMAND_HAS_NO_UNITS)
    for name in updates:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
        )
    return _on_demand(table, now_micros)


def _on_demand(table: TableDefinition, now_micros: int) -> TableDefinition:
    if table.billing_mode == PAY_PER_REQUEST:
        return table
    return replace(
        table,
        billing_mode=PAY_PER_REQUEST,
        on_demand_since_micros=now_micros,
        throughput=replace(table.throughput, read=0, write=0),
        indexes=tuple(replace(index, throughput=replace(index.throughput, read=0, write=0)) for index in table.indexes),
    )


def index_updates(request: Request) -> dict[str, Wire]:
    """The requested throughput of each global secondary index that the request updates."""
    updates: dict[str, Wire] = {}
    for update in request.get("GlobalSecondaryIndexUpdates") or []:
        action = update.get("Update")
        if action is not None and action.get("ProvisionedThroughput") is not None:
            updates[action["IndexName"]] = action["ProvisionedThroughput"]
    return updates


def _provisioned(
    table: TableDefinition, given: Wire | None, updates: dict[str, Wire], now_micros: int
) -> TableDefinition:
    switching = table.billing_mode != PROVISIONED
    indexes: list[IndexDefinition] = []
    for index in table.indexes:
        wanted = updates.get(index.name)
        if switching and wanted is None and index in table.global_indexes:
            raise invalid(f"ProvisionedThroughput must be specified for index: {index.name}")
        changed = _changed(index.throughput, wanted, f"index {index.name}", table.region, now_micros)
        indexes.append(replace(index, throughput=changed, on_demand=None))
    throughput = _changed(table.throughput, given, "table", table.region, now_micros)
    return replace(table, billing_mode=PROVISIONED, throughput=throughput, on_demand=None, indexes=tuple(indexes))


def _changed(current: Throughput, wanted: Wire | None, what: str, region: str, now_micros: int) -> Throughput:
    if wanted is None:
        return current
    read, write = wanted["ReadCapacityUnits"], wanted["WriteCapacityUnits"]
    check_capacity("ReadCapacityUnits", read, region)
    check_capacity("WriteCapacityUnits", write, region)
    if (read, write) == (current.read, current.write):
        raise ValidationException(
            f"The provisioned throughput for the {what} will not change. "
            "The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the {what}: {current.read}. "
            f"Requested ReadCapacityUnits: {read}. "
            f"Current WriteCapacityUnits provisioned for the {what}: {current.write}. "
            f"Requested WriteCapacityUnits: {write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )
    changed = replace(current, read=read, write=write)
    if read > current.read or write > current.write:
        changed = replace(changed, last_increase_micros=now_micros)
    if read < current.read or write < current.write:
        changed = _decreased(changed, now_micros)
    return changed


def _decreased(throughput: Throughput, now_micros: int) -> Throughput:
    """Count a decrease: four a day at any time, then one for each hour without another."""
    today = now_micros // DAY_MICROS
    count = _today(throughput, now_micros).decreases_today
    last = throughput.last_decrease_micros
    if count >= DECREASES_PER_DAY_FREE and last is not None and now_micros - last < HOUR_MICROS:
        raise LimitExceededException(
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. "
            "After the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most "
            f"once every 3600 seconds. Number of decreases today: {count}. Last decrease at {_date(last)}. "
            f"Next decrease can be made at {_date(last + HOUR_MICROS)}"
        )
    return replace(throughput, decreases_today=count + 1, decreases_day=today, last_decrease_micros=now_micros)


def today(table: TableDefinition, now_micros: int) -> TableDefinition:
    """The table with its decreases counted anew since midnight."""
    return replace(
        table,
        throughput=_today(table.throughput, now_micros),
        indexes=tuple(replace(each, throughput=_today(each.throughput, now_micros)) for each in table.indexes),
    )


def _today(throughput: Throughput, now_micros: int) -> Throughput:
    if throughput.decreases_day == now_micros // DAY_MICROS:
        return throughput
    return replace(throughput, decreases_today=0)


def _date(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).strftime("%A, %B %-d, %Y at %-I:%M:%S %p UTC")

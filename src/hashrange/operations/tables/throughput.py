"""Changes of provisioned throughput and of the billing mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hashrange.capacity.limits import Owner, warm_throughput
from hashrange.engine.definition import (
    PAY_PER_REQUEST,
    PROVISIONED,
    IndexDefinition,
    TableDefinition,
    Throughput,
)
from hashrange.engine.throughput import DAY_MICROS, changed, date
from hashrange.errors import LimitExceededException
from hashrange.operations.operation import Request
from hashrange.operations.tables.schema import ON_DEMAND_HAS_NO_UNITS, invalid

Wire = Mapping[str, Any]


def check_billing(request: Request) -> None:
    """What a change of the billing mode must come with; without one, that depends on the table."""
    mode = request.get("BillingMode")
    given = "ProvisionedThroughput" in request
    if mode == PAY_PER_REQUEST and given:
        raise invalid(ON_DEMAND_HAS_NO_UNITS)
    if mode == PROVISIONED and not given:
        raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")


def changed_billing(table: TableDefinition, request: Request, now_micros: int, switches_max: int) -> TableDefinition:
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
    return _on_demand(table, now_micros, switches_max)


def _on_demand(table: TableDefinition, now_micros: int, switches_max: int) -> TableDefinition:
    """Without provisioned units. A table may change to that only so often."""
    if table.billing_mode == PAY_PER_REQUEST:
        return table
    recent = tuple(at for at in table.on_demand_switches_micros if now_micros - at < DAY_MICROS)
    if len(recent) >= switches_max:
        times = "once" if switches_max == 1 else f"{switches_max} times"
        raise LimitExceededException(
            f"Subscriber limit exceeded: Update to PayPerRequest mode are limited to {times} in 1 day(s). "
            f"Last update at {date(recent[-1])}. Next update can be made at {date(recent[-switches_max] + DAY_MICROS)}"
        )
    return replace(
        table,
        billing_mode=PAY_PER_REQUEST,
        on_demand_since_micros=now_micros,
        on_demand_switches_micros=(*recent, now_micros),
        throughput=table.throughput.with_units(0, 0),
        indexes=tuple(replace(index, throughput=index.throughput.with_units(0, 0)) for index in table.indexes),
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
        indexes.append(replace(index, throughput=changed, on_demand=None, warm=_kept_warm(table, index)))
    throughput = _changed(table.throughput, given, "table", table.region, now_micros)
    return replace(
        table,
        billing_mode=PROVISIONED,
        throughput=throughput,
        on_demand=None,
        warm=_kept_warm(table, table),
        indexes=tuple(indexes),
    )


def _kept_warm(table: TableDefinition, owner: Owner) -> Mapping[str, int] | None:
    """A table that was on demand stays as warm as it was."""
    if table.billing_mode == PROVISIONED:
        return owner.warm
    return warm_throughput(owner.warm, owner.throughput, table.billing_mode)


def _changed(current: Throughput, wanted: Wire | None, what: str, region: str, now_micros: int) -> Throughput:
    if wanted is None:
        return current
    read, write = wanted["ReadCapacityUnits"], wanted["WriteCapacityUnits"]
    return changed(current, read=read, write=write, what=what, region=region, now_micros=now_micros)

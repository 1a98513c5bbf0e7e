"""OnDemandThroughput and WarmThroughput: the most that a table or index takes, and what it takes at once.

`what` is "table" or the name of an index; the service says "index : NAME" of the one and "index NAME" of the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from hashrange.capacity.limits import warm_throughput
from hashrange.engine.definition import PROVISIONED, Throughput
from hashrange.engine.keys import INVALID
from hashrange.errors import LimitExceededException, ValidationException
from hashrange.limits import ON_DEMAND_READ_UNITS, ON_DEMAND_WRITE_UNITS, TABLE_CAPACITY_UNITS_MAX

Units = Mapping[str, int]

TABLE = "table"
NO_LIMIT = -1
MAXIMA = {"MaxReadRequestUnits": "TableMaxReadCapacityUnits", "MaxWriteRequestUnits": "TableMaxWriteCapacityUnits"}
WARM = {"ReadUnitsPerSecond": "TableMaxReadCapacityUnits", "WriteUnitsPerSecond": "TableMaxWriteCapacityUnits"}
INITIAL = {"ReadUnitsPerSecond": ON_DEMAND_READ_UNITS, "WriteUnitsPerSecond": ON_DEMAND_WRITE_UNITS}
INITIAL_PAGE = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"
    "#on-demand-capacity-mode-initial"
)


def new_maximum(wanted: Units | None, what: str, region: str, *, provisioned: bool) -> Units | None:
    """The most that a new table or index may take. It cannot begin with the removal of a limit."""
    for name in MAXIMA:
        if name in (wanted or {}) and provisioned:
            raise ValidationException(
                f"{INVALID}{name} for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."
            )
    _check_maximum(wanted or {}, what, region, least=1)
    return wanted or None


def changed_maximum(current: Units | None, wanted: Units, what: str, region: str, mode: str) -> Units | None:
    """The same after a change: what is not mentioned stays, and -1 takes a limit away."""
    for name in MAXIMA:
        if name in wanted and mode == PROVISIONED:
            raise ValidationException(
                f"{INVALID}{name} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
            )
    _check_maximum(wanted, what, region, least=NO_LIMIT)
    merged = {**(current or {}), **wanted}
    return {name: units for name, units in merged.items() if units != NO_LIMIT} or None


def _check_maximum(wanted: Units, what: str, region: str, *, least: int) -> None:
    place = what if what == TABLE else f"index : {what}"
    for name, quota in MAXIMA.items():
        units = wanted.get(name, 1)
        if units == 0 or units < least:
            raise ValidationException(
                f"{INVALID}Requested {name} for OnDemandThroughput for {place} is outside of valid range"
            )
        _check_quota(f"{name} for OnDemandThroughput for {place}", units, quota, region)


def new_warm(wanted: Units | None, provisioned: Throughput, what: str, region: str, mode: str) -> Units | None:
    """The warm throughput that a new table or index asks for: at least what it has anyhow."""
    capacity = {
        "ReadUnitsPerSecond": ("ReadCapacityUnits", provisioned.read),
        "WriteUnitsPerSecond": ("WriteCapacityUnits", provisioned.write),
    }
    for name, units in _warm(wanted or {}, what, region):
        text = f"{INVALID}Requested {name} for WarmThroughput for {_place(what)} is lower than "
        if mode == PROVISIONED and units < capacity[name][1]:
            raise ValidationException(f"{text}{capacity[name][0]} of ProvisionedThroughput")
        if mode != PROVISIONED and units < INITIAL[name]:
            raise ValidationException(f"{text}initial throughput for OnDemand. See: {INITIAL_PAGE}")
    return wanted or None


def raised_warm(
    current: Units | None, wanted: Units, provisioned: Throughput, what: str, region: str, mode: str
) -> Units | None:
    """Warm throughput can only be raised, also above what a table has that never asked for any."""
    least = warm_throughput(current, provisioned, mode)
    for name, units in _warm(wanted, what, region):
        if units < least[name]:
            raise ValidationException(
                f"{INVALID}Requested {name} for WarmThroughput for {_place(what)} is lower than current "
                "WarmThroughput, decreasing WarmThroughput is not supported"
            )
    return {**(current or {}), **wanted} or None


def _warm(wanted: Units, what: str, region: str) -> list[tuple[str, int]]:
    given = [(name, wanted[name]) for name in WARM if name in wanted]
    for name, units in given:
        _check_quota(f"{name} for WarmThroughput for {_place(what)}", units, WARM[name], region)
    return given


def _place(what: str) -> str:
    return what if what == TABLE else f"index {what}"


def _check_quota(asked: str, units: int, quota: str, region: str) -> None:
    if units > TABLE_CAPACITY_UNITS_MAX:
        raise LimitExceededException(
            f"Subscriber limit exceeded: Requested {asked} exceeds {quota} of the account in region {region}"
        )

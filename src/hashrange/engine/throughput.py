"""Changes of provisioned throughput, whoever asks for them: the bounds, and the rule about decreases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hashrange.engine.definition import TableDefinition, Throughput
from hashrange.errors import LimitExceededException, ValidationException
from hashrange.limits import CAPACITY_UNITS_BOUND, DECREASES_PER_DAY_FREE, TABLE_CAPACITY_UNITS_MAX

DAY_MICROS = 86_400_000_000
HOUR_MICROS = 3_600_000_000


def check_capacity(name: str, units: int, region: str) -> None:
    if units > CAPACITY_UNITS_BOUND:
        raise ValidationException(f"Given value {units} for {name} is out of bounds")
    if units > TABLE_CAPACITY_UNITS_MAX:
        raise LimitExceededException(
            f"The requested {name}, {units}, is above the per table maximum for the account in {region}. "
            f"Per table maximum: {TABLE_CAPACITY_UNITS_MAX}. Refer to the Amazon DynamoDB Developer Guide "
            "for current limits and how to request higher limits."
        )


def changed(current: Throughput, *, read: int, write: int, what: str, region: str, now_micros: int) -> Throughput:
    """The throughput of `what` ("table" or "index X") after a change, or the error that refuses it."""
    check_capacity("ReadCapacityUnits", read, region)
    check_capacity("WriteCapacityUnits", write, region)
    if (read, write) == (current.read, current.write):
        place = "the table" if what == "table" else what
        raise ValidationException(
            f"The provisioned throughput for the {what} will not change. "
            "The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for {place}: {current.read}. "
            f"Requested ReadCapacityUnits: {read}. "
            f"Current WriteCapacityUnits provisioned for {place}: {current.write}. "
            f"Requested WriteCapacityUnits: {write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )
    outcome = current.with_units(read, write)
    if read > current.read or write > current.write:
        outcome = replace(outcome, last_increase_micros=now_micros)
    if read < current.read or write < current.write:
        outcome = _decreased(outcome, now_micros)
    return outcome


def decrease_allowed_at(throughput: Throughput, now_micros: int) -> int:
    """When the next decrease may be made: four a day at any time, then one for each hour without another."""
    last = throughput.last_decrease_micros
    if last is None or _today(throughput, now_micros).decreases_today < DECREASES_PER_DAY_FREE:
        return now_micros
    midnight = (now_micros // DAY_MICROS + 1) * DAY_MICROS
    return max(now_micros, min(last + HOUR_MICROS, midnight))


def _decreased(throughput: Throughput, now_micros: int) -> Throughput:
    count = _today(throughput, now_micros).decreases_today
    if decrease_allowed_at(throughput, now_micros) > now_micros:
        last = throughput.last_decrease_micros
        assert last is not None
        raise LimitExceededException(
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. "
            "After the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most "
            f"once every 3600 seconds. Number of decreases today: {count}. Last decrease at {date(last)}. "
            f"Next decrease can be made at {date(last + HOUR_MICROS)}"
        )
    day = now_micros // DAY_MICROS
    return replace(throughput, decreases_today=count + 1, decreases_day=day, last_decrease_micros=now_micros)


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


def date(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).strftime("%A, %B %-d, %Y at %-I:%M:%S %p UTC")

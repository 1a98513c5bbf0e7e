"""The settings of a trigger as clients write them: what each is called, what it may be, and what it changes.

Refusals are worded as Lambda words them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hashrange.errors import InvalidParameterValueException, ValidationException
from hashrange.limits import FILTER_PATTERNS_MAX
from hashrange.triggers.patterns import compiled_one
from hashrange.triggers.target import is_url
from hashrange.triggers.trigger import UNLIMITED, Trigger

Wire = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """A whole number within bounds. Bounds below `usable_from` are for `UNLIMITED` only."""

    field: str
    minimum: int
    maximum: int
    usable_from: int | None = None


NUMBERS = {
    "BatchSize": NumberSetting("batch_size", 1, 10_000),
    "MaximumBatchingWindowInSeconds": NumberSetting("window_seconds", 0, 300),
    "ParallelizationFactor": NumberSetting("lanes", 1, 10),
    "MaximumRetryAttempts": NumberSetting("retries_max", UNLIMITED, 10_000),
    "MaximumRecordAgeInSeconds": NumberSetting("age_seconds_max", UNLIMITED, 604_800, usable_from=60),
}
SWITCHES = {"Enabled": "enabled", "BisectBatchOnFunctionError": "bisects"}
REPORT_FAILURES = "ReportBatchItemFailures"

TRUSTED_ONLY = "DestinationConfig.OnFailure must be an http or https URL"


def changed(trigger: Trigger, members: Wire, *, trusted: bool) -> Trigger:
    """The trigger with the settings that a request has. Only who is `trusted` may name a directory to write to."""
    fields: dict[str, Any] = {}
    for name, number in NUMBERS.items():
        if members.get(name) is not None:
            fields[number.field] = whole_number(name, number, members[name])
    for name, field in SWITCHES.items():
        if members.get(name) is not None:
            fields[field] = boolean(name, members[name])
    if members.get("FunctionResponseTypes") is not None:
        fields["reports_failures"] = reports_failures(members["FunctionResponseTypes"])
    if members.get("FilterCriteria") is not None:
        fields["filters"] = patterns(members["FilterCriteria"])
    if members.get("DestinationConfig") is not None:
        fields["on_failure"] = destination(members["DestinationConfig"], trusted=trusted)
    return replace(trigger, **fields)


def whole_number(name: str, setting: NumberSetting, given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise InvalidParameterValueException(f"{name} must be a whole number.")
    if given < setting.minimum:
        raise out_of_bounds(name, given, f"greater than or equal to {setting.minimum}")
    if given > setting.maximum:
        raise out_of_bounds(name, given, f"less than or equal to {setting.maximum}")
    if setting.usable_from is not None and UNLIMITED < given < setting.usable_from:
        raise InvalidParameterValueException(f"{name} must be -1 or at least {setting.usable_from}.")
    return given


def out_of_bounds(name: str, given: int, bound: str) -> ValidationException:
    member = name[0].lower() + name[1:]
    return ValidationException(
        f"1 validation error detected: Value '{given}' at '{member}' failed to satisfy constraint: "
        f"Member must have value {bound}"
    )


def boolean(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise InvalidParameterValueException(f"{name} must be true or false.")
    return given


def reports_failures(given: Any) -> bool:
    if not isinstance(given, list) or any(each != REPORT_FAILURES for each in given) or len(given) > 1:
        raise InvalidParameterValueException(f"FunctionResponseTypes may hold {REPORT_FAILURES} only.")
    return bool(given)


def patterns(given: Any) -> tuple[str, ...]:
    filters = given.get("Filters") if isinstance(given, dict) else given
    if filters is None:
        return ()
    if not isinstance(filters, list) or len(filters) > FILTER_PATTERNS_MAX:
        raise InvalidParameterValueException(f"FilterCriteria may have at most {FILTER_PATTERNS_MAX} filters.")
    found = tuple(each.get("Pattern") if isinstance(each, dict) else None for each in filters)
    for pattern in found:
        if not isinstance(pattern, str):
            raise InvalidParameterValueException("Invalid filter pattern definition.")
        compiled_one(pattern)
    return found  # type: ignore[return-value]


def destination(given: Any, *, trusted: bool) -> str | None:
    if not isinstance(given, dict) or given.get("OnSuccess"):
        raise InvalidParameterValueException("Unsupported DestinationConfig parameter for given event source type.")
    on_failure = given.get("OnFailure") or {}
    chosen = on_failure.get("Destination") if isinstance(on_failure, dict) else on_failure
    if not chosen:
        return None
    if not isinstance(chosen, str) or not (is_url(chosen) or (trusted and not chosen.startswith("arn:"))):
        raise InvalidParameterValueException(TRUSTED_ONLY)
    return chosen

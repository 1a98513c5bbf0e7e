"""EventSourceMappingConfiguration: a trigger as Lambda's operations show it."""

from __future__ import annotations

from typing import Any

from hashrange.triggers.delivery import function_arn
from hashrange.triggers.settings import NUMBERS, REPORT_FAILURES
from hashrange.triggers.trigger import Trigger


def describe(trigger: Trigger, state: str | None = None) -> dict[str, Any]:
    """The trigger, in a state that it is said to pass through, or in the one it is in."""
    answer: dict[str, Any] = {
        "UUID": trigger.uuid,
        "StartingPosition": trigger.starting_position,
        **{name: getattr(trigger, setting.field) for name, setting in NUMBERS.items()},
        "EventSourceArn": trigger.stream_arn,
        "FunctionArn": function_arn(trigger),
        "LastModified": trigger.modified_at_micros // 1000 / 1000,
        "LastProcessingResult": trigger.last_result,
        "State": state or ("Enabled" if trigger.enabled else "Disabled"),
        "StateTransitionReason": "User action",
        "DestinationConfig": {"OnFailure": {} if trigger.on_failure is None else {"Destination": trigger.on_failure}},
        "BisectBatchOnFunctionError": trigger.bisects,
        "TumblingWindowInSeconds": 0,
        "FunctionResponseTypes": [REPORT_FAILURES] if trigger.reports_failures else [],
        "EventSourceMappingArn": trigger.arn,
    }
    if trigger.filters:
        answer["FilterCriteria"] = {"Filters": [{"Pattern": pattern} for pattern in trigger.filters]}
    return answer

"""The shapes of a service's requests, read from the generated model and corrected by `wording`.

Start-up is counted in milliseconds, so the file is parsed once and a `Shape` is built when it is first asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from hashrange.validation import wording

SERVICES = ("dynamodb", "dynamodbstreams")

# Services that answer on the same endpoint, with those of their operations that there are. Of these the model has the
# outputs too: their answers are not always JSON.
COMPANIONS: dict[str, tuple[str, ...]] = {
    "application-autoscaling": (
        "DeleteScalingPolicy",
        "DeleteScheduledAction",
        "DeregisterScalableTarget",
        "DescribeScalableTargets",
        "DescribeScalingActivities",
        "DescribeScalingPolicies",
        "DescribeScheduledActions",
        "ListTagsForResource",
        "PutScalingPolicy",
        "PutScheduledAction",
        "RegisterScalableTarget",
        "TagResource",
        "UntagResource",
    ),
    "cloudwatch": (
        "DeleteAlarms",
        "DescribeAlarmHistory",
        "DescribeAlarms",
        "DescribeAlarmsForMetric",
        "DescribeInsightRules",
        "DisableAlarmActions",
        "EnableAlarmActions",
        "GetInsightRuleReport",
        "GetMetricData",
        "GetMetricStatistics",
        "ListMetrics",
        "PutMetricAlarm",
        "PutMetricData",
        "SetAlarmState",
    ),
}

HOPELESS_LENGTH = 1000

# The model leaves some collections unbounded. None of a sensible request is longer than this, and to walk through the
# million elements that fit into 16 MB would keep everybody else waiting.
COLLECTION_LENGTH_MAX = 10_000

# What Java's regular expressions can say and Python's cannot, or say differently; and one whose three neighbours can
# divide a long text between them in too many ways to try.
JAVA_PATTERNS = {
    r"[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+": r"[a-z0-9A-Z][\.\-\w]*[a-z0-9A-Z]",
    r"\p{Print}": r"[\x20-\x7e]",
    r"\uD800\uDC00-\uDBFF\uDFFF": r"\U00010000-\U0010FFFF",
}


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One named type of the model. Which fields mean anything depends on `kind`."""

    name: str
    kind: str
    members: dict[str, str] = field(default_factory=dict)  # of a structure: member name -> shape name
    required: tuple[str, ...] = ()
    key: str | None = None  # of a map: the shape's name
    element: str | None = None  # of a list or map: the shape's name
    minimum: int | None = None  # length of a text, list or map; value of a number
    maximum: int | None = None
    pattern: str | None = None  # as the service prints it
    matches: re.Pattern[str] | None = None
    enum: tuple[str, ...] = ()  # in the order in which the service prints it
    arn_allowed: bool = False  # an ARN may stand in the place of the name
    bounds: tuple[int, int] | None = None  # a length that is checked once all else is right

    def is_hopeless(self, length: int) -> bool:
        """Whether a collection is so far beyond its maximum that its elements need not be looked at.

        A request that is refused for its length anyway must not take seconds to refuse.
        """
        return self.maximum is not None and length > max(HOPELESS_LENGTH, self.maximum)


class Schema:
    """All shapes and operations of one service."""

    def __init__(self, service: str) -> None:
        model = orjson.loads(model_path(service).read_bytes())
        self.operations: dict[str, dict[str, str | None]] = model["operations"]
        self._is_dynamodb = service in SERVICES  # `wording` knows nothing of the others
        self._raw: dict[str, dict[str, Any]] = model["shapes"] | (wording.SHAPES if self._is_dynamodb else {})
        self._shapes: dict[str, Shape] = {}

    def shape(self, name: str) -> Shape:
        shape = self._shapes.get(name)
        if shape is None:
            shape = self._shapes[name] = self._build(name)
        return shape

    def input_of(self, operation: str) -> Shape:
        name = self.operations[operation]["input"]
        assert name is not None
        return self.shape(name)

    def output_of(self, operation: str) -> Shape | None:
        """The answer of a companion's operation; None if it has none."""
        name = self.operations[operation]["output"]
        return None if name is None else self.shape(name)

    def holds_attribute_values(self, shape: Shape) -> bool:
        """Whether this is a map of attribute values (an item, a key), whose inside `values` looks after."""
        return shape.kind == "map" and shape.element == wording.ATTRIBUTE_VALUE

    def _build(self, name: str) -> Shape:
        raw = self._raw[name]
        pattern = raw.get("pattern")
        return Shape(
            name=name,
            kind=raw["type"],
            members={
                member: substituted(name, member, shape) if self._is_dynamodb else shape
                for member, shape in raw.get("members", {}).items()
            },
            required=tuple(raw.get("required", ())),
            key=substituted(name, "key", raw["key"]) if "key" in raw else None,
            element=raw.get("member", raw.get("value")),
            minimum=raw.get("min"),
            maximum=raw.get("max", maximum_of(name, raw)),
            pattern=pattern,
            matches=python_pattern(pattern) if pattern is not None else None,
            enum=self._enum(name, tuple(raw.get("enum", ()))),
            arn_allowed=raw.get("arn", False),
            bounds=raw.get("bounds"),
        )

    def _enum(self, name: str, values: tuple[str, ...]) -> tuple[str, ...]:
        return wording.ENUM_ORDER.get(name, values) if self._is_dynamodb else values


def maximum_of(name: str, raw: dict[str, Any]) -> int | None:
    """The bound of a collection that the model leaves unbounded; items and the inside of values have none here."""
    is_attributes = raw["type"] == "map" and raw["value"] == wording.ATTRIBUTE_VALUE and name not in wording.VALUE_MAPS
    if raw["type"] not in ("list", "map") or is_attributes or name in wording.INSIDE_VALUES:
        return None
    return COLLECTION_LENGTH_MAX


def substituted(structure: str, member: str, shape: str) -> str:
    """The shape that the service really applies to a member."""
    exact = wording.SUBSTITUTES.get((structure, member))
    if exact is not None:
        return exact
    return wording.TABLE_NAME if (member, shape) == ("TableName", "TableArn") else shape


def python_pattern(pattern: str) -> re.Pattern[str]:
    for java, python in JAVA_PATTERNS.items():
        pattern = pattern.replace(java, python)
    return re.compile(pattern, re.ASCII)


def model_path(service: str) -> Path:
    return Path(__file__).parent / "model" / f"{service}.json"


@lru_cache
def schema_of(service: str) -> Schema:
    return Schema(service)

"""Alarms: a question about metrics, a threshold, and what state the answers have led to. Kept in the store as JSON.

Whatever happens to an alarm is an event, of which the latest are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.scope import Scope
from hashrange.metrics.points import DYNAMODB
from hashrange.metrics.questions import Question
from hashrange.metrics.reading import Ask
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

OK = "OK"
ALARM = "ALARM"
INSUFFICIENT_DATA = "INSUFFICIENT_DATA"

INITIAL_REASON = "Unchecked: Initial alarm creation"
CONFIGURATION_UPDATE = "ConfigurationUpdate"
STATE_UPDATE = "StateUpdate"
EVENTS_KEPT = 100

MISSING = "missing"
IGNORE = "ignore"
BREACHING = "breaching"
NOT_BREACHING = "notBreaching"

Mutation = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alarm. `questions` has one returned line, which is compared with the threshold."""

    name: str
    questions: tuple[Question, ...]
    threshold: float
    comparison: str
    evaluation_periods: int
    updated_at_micros: int
    datapoints_to_alarm: int | None = None  # None: all of them
    missing_data: str | None = None  # None: what is usual for the metric
    is_plain: bool = True  # given as one metric, not as a list of queries
    description: str | None = None
    actions_enabled: bool = True
    ok_actions: tuple[str, ...] = ()
    alarm_actions: tuple[str, ...] = ()
    insufficient_data_actions: tuple[str, ...] = ()
    low_sample_count: str | None = None  # as EvaluateLowSampleCountPercentile; only shown
    tags: dict[str, str] = field(default_factory=dict)
    state: str = INSUFFICIENT_DATA
    reason: str = INITIAL_REASON
    reason_data: str | None = None
    state_updated_at_micros: int = 0
    state_transitioned_at_micros: int = 0

    @classmethod
    def on_metric(
        cls,
        name: str,
        ask: Ask,
        *,
        threshold: float,
        comparison: str,
        evaluation_periods: int,
        now_micros: int,
        **rest: Any,
    ) -> Alarm:
        """An alarm on one metric, not evaluated yet."""
        return cls(
            name=name,
            questions=(Question("m1", ask),),
            threshold=threshold,
            comparison=comparison,
            evaluation_periods=evaluation_periods,
            updated_at_micros=now_micros,
            state_updated_at_micros=now_micros,
            state_transitioned_at_micros=now_micros,
            **rest,
        )

    @property
    def line(self) -> Question:
        """The question whose answer is compared."""
        return next(question for question in self.questions if question.returned)

    @property
    def period_seconds(self) -> int:
        if self.line.ask is not None:
            return self.line.ask.period_seconds
        periods = [question.ask.period_seconds for question in self.questions if question.ask is not None]
        return self.line.period_seconds or max(periods, default=60)

    @property
    def missing_data_treatment(self) -> str:
        """Alarms on metrics of AWS/DynamoDB, which has no values where nothing happens, ignore what is missing unless
        they are told otherwise ("Configuring how CloudWatch alarms treat missing data")."""
        if self.missing_data is not None:
            return self.missing_data
        asks = [question.ask for question in self.questions if question.ask is not None]
        return IGNORE if any(ask.namespace == DYNAMODB for ask in asks) else MISSING

    def arn(self, scope: Scope) -> str:
        return f"arn:aws:cloudwatch:{scope.region}:{scope.account}:alarm:{self.name}"

    def in_state(self, state: str, reason: str, reason_data: str | None, now_micros: int) -> Alarm:
        moved = now_micros if state != self.state else self.state_transitioned_at_micros
        return replace(
            self,
            state=state,
            reason=reason,
            reason_data=reason_data,
            state_updated_at_micros=now_micros,
            state_transitioned_at_micros=moved,
        )

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Alarm:
        fields = orjson.loads(stored)
        questions = tuple(_question(question) for question in fields.pop("questions"))
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(questions=questions, **{**fields, **lists})


def _question(fields: dict[str, Any]) -> Question:
    ask = fields.pop("ask")
    return Question(ask=None if ask is None else Ask(**ask), **fields)


def find(snapshot: Snapshot, scope: Scope, name: str) -> Alarm | None:
    stored = snapshot.get(keyspace.alarm_key(scope.prefix, name))
    return None if stored is None else Alarm.load(stored)


def alarms_of(snapshot: Snapshot, scope: Scope, prefix: str = "", *, after_name: str = "") -> Iterator[Alarm]:
    """The alarms of a scope whose names begin in one way, in the order of their names."""
    beginning = keyspace.alarm_key(scope.prefix, prefix)
    start = max(beginning, keyspace.alarm_key(scope.prefix, after_name) + b"\0") if after_name else beginning
    for _, stored in snapshot.scan(start, after(beginning)):
        yield Alarm.load(stored)


def count(snapshot: Snapshot, scope: Scope, most: int) -> int:
    """How many there are; there may be more than can be counted to."""
    prefix = keyspace.alarm_key(scope.prefix, "")
    return sum(1 for _ in snapshot.scan(prefix, after(prefix), limit=most))


def save(scope: Scope, alarm: Alarm) -> Mutation:
    return keyspace.alarm_key(scope.prefix, alarm.name), alarm.dump()


def remove(snapshot: Snapshot, scope: Scope, name: str) -> list[Mutation]:
    """Forget an alarm and what happened to it."""
    prefix = keyspace.alarm_event_prefix(scope.prefix, name)
    events: list[Mutation] = [(key, None) for key, _ in snapshot.scan(prefix, after(prefix))]
    return [(keyspace.alarm_key(scope.prefix, name), None), *events]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to an alarm."""

    alarm: str
    at_micros: int
    kind: str
    summary: str
    data: str

    @classmethod
    def load(cls, stored: bytes) -> Event:
        return cls(**orjson.loads(stored))


def happened(snapshot: Snapshot, scope: Scope, event: Event) -> list[Mutation]:
    """Note an event, and forget the oldest if there are many."""
    prefix = keyspace.alarm_event_prefix(scope.prefix, event.alarm)
    known = [key for key, _ in snapshot.scan(prefix, after(prefix))]
    number = max(event.at_micros, keyspace.metric_number_of(known[-1]) + 1 if known else 0)
    forgotten: list[Mutation] = [(key, None) for key in known[: max(0, len(known) - EVENTS_KEPT + 1)]]
    return [*forgotten, (keyspace.alarm_event_key(scope.prefix, event.alarm, number), orjson.dumps(asdict(event)))]


def configured(
    snapshot: Snapshot, scope: Scope, old: Alarm | None, new: Alarm | None, now_micros: int
) -> list[Mutation]:
    """The event of an alarm that was made or changed. Those of one that was deleted go with it."""
    alarm = new or old
    assert alarm is not None
    what = "created" if old is None else "updated"
    data = orjson.dumps({"version": "1.0", "type": "Create" if old is None else "Update"}).decode()
    event = Event(alarm.name, now_micros, CONFIGURATION_UPDATE, f'Alarm "{alarm.name}" {what}', data)
    return happened(snapshot, scope, event)


def moved(snapshot: Snapshot, scope: Scope, old: Alarm, new: Alarm) -> list[Mutation]:
    """Everything to write when an alarm has come to another state."""
    data = {
        "version": "1.0",
        "oldState": {"stateValue": old.state, "stateReason": old.reason},
        "newState": {"stateValue": new.state, "stateReason": new.reason},
    }
    event = Event(
        new.name,
        new.state_updated_at_micros,
        STATE_UPDATE,
        f"Alarm updated from {old.state} to {new.state}",
        orjson.dumps(data).decode(),
    )
    return [save(scope, new), *happened(snapshot, scope, event)]

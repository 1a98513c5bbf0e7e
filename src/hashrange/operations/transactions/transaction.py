"""All or nothing: several actions on several items, decided and written together.

A transaction is one plan. The store runs plans one after the other as if alone, so nobody ever sees half of it and
it never has to be undone; a transaction that must not happen is cancelled before anything is written, with a
reason for every action.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.engine.units import Consumed, read_units, write_units
from hashrange.engine.usage import READ, WRITE, Usage, Use
from hashrange.errors import (
    AccessDeniedException,
    ClientError,
    ConditionalCheckFailedException,
    DuplicateItemException,
    EmptyKeyValue,
    ItemCollectionSizeLimitExceededException,
    ProvisionedThroughputExceededException,
    Throttled,
    TransactionCanceledException,
    ValidationException,
)
from hashrange.operations.items.actions import FALSE_CONDITIONS, Action, Check, Located, decide, failed_check
from hashrange.storage.interface import Snapshot

REASONS: dict[type[ClientError], str] = {
    ConditionalCheckFailedException: "ConditionalCheckFailed",
    DuplicateItemException: "DuplicateItem",
    ItemCollectionSizeLimitExceededException: "ItemCollectionSizeLimitExceeded",
    ProvisionedThroughputExceededException: "ProvisionedThroughputExceeded",
    Throttled: "ThrottlingError",
    ValidationException: "ValidationError",
    AccessDeniedException: "AccessDenied",
}
SAME_ITEM = "Transaction request cannot include multiple operations on one item"

Reason = dict[str, Any]
INNOCENT: Reason = {"Code": "None"}


def code_of(error: ClientError) -> str:
    return next(code for kind, code in REASONS.items() if isinstance(error, kind))


class Reasons:
    """Why a transaction cannot happen, by the position of its actions."""

    def __init__(self, count: int) -> None:
        self._reasons: list[Reason] = [INNOCENT] * count
        self._invalid = False
        self.any = False

    def add(self, position: int, error: ClientError) -> None:
        """Every false condition is told; of invalid actions only the first."""
        if isinstance(error, ValidationException):
            if self._invalid:
                return
            self._invalid = True
        self.any = True
        shown = {"Item": error.members["Item"]} if "Item" in error.members else {}
        self._reasons[position] = {"Code": code_of(error), "Message": error.message, **shown}

    def raise_if_any(self) -> None:
        if self.any:
            codes = ", ".join(reason["Code"] for reason in self._reasons)
            raise TransactionCanceledException(
                f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
                CancellationReasons=self._reasons,
            )


class Transaction:
    """Several actions carried out together."""

    def __init__(self, db: Database, snapshot: Snapshot, scope: Scope, usage: Usage, actions: Sequence[Action]) -> None:
        usage.begin()
        self._db = db
        self._usage = usage
        self._snapshot = snapshot
        self._actions = actions
        self._reasons = Reasons(len(actions))
        names = dict.fromkeys(action.table_name for action in actions)
        tables = {name: db.table(snapshot, scope, name) for name in names}
        self.tables = [tables[action.table_name] for action in actions]
        self.consumed: dict[str, tuple[Table, Consumed]] = {}
        self.changes = Changes()

    def carry_out(self) -> list[ItemChange]:
        """Decide every action against the same state, or raise with the reasons why not."""
        keys = locate(self.tables, self._actions, self._reasons)
        self._reasons.raise_if_any()
        outcomes: list[ItemChange] = []
        now = self._db.clock.micros()
        for position, (table, action) in enumerate(zip(self.tables, self._actions, strict=True)):
            base_key = keys[position]
            assert base_key is not None
            self.changes.begin()
            try:
                outcomes.append(self._carry_out_one(table, base_key, action, now))
            except tuple(REASONS) as error:
                self._reasons.add(position, error)
        if self._reasons.any:
            self._spare_indexes()
        self._reasons.raise_if_any()
        return outcomes

    def _spare_indexes(self) -> None:
        """A cancelled transaction pays for its items, but has not come as far as the indexes."""
        uses, throttles = tuple(self._usage.uses), self._usage.throttles
        self._usage.begin()
        for use in uses:
            with suppress(Throttled):  # it was let in a moment ago
                self._db.spend(self._usage, replace(use, consumed=Consumed(use.consumed.table)))
        self._usage.throttles = throttles

    def replay(self) -> dict[str, tuple[Table, Consumed]]:
        """What a repeated transaction costs: it is not carried out again, only its items are looked at."""
        consumed: dict[str, tuple[Table, Consumed]] = {}
        for table, action in zip(self.tables, self._actions, strict=True):
            base_key = action.base_key(table)
            size_bytes = table.size_of(self._snapshot, base_key) or 0
            units = Consumed(2 * read_units(size_bytes, consistent=True))
            self._db.spend(self._usage, Use(table, READ, units, base_key, (action.key_attributes,)))
            consumed.setdefault(table.arn, (table, Consumed()))[1].include(units)
        return consumed

    def _carry_out_one(self, table: Table, base_key: bytes, action: Action, now_micros: int) -> ItemChange:
        """A transaction pays double for what it writes to the table, and once for what it writes to indexes."""
        try:
            outcome = decide(table, base_key, self._snapshot, action, now_micros, self.changes)
        except FALSE_CONDITIONS:
            use = failed_check(table, base_key, self._snapshot, action)
            use.consumed.table *= 2
            self._db.spend(self._usage, use)
            raise
        units = self.changes.consumed
        if isinstance(action, Check):
            units.table = write_units(outcome.old.size_bytes if outcome.old else 0)
        units.table *= 2
        self._db.spend(self._usage, Use(table, WRITE, units, base_key, (action.key_attributes,)))
        self.consumed.setdefault(table.arn, (table, Consumed()))[1].include(units)
        return outcome


def locate(tables: Sequence[Table], actions: Sequence[Located], reasons: Reasons) -> list[bytes | None]:
    """The stored key of every action's item; no item may be meant twice."""
    keys: list[bytes | None] = []
    for position, (table, action) in enumerate(zip(tables, actions, strict=True)):
        try:
            keys.append(action.locate(table))
        except EmptyKeyValue:
            raise
        except ValidationException as error:
            reasons.add(position, error)
            keys.append(None)
    meant = [(table.definition.id, key) for table, key in zip(tables, keys, strict=True) if key is not None]
    if len(set(meant)) < len(meant):
        raise ValidationException(SAME_ITEM)
    return keys

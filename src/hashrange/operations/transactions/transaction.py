"""All or nothing: several actions on several items, decided and written together.

A transaction is one plan. The store runs plans one after the other as if alone, so nobody ever sees half of it and
it never has to be undone; a transaction that must not happen is cancelled before anything is written, with a
reason for every action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.engine.table import Changes, Table
from hashrange.engine.units import Consumed, read_units, write_units
from hashrange.errors import (
    ClientError,
    ConditionalCheckFailedException,
    DuplicateItemException,
    EmptyKeyValue,
    ItemCollectionSizeLimitExceededException,
    TransactionCanceledException,
    ValidationException,
)
from hashrange.operations.items.actions import Action, Check, Located, Outcome, carry_out_on
from hashrange.storage.interface import Snapshot

REASONS: dict[type[ClientError], str] = {
    ConditionalCheckFailedException: "ConditionalCheckFailed",
    DuplicateItemException: "DuplicateItem",
    ItemCollectionSizeLimitExceededException: "ItemCollectionSizeLimitExceeded",
    ValidationException: "ValidationError",
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

    def add(self, position: int, error: ClientError) -> None:
        """Every false condition is told; of invalid actions only the first."""
        if isinstance(error, ValidationException):
            if self._invalid:
                return
            self._invalid = True
        self._reasons[position] = {"Code": code_of(error), "Message": error.message, **error.members}

    def raise_if_any(self) -> None:
        if any(reason is not INNOCENT for reason in self._reasons):
            codes = ", ".join(reason["Code"] for reason in self._reasons)
            raise TransactionCanceledException(
                f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
                CancellationReasons=self._reasons,
            )


class Transaction:
    """Several actions carried out together."""

    def __init__(self, db: Database, snapshot: Snapshot, scope: Scope, actions: Sequence[Action]) -> None:
        self._db = db
        self._snapshot = snapshot
        self._actions = actions
        self._reasons = Reasons(len(actions))
        self.tables = [db.table(snapshot, scope, action.table_name) for action in actions]
        self.consumed: dict[str, tuple[Table, Consumed]] = {}
        self.changes = Changes()

    def carry_out(self) -> list[Outcome]:
        """Decide every action against the same state, or raise with the reasons why not."""
        keys = locate(self.tables, self._actions, self._reasons)
        self._reasons.raise_if_any()
        outcomes: list[Outcome] = []
        now = self._db.clock.micros()
        for position, (table, action) in enumerate(zip(self.tables, self._actions, strict=True)):
            base_key = keys[position]
            assert base_key is not None
            self.changes.consumed = Consumed()
            try:
                outcome = carry_out_on(table, base_key, self._snapshot, action, now, self.changes)
            except tuple(REASONS) as error:
                self._reasons.add(position, error)
                continue
            outcomes.append(outcome)
            self._charge(action, outcome)
        self._reasons.raise_if_any()
        return outcomes

    def _charge(self, action: Action, outcome: Outcome) -> None:
        """A transaction pays double for what it writes to the table, and once for what it writes to indexes."""
        units = self.changes.consumed
        if isinstance(action, Check):
            units.table = write_units(outcome.old.size_bytes if outcome.old else 0)
        units.table *= 2
        self.consumed.setdefault(outcome.table.arn, (outcome.table, Consumed()))[1].include(units)


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


def replay_units(tables: Sequence[Table], actions: Sequence[Action], snapshot: Snapshot) -> dict[str, Any]:
    """What a repeated transaction costs: it is not carried out again, only its items are looked at."""
    consumed: dict[str, tuple[Table, Consumed]] = {}
    for table, action in zip(tables, actions, strict=True):
        size_bytes = table.size_of(snapshot, action.base_key(table)) or 0
        arm = consumed.setdefault(table.arn, (table, Consumed()))[1]
        arm.table += 2 * read_units(size_bytes, consistent=True)
    return consumed

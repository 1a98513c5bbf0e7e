"""Requests of virtual clients: what is sent, and what the model makes of it when it takes effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from simulation.model import Item, Key, TableModel, key_of, wire_key

Tables = dict[str, TableModel]
LIFETIMES_SECONDS = (-200_000_000, -100, 5, 600, 90_000)  # what expired six years ago stays
FAILED = "ConditionalCheckFailed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client must be told: an error's code, or members of the answer."""

    members: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


Apply = Callable[[Tables, int], Outcome]


@dataclass(slots=True)
class Request:
    operation: str
    members: dict[str, Any]
    apply: Apply
    outcome: Outcome | None = None  # known once it took effect


@dataclass(frozen=True, slots=True)
class Condition:
    """No item, or a certain version, or nothing asked."""

    version: int | None = None
    absent: bool = False

    def holds(self, old: Item | None) -> bool:
        if self.absent:
            return old is None
        return self.version is None or (old is not None and old["version"] == {"N": str(self.version)})

    def members(self) -> dict[str, Any]:
        if self.absent:
            return {"ConditionExpression": "attribute_not_exists(pk)"}
        if self.version is None:
            return {}
        return {
            "ConditionExpression": "version = :expected",
            "ExpressionAttributeValues": {":expected": {"N": str(self.version)}},
        }


@dataclass(frozen=True, slots=True)
class Action:
    """One write of one item, alone or as part of a transaction or batch."""

    kind: str  # Put, Update, Delete or ConditionCheck
    table: str
    key: Key
    condition: Condition
    item: Item  # what is put, or what an update sets

    def wire(self) -> dict[str, Any]:
        members: dict[str, Any] = {"TableName": self.table, **self.condition.members()}
        if self.kind == "Put":
            return {**members, "Item": self.item}
        members["Key"] = wire_key(self.key)
        if self.kind == "Update":
            values = {":version": self.item["version"], ":one": {"N": "1"}}
            members["ExpressionAttributeValues"] = {**members.get("ExpressionAttributeValues", {}), **values}
            members["UpdateExpression"] = "SET version = :version ADD updates :one REMOVE shade"
        return members

    def new(self, old: Item | None) -> Item | None:
        if self.kind == "ConditionCheck":
            return old
        if self.kind == "Update":
            kept = {name: value for name, value in (old or wire_key(self.key)).items() if name != "shade"}
            updates = int(kept.get("updates", {"N": "0"})["N"]) + 1
            return {**kept, "version": self.item["version"], "updates": {"N": str(updates)}}
        return self.item if self.kind == "Put" else None


class Writer:
    """Makes up data-plane writes."""

    def __init__(self, random: Random, tables: tuple[str, ...], now_seconds: Callable[[], float]) -> None:
        self._random = random
        self._tables = tables
        self._now_seconds = now_seconds
        self._version = 0
        self._tokens: dict[str, tuple[dict[str, Any], list[Action]]] = {}
        self._carried_out: dict[str, int] = {}  # token -> when

    def key(self) -> Key:
        return f"p{self._random.randrange(4)}", f"s{self._random.randrange(4)}"

    def item(self, key: Key) -> Item:
        self._version += 1
        item = {
            **wire_key(key),
            "version": {"N": str(self._version)},
            "padding": {"S": "x" * self._random.randrange(40)},
        }
        if self._random.random() < 0.6:
            item["shade"] = {"S": f"h{self._random.randrange(3)}"}
        if self._random.random() < 0.3:
            item["expires"] = {"N": str(int(self._now_seconds()) + self._random.choice(LIFETIMES_SECONDS))}
        return item

    def action(self, kind: str, table: str | None = None, key: Key | None = None) -> Action:
        key = key or self.key()
        condition = Condition()
        if self._random.random() < 0.35 or kind == "ConditionCheck":
            recent = max(1, self._version - self._random.randrange(20))
            condition = self._random.choice((Condition(absent=True), Condition(version=recent)))
        return Action(kind, table or self._random.choice(self._tables), key, condition, self.item(key))

    def request(self) -> Request:
        make = self._random.choice((self.single, self.single, self.single, self.transaction, self.batch))
        return make()

    def single(self) -> Request:
        action = self.action(self._random.choice(("Put", "Put", "Update", "Delete")))
        shown = "ALL_NEW" if action.kind == "Update" else "ALL_OLD"

        def apply(tables: Tables, micros: int) -> Outcome:
            table = tables.get(action.table)
            if table is None:
                return Outcome(error="ResourceNotFoundException")
            old = table.items.get(action.key)
            if not action.condition.holds(old):
                return Outcome(error="ConditionalCheckFailedException")
            new = action.new(old)
            table.write(action.key, new, micros)
            answer = new if shown == "ALL_NEW" else old
            return Outcome({} if answer is None else {"Attributes": answer})

        return Request(f"{action.kind}Item", {**action.wire(), "ReturnValues": shown}, apply)

    def transaction(self) -> Request:
        if self._tokens and self._random.random() < 0.2:
            token = self._random.choice(list(self._tokens))
            members, actions = self._tokens[token]
        else:
            actions = self._distinct(self._random.randint(1, 4), ("Put", "Update", "Delete", "ConditionCheck"))
            members = {"TransactItems": [{action.kind: action.wire()} for action in actions]}
            token = None
            if self._random.random() < 0.5:
                token = f"token-{len(self._tokens)}"
                members["ClientRequestToken"] = token
                self._tokens[token] = members, actions
        return Request(
            "TransactWriteItems", members, lambda tables, micros: self._carry_out(tables, micros, actions, token)
        )

    def _carry_out(self, tables: Tables, micros: int, actions: list[Action], token: str | None) -> Outcome:
        if token is not None and micros - self._carried_out.get(token, -(10**18)) < 600_000_000:
            return Outcome()  # it has happened
        if any(action.table not in tables for action in actions):
            return Outcome(error="ResourceNotFoundException")
        holds = [action.condition.holds(tables[action.table].items.get(action.key)) for action in actions]
        if not all(holds):
            codes = [{"Code": "None" if held else FAILED} for held in holds]
            return Outcome({"CancellationReasons": codes}, error="TransactionCanceledException")
        for action in actions:
            table = tables[action.table]
            table.write(action.key, action.new(table.items.get(action.key)), micros)
        if token is not None:
            self._carried_out[token] = micros
        return Outcome()

    def batch(self) -> Request:
        actions = self._distinct(self._random.randint(1, 6), ("Put", "Delete"))
        wanted: dict[str, list[dict[str, Any]]] = {}
        for action in actions:
            element = (
                {"PutRequest": {"Item": action.item}}
                if action.kind == "Put"
                else {"DeleteRequest": {"Key": wire_key(action.key)}}
            )
            wanted.setdefault(action.table, []).append(element)

        def apply(tables: Tables, micros: int) -> Outcome:
            if any(action.table not in tables for action in actions):
                return Outcome(error="ResourceNotFoundException")
            for action in actions:
                tables[action.table].write(action.key, action.new(None), micros)
            return Outcome({"UnprocessedItems": {}})

        return Request("BatchWriteItem", {"RequestItems": wanted}, apply)

    def _distinct(self, count: int, kinds: tuple[str, ...]) -> list[Action]:
        actions = [self.action(self._random.choice(kinds)) for _ in range(count)]
        return list({(action.table, action.key): action for action in actions}.values())


def items_by_key(items: list[Item]) -> dict[Key, Item]:
    return {key_of(item): item for item in items}

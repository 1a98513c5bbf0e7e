"""A client that knows what must be in the database, because nobody else writes its keys.

Each write of a key carries the next version number. A `Slot` is one key, or three, in two tables, that are only written
together by transactions. It remembers what was last acknowledged and what was sent since; after a crash the database
must hold one of the two, the same in all keys of the slot. A `Mayfly` is a key whose items have expired when they are
written, so that time to live may remove them at any moment.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from crash.client import Client, Lost, key

TABLE = "versions"
LEDGER = "ledger"
SINGLES = 12
TRIPLES = 4
MAYFLIES = 2
BATCH = 4
ABSENT = 0  # the version of an item that is not there
EXPIRED_AT = "1750000000"

SCHEMA: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "group", "AttributeType": "S"},
        {"AttributeName": "version", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by-version",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "version", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-group",
            "KeySchema": [
                {"AttributeName": "group", "KeyType": "HASH"},
                {"AttributeName": "version", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


LEDGER_SCHEMA: dict[str, Any] = {
    "TableName": LEDGER,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}

Place = tuple[str, dict[str, Any]]  # a table, and a key in it
Name = tuple[str, ...]  # the same, to be compared: the table's name and the key's values
Request = tuple[str, dict[str, Any]]


def name_of(table: str, item: dict[str, Any]) -> Name:
    return (table, *(item[part]["S"] for part in ("pk", "sk") if part in item))


@dataclass
class Slot:
    """What is known about keys that always have the same version."""

    places: list[Place]
    last: int = 0  # the highest version ever sent
    acknowledged: int = ABSENT
    sent: int | None = None  # what the write under way will leave: a version, or ABSENT
    request: Request | None = None  # the write under way
    history: list[int] = field(default_factory=list)  # the versions it has had since somebody asked

    @property
    def possible(self) -> set[int]:
        return {self.acknowledged} if self.sent is None else {self.acknowledged, self.sent}

    def settle(self, version: int) -> None:
        if version != self.acknowledged:
            self.history.append(version)
        self.acknowledged = version
        self.sent = self.request = None


@dataclass
class Mayfly:
    """What is known about a key whose items vanish by themselves."""

    key: dict[str, Any]
    last: int = 0
    acknowledged: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    sent: int | None = None


@dataclass
class Report:
    """What one owner, or all of them together, know when nothing is under way."""

    versions: dict[Name, int] = field(default_factory=dict)
    histories: dict[Name, list[int]] = field(default_factory=dict)  # since the last report
    mayflies: dict[Name, tuple[list[int], list[int]]] = field(default_factory=dict)  # acknowledged and unknown
    writes: int = 0

    def add(self, other: Report) -> None:
        self.versions.update(other.versions)
        self.histories.update(other.histories)
        self.mayflies.update(other.mayflies)
        self.writes += other.writes


class Owner:
    """One thread's worth of writes."""

    def __init__(self, number: int, seed: str) -> None:
        self.random = Random(f"{seed}/{number}")
        self.number = number
        self.writes = 0
        self.singles = [Slot([(TABLE, key(f"owner-{number}", f"single-{n:03d}"))]) for n in range(SINGLES)]
        self.triples = [Slot(self._legs(n)) for n in range(TRIPLES)]
        self.mayflies = [Mayfly(key(f"mayfly-{number}", str(n))) for n in range(MAYFLIES)]

    def _legs(self, n: int) -> list[Place]:
        return [
            (TABLE, key(f"owner-{self.number}-a", f"triple-{n}")),
            (TABLE, key(f"owner-{self.number}-b", f"triple-{n}")),
            (LEDGER, key(f"owner-{self.number}-triple-{n}")),
        ]

    @property
    def slots(self) -> list[Slot]:
        return self.singles + self.triples

    def run(self, client: Client) -> None:
        """Write until the server is gone; if only a worker died, see what became of everything and go on."""
        with suppress(Lost):
            while True:
                try:
                    self.write(client)
                except Lost:
                    self.settle(client)

    def write(self, client: Client, times: int = 1) -> None:
        for _ in range(times):
            kind = self.random.choice(("single",) * 12 + ("triple",) * 4 + ("batch",) * 2 + ("mayfly",))
            if kind == "batch":
                self._write_batch(client, self.random.sample(self.singles, BATCH))
            elif kind == "mayfly":
                self._write_mayfly(client, self.random.choice(self.mayflies))
            elif kind == "triple":
                self._write_triple(client, self.random.choice(self.triples))
            else:
                self._write_single(client, self.random.choice(self.singles))

    def _write_single(self, client: Client, slot: Slot) -> None:
        version = next_version(slot)
        [(table, item_key)] = slot.places
        kind = self.random.choice(("put", "put", "update", "update", "delete"))
        if kind == "put":
            request = "PutItem", {"TableName": table, "Item": self._item(item_key, version)}
        elif kind == "update":
            request = "UpdateItem", self._update(slot, slot.places[0], version)
        else:
            request, version = ("DeleteItem", {"TableName": table, "Key": item_key}), ABSENT
        self._send(client, request, [(slot, version)])

    def _write_triple(self, client: Client, slot: Slot) -> None:
        version = next_version(slot)
        self._send(client, ("TransactWriteItems", self._transaction(slot, version)), [(slot, version)])

    def _write_batch(self, client: Client, slots: list[Slot]) -> None:
        """Several puts and a deletion in one request, each of which may or may not have happened after a crash."""
        leaves = [(slot, next_version(slot)) for slot in slots[:-1]]
        elements: list[dict[str, Any]] = [
            {"PutRequest": {"Item": self._item(slot.places[0][1], version)}} for slot, version in leaves
        ]
        elements.append({"DeleteRequest": {"Key": slots[-1].places[0][1]}})
        self._send(client, ("BatchWriteItem", {"RequestItems": {TABLE: elements}}), [*leaves, (slots[-1], ABSENT)])

    def _write_mayfly(self, client: Client, mayfly: Mayfly) -> None:
        mayfly.last += 1
        mayfly.sent = mayfly.last
        item = {**self._item(mayfly.key, mayfly.last), "expires": {"N": EXPIRED_AT}}
        client("PutItem", TableName=TABLE, Item=item)
        mayfly.acknowledged.append(mayfly.last)
        mayfly.sent = None
        self.writes += 1

    def _send(self, client: Client, request: Request, leaves: list[tuple[Slot, int]]) -> None:
        for slot, version in leaves:
            slot.sent, slot.request = version, request
        operation, members = request
        answer = client(operation, **members)
        assert not answer.get("UnprocessedItems")
        for slot, version in leaves:
            slot.settle(version)
        self.writes += 1

    def _item(self, item_key: dict[str, Any], version: int) -> dict[str, Any]:
        padding = "x" * self.random.choice((0, 10, 300, 3000))
        shown = {"version": {"N": str(version)}, "group": self._group(), "shade": shade_of(version)}
        return {**item_key, **shown, "padding": {"S": padding}}

    def _group(self) -> dict[str, str]:
        return {"S": f"group-{self.random.randrange(5)}"}

    def _update(self, slot: Slot, place: Place, version: int) -> dict[str, Any]:
        """An update that only fits what was acknowledged last."""
        values = {":new": {"N": str(version)}, ":group": self._group(), ":shade": shade_of(version)}
        condition = "attribute_not_exists(pk)"
        if slot.acknowledged != ABSENT:
            values[":old"] = {"N": str(slot.acknowledged)}
            condition = "version = :old"
        return {
            "TableName": place[0],
            "Key": place[1],
            "UpdateExpression": "SET version = :new, #g = :group, shade = :shade",
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#g": "group"},
            "ExpressionAttributeValues": values,
        }

    def _transaction(self, slot: Slot, version: int) -> dict[str, Any]:
        (first_table, first), second, (third_table, third) = slot.places
        return {
            "ClientRequestToken": f"{self.number}-{first['sk']['S']}-{version}",
            "TransactItems": [
                {"Put": {"TableName": first_table, "Item": self._item(first, version)}},
                {"Update": self._update(slot, second, version)},
                {"Put": {"TableName": third_table, "Item": self._item(third, version)}},
            ],
        }

    def settle(self, client: Client) -> None:
        """Find out what became of everything, and insist that it is something that was sent."""
        for slot in self.slots:
            found = {self._version(client, place) for place in slot.places}
            assert len(found) == 1, f"half a transaction: {slot.places} have versions {found}"
            assert found <= slot.possible, f"{slot.places} has version {found}, not one of {slot.possible}"
            if slot.request is not None and len(slot.places) > 1:
                # Its token makes it safe to send again; its condition would refuse to happen twice.
                operation, members = slot.request
                client.patiently(operation, **members)
                assert slot.sent is not None
                found = {slot.sent}
                assert {self._version(client, place) for place in slot.places} == found
            slot.settle(found.pop())
        for mayfly in self.mayflies:
            self._settle_mayfly(client, mayfly)

    def _settle_mayfly(self, client: Client, mayfly: Mayfly) -> None:
        if mayfly.sent is not None:
            mayfly.unknown.append(mayfly.sent)
            mayfly.sent = None
        found = self._version(client, (TABLE, mayfly.key))
        assert found in {ABSENT, *mayfly.acknowledged[-1:], *mayfly.unknown}, f"{mayfly.key} has version {found}"

    def _version(self, client: Client, place: Place) -> int:
        table, item_key = place
        answer = client.patiently("GetItem", TableName=table, Key=item_key, ConsistentRead=True)
        return int(answer["Item"]["version"]["N"]) if "Item" in answer else ABSENT

    def report(self) -> Report:
        """What is known when everything is settled; what happened is told once."""
        report = Report(writes=self.writes)
        for slot in self.slots:
            history, slot.history = slot.history, []
            for place in slot.places:
                report.versions[name_of(*place)] = slot.acknowledged
                report.histories[name_of(*place)] = history
        for mayfly in self.mayflies:
            report.mayflies[name_of(TABLE, mayfly.key)] = (list(mayfly.acknowledged), list(mayfly.unknown))
        return report


def shade_of(version: int) -> dict[str, str]:
    return {"S": f"shade-{version % 3}"}


def next_version(slot: Slot) -> int:
    slot.last += 1
    return slot.last

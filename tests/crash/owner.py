"""A client that knows what must be in the database, because nobody else writes its keys.

Each write of a key carries the next version number. A `Slot` is one key, or three that are only written together by
transactions. It remembers what was last acknowledged and what was sent since; after a crash the database must hold
one of the two, the same in all keys of the slot.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from crash.client import Client, Lost, key

TABLE = "versions"
SINGLES = 12
TRIPLES = 4
ABSENT = 0  # the version of an item that is not there

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


@dataclass
class Slot:
    """What is known about keys that always have the same version."""

    keys: list[dict[str, Any]]
    last: int = 0  # the highest version ever sent
    acknowledged: int = ABSENT
    sent: int | None = None  # what the write under way will leave: a version, or ABSENT
    request: tuple[str, dict[str, Any]] | None = None  # the write under way

    @property
    def possible(self) -> set[int]:
        return {self.acknowledged} if self.sent is None else {self.acknowledged, self.sent}

    def settle(self, version: int) -> None:
        self.acknowledged = version
        self.sent = self.request = None


class Owner:
    """One thread's worth of writes."""

    def __init__(self, number: int, seed: str) -> None:
        self.random = Random(f"{seed}/{number}")
        self.number = number
        self.writes = 0
        self.singles = [Slot([key(f"owner-{number}", f"single-{n:03d}")]) for n in range(SINGLES)]
        self.triples = [Slot([key(f"owner-{number}-{leg}", f"triple-{n}") for leg in "abc"]) for n in range(TRIPLES)]

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
            self._write(client, self.random.choice(self.slots))

    def _write(self, client: Client, slot: Slot) -> None:
        slot.last += 1
        version = slot.last
        if len(slot.keys) > 1:
            self._send(client, slot, version, "TransactWriteItems", self._transaction(slot, version))
            return
        kind = self.random.choice(("put", "put", "update", "update", "delete"))
        if kind == "put":
            item = self._item(slot.keys[0], version)
            self._send(client, slot, version, "PutItem", {"TableName": TABLE, "Item": item})
        elif kind == "update":
            self._send(client, slot, version, "UpdateItem", self._update(slot, slot.keys[0], version))
        else:
            self._send(client, slot, ABSENT, "DeleteItem", {"TableName": TABLE, "Key": slot.keys[0]})

    def _send(self, client: Client, slot: Slot, leaves: int, operation: str, members: dict[str, Any]) -> None:
        slot.sent, slot.request = leaves, (operation, members)
        client(operation, **members)
        slot.settle(leaves)
        self.writes += 1

    def _item(self, item_key: dict[str, Any], version: int) -> dict[str, Any]:
        padding = "x" * self.random.choice((0, 10, 300, 3000))
        return {**item_key, "version": {"N": str(version)}, "group": self._group(), "padding": {"S": padding}}

    def _group(self) -> dict[str, str]:
        return {"S": f"group-{self.random.randrange(5)}"}

    def _update(self, slot: Slot, item_key: dict[str, Any], version: int) -> dict[str, Any]:
        """An update that only fits what was acknowledged last."""
        values = {":new": {"N": str(version)}, ":group": self._group()}
        condition = "attribute_not_exists(pk)"
        if slot.acknowledged != ABSENT:
            values[":old"] = {"N": str(slot.acknowledged)}
            condition = "version = :old"
        return {
            "TableName": TABLE,
            "Key": item_key,
            "UpdateExpression": "SET version = :new, #g = :group",
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#g": "group"},
            "ExpressionAttributeValues": values,
        }

    def _transaction(self, slot: Slot, version: int) -> dict[str, Any]:
        first, second, third = slot.keys
        return {
            "ClientRequestToken": f"{self.number}-{slot.keys[0]['sk']['S']}-{version}",
            "TransactItems": [
                {"Put": {"TableName": TABLE, "Item": self._item(first, version)}},
                {"Update": self._update(slot, second, version)},
                {"Put": {"TableName": TABLE, "Item": self._item(third, version)}},
            ],
        }

    def settle(self, client: Client) -> None:
        """Find out what became of everything, and insist that it is something that was sent."""
        for slot in self.slots:
            found = {self._version(client, item_key) for item_key in slot.keys}
            assert len(found) == 1, f"half a transaction: {slot.keys} have versions {found}"
            assert found <= slot.possible, f"{slot.keys} has version {found}, not one of {slot.possible}"
            if slot.request is not None and len(slot.keys) > 1:
                # Its token makes it safe to send again; its condition would refuse to happen twice.
                operation, members = slot.request
                client.patiently(operation, **members)
                assert slot.sent is not None
                found = {slot.sent}
                assert {self._version(client, item_key) for item_key in slot.keys} == found
            slot.settle(found.pop())

    def _version(self, client: Client, item_key: dict[str, Any]) -> int:
        answer = client.patiently("GetItem", TableName=TABLE, Key=item_key, ConsistentRead=True)
        return int(answer["Item"]["version"]["N"]) if "Item" in answer else ABSENT

"""The control plane of a simulated world: tables, indexes, streams, expiry, backups and restores that come and go.

Whether such a request succeeds depends on what is under way, so the database decides; but when it does succeed the
model follows, and what comes of it must be what the model says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from hashrange.storage import Result
from simulation.model import GUEST, STEADY, Item, Key, StreamModel, TableModel, key_of

if TYPE_CHECKING:
    from harness import FakeExchange
    from simulation.world import World

SCHEMA: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
}
KEY_TYPES = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
SHADE_TYPE = {"AttributeName": "shade", "AttributeType": "S"}
BY_SHADE: dict[str, Any] = {
    "IndexName": "by-shade",
    "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
LOCAL: dict[str, Any] = {
    "IndexName": "by-shade-here",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "shade", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}
RETENTION_MICROS = 86_400_000_000
REFUSALS = {
    "ResourceInUseException",
    "ResourceNotFoundException",
    "ValidationException",
    "LimitExceededException",
    "TableAlreadyExistsException",
    "TableInUseException",
    "TableNotFoundException",
    "BackupInUseException",
    "BackupNotFoundException",
    "ContinuousBackupsUnavailableException",
    "PointInTimeRecoveryUnavailableException",
    "InvalidRestoreTimeException",
    "InternalServerError",
}

Follow = Callable[[Any], object]


class Control:
    def __init__(self, world: World) -> None:
        self._world = world
        self._sent: list[FakeExchange] = []
        self._backups: dict[str, dict[Key, Item]] = {}
        self._restored: dict[str, dict[Key, Item]] = {}
        self._targets = 0
        self._guest_changed_at = -1

    def something(self) -> None:
        random = self._world.random
        table = random.choice(STEADY)
        random.choice(
            (
                lambda: self.create_index(table),
                lambda: self.delete_index(table),
                lambda: self.enable_stream(table),
                lambda: self.disable_stream(table),
                lambda: self.set_expiry(table, enabled=random.random() < 0.7),
                lambda: self.set_recovery(table, enabled=random.random() < 0.8),
                lambda: self.create_backup(random.choice(STEADY)),
                self.back_up_and_delete_guest,
                self.delete_backup,
                self.restore_backup,
                lambda: self.restore_past(table),
                lambda: self.create_table(GUEST),
                lambda: self.delete_table(GUEST),
            )
        )()

    def send(self, operation: str, follow: Follow, **members: Any) -> None:
        """Send a request; if it takes effect, `follow` is given its answer at that moment."""

        def effect(result: Result) -> None:
            if result.error is None:
                follow(orjson.loads(orjson.dumps(result.answer)))
                self._world.counts["control-plane changes"] += 1

        self._world.store.effect = effect
        self._sent.append(self._world.submit(operation, members))

    def hear(self) -> None:
        """Refusals are no surprise, but they must be of a kind that clients know."""
        for exchange in self._sent:
            if exchange.answer is not None and exchange.answer[0] != 200:
                code = orjson.loads(exchange.answer[2])["__type"].rpartition("#")[2]
                assert code in REFUSALS, exchange.answer
        self._sent = [exchange for exchange in self._sent if exchange.answer is None]

    # Tables

    def uncertain_tables(self) -> set[str]:
        """Tables that come or go now, so that requests may find them or not."""
        delay = self._world.settings.database.table_delay_micros
        is_gone = GUEST not in self._world.tables
        return {GUEST} if is_gone or self._world.clock.micros() <= self._guest_changed_at + delay else set()

    def create_table(self, name: str) -> None:
        members = {**SCHEMA, "AttributeDefinitions": KEY_TYPES}
        if name != STEADY[0]:
            members |= {"AttributeDefinitions": [*KEY_TYPES, SHADE_TYPE], "LocalSecondaryIndexes": [LOCAL]}

        def follow(answer: Any) -> None:
            self._world.tables[name] = TableModel(name, self._world.clock.micros())
            self._note_change(name)

        self.send("CreateTable", follow, TableName=name, **members)

    def delete_table(self, name: str) -> None:
        def follow(answer: Any) -> None:
            self._world.tables.pop(name, None)
            self._note_change(name)

        self.send("DeleteTable", follow, TableName=name)

    def _note_change(self, name: str) -> None:
        if name == GUEST:
            self._guest_changed_at = self._world.clock.micros()

    # Indexes

    def create_index(self, table: str) -> None:
        self.send(
            "UpdateTable",
            lambda answer: None,
            TableName=table,
            AttributeDefinitions=[SHADE_TYPE],
            GlobalSecondaryIndexUpdates=[{"Create": BY_SHADE}],
        )

    def delete_index(self, table: str) -> None:
        updates = [{"Delete": {"IndexName": "by-shade"}}]
        self.send("UpdateTable", lambda answer: None, TableName=table, GlobalSecondaryIndexUpdates=updates)

    # Streams, time to live and recovery

    def enable_stream(self, name: str) -> None:
        def follow(answer: Any) -> None:
            table = self._world.tables[name]
            arn = answer["TableDescription"]["LatestStreamArn"]
            table.streams.append(StreamModel(arn, len(table.changes)))

        wanted = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        self.send("UpdateTable", follow, TableName=name, StreamSpecification=wanted)

    def disable_stream(self, name: str) -> None:
        def follow(answer: Any) -> None:
            table = self._world.tables[name]
            table.streams[-1].last = len(table.changes)
            table.streams[-1].disabled_at_micros = self._world.clock.micros()

        self.send("UpdateTable", follow, TableName=name, StreamSpecification={"StreamEnabled": False})

    def set_expiry(self, name: str, *, enabled: bool) -> None:
        def follow(answer: Any) -> None:
            self._world.tables[name].expires_by = "expires" if enabled else None

        wanted = {"AttributeName": "expires", "Enabled": enabled}
        self.send("UpdateTimeToLive", follow, TableName=name, TimeToLiveSpecification=wanted)

    def set_recovery(self, name: str, *, enabled: bool) -> None:
        def follow(answer: Any) -> None:
            table = self._world.tables[name]
            since = table.recovery_since_micros or self._world.clock.micros()
            table.recovery_since_micros = since if enabled else None

        wanted = {"PointInTimeRecoveryEnabled": enabled}
        self.send("UpdateContinuousBackups", follow, TableName=name, PointInTimeRecoverySpecification=wanted)

    # Backups and restores

    def create_backup(self, name: str) -> None:
        def follow(answer: Any) -> None:
            self._backups[answer["BackupDetails"]["BackupArn"]] = dict(self._world.tables[name].items)

        self.send("CreateBackup", follow, TableName=name, BackupName="backup")

    def back_up_and_delete_guest(self) -> None:
        """A table may go while its backup is being made."""
        self.create_backup(GUEST)
        if self._world.random.random() < 0.7:
            self.commit_until_sent()
            self.delete_table(GUEST)

    def commit_until_sent(self) -> None:
        while self._world.store.waiting:
            self._world.commit()

    def delete_backup(self) -> None:
        if self._backups:
            arn = self._world.random.choice(list(self._backups))
            self.send("DeleteBackup", lambda answer: self._backups.pop(arn, None), BackupArn=arn)

    def restore_backup(self, arn: str | None = None) -> None:
        if not self._backups:
            return
        arn = arn or self._world.random.choice(list(self._backups))
        target, expected = self._target(), self._backups[arn]
        self.send("RestoreTableFromBackup", self._expect(target, expected), BackupArn=arn, TargetTableName=target)

    def restore_past(self, name: str) -> None:
        """Bring a table back to a moment since recovery was enabled, before now."""
        table, now = self._world.tables[name], self._world.clock.micros()
        if table.recovery_since_micros is None or table.recovery_since_micros >= now - 1:
            return
        earliest = max(table.recovery_since_micros, now - 34 * RETENTION_MICROS)
        micros = self._world.random.randrange(earliest, now)
        if self._world.random.random() < 0.7 and table.changes:  # most interesting is the neighbourhood of a change
            change = self._world.random.choice(table.changes)
            micros = min(max(change.micros + self._world.random.choice((-1, 0, 1)), earliest), now - 1)
        target = self._target()
        self.send(
            "RestoreTableToPointInTime",
            self._expect(target, table.at(micros)),
            SourceTableName=name,
            TargetTableName=target,
            RestoreDateTime=micros / 1_000_000,
        )

    def _target(self) -> str:
        self._targets += 1
        return f"restored-{self._targets}"

    def _expect(self, target: str, expected: dict[Key, Item]) -> Follow:
        def follow(answer: Any) -> None:
            self._restored[target] = expected

        return follow

    # Looking

    def look(self) -> None:
        for name in STEADY:
            self._look_at_index(name)
            for stream in self._world.tables[name].streams:
                self._look_at_stream(self._world.tables[name], stream)
        for name in list(self._restored):
            self._look_at_restored(name)

    def _look_at_index(self, name: str) -> None:
        description = self._world.ask("DescribeTable", TableName=name)["Table"]
        is_late = bool(self._world.settings.database.index_delay_micros)
        for index in description.get("GlobalSecondaryIndexes", []):
            if index["IndexStatus"] == "ACTIVE" and not is_late:
                found = self._world.scan(name, IndexName=index["IndexName"])
                assert found == shaded(self._world.tables[name])
        if name != STEADY[0]:
            found = self._world.scan(name, IndexName=LOCAL["IndexName"])
            assert set(found) == set(shaded(self._world.tables[name]))

    def _look_at_stream(self, table: TableModel, stream: StreamModel) -> None:
        """Its records are the changes of each item, in order; older ones than a day are gone."""
        now = self._world.clock.micros()
        if stream.disabled_at_micros is not None and now >= stream.disabled_at_micros + RETENTION_MICROS:
            return
        found: dict[Key, list[tuple[Item | None, Item | None, bool]]] = {}
        for record in self._records(stream.arn):
            shown = record["dynamodb"]
            images = shown.get("OldImage"), shown.get("NewImage"), "userIdentity" in record
            found.setdefault(key_of(shown["Keys"]), []).append(images)
        expected: dict[Key, list[tuple[Item | None, Item | None, bool]]] = {}
        for change in table.shown(stream, now - RETENTION_MICROS):
            expected.setdefault(change.key, []).append((change.old, change.new, change.by_service))
        assert found == expected
        self._world.counts["stream records"] += sum(map(len, found.values()))

    def _records(self, arn: str) -> list[dict[str, Any]]:
        ask = self._world.ask
        found: list[dict[str, Any]] = []
        shards: list[dict[str, Any]] = []
        page = ask("DescribeStream", StreamArn=arn)["StreamDescription"]
        shards += page["Shards"]
        while "LastEvaluatedShardId" in page:
            last = page["LastEvaluatedShardId"]
            page = ask("DescribeStream", StreamArn=arn, ExclusiveStartShardId=last)["StreamDescription"]
            shards += page["Shards"]
        for shard in shards:
            wanted = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            iterator = ask("GetShardIterator", StreamArn=arn, **wanted)["ShardIterator"]
            while iterator is not None:
                records = ask("GetRecords", ShardIterator=iterator)
                found += records["Records"]
                iterator = records.get("NextShardIterator") if records["Records"] else None
        return sorted(found, key=lambda record: int(record["dynamodb"]["SequenceNumber"]))

    def _look_at_restored(self, name: str) -> None:
        description = self._world.ask("DescribeTable", TableName=name)["Table"]
        if description["TableStatus"] != "ACTIVE":
            return
        assert self._world.scan(name) == self._restored[name]
        assert description["ItemCount"] == len(self._restored[name])
        del self._restored[name]
        self._world.counts["tables restored"] += 1
        self.send("DeleteTable", lambda answer: None, TableName=name)

    def look_at_everything(self) -> None:
        """When all is settled: no item is overdue, every backup and some moments of the past can be brought back."""
        world = self._world
        assert all(table.expired(world.clock.seconds()) == [] for table in world.tables.values())
        for arn in list(self._backups):
            self.restore_backup(arn)
            world.settle()
        for name in STEADY:
            for _ in range(2):
                self.restore_past(name)
                world.settle()
        world.clock.advance(1)
        world.settle()
        world.look()
        assert self._restored == {}, "a restored table never became active"
        world.settle()
        world.look()


def shaded(table: TableModel) -> dict[Key, Item]:
    return {key: item for key, item in table.items.items() if "shade" in item}

"""Power cuts: load a server on a recorded disk, cut the power at any moment of the record, and look at what is left.

The record has every write and every sync in order. At a moment of it the disk holds all that was synced and whatever
it pleases of what was not, sectors of a write torn apart included. A write that was acknowledged before that moment
must be in every database that can be rebuilt so, transactions must be whole, and `check` must find nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from crash.client import Client, key
from crash.faults import Disk, Event, Platter, read_journal
from crash.server import Server
from harness import Engine
from hashrange.cli.check import problems
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore, Plan, write_and_wait

TABLE = "powered"
PAIRS = 8
SCHEMA: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "shade", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-shade",
            "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


@dataclass
class Story:
    """One client's pairs of items: each pair is only ever written together, with the next version."""

    number: int
    random: Random
    acknowledged: list[tuple[int, int, int]] = field(default_factory=list)  # journal position, pair, version

    def keys(self, pair: int) -> list[dict[str, Any]]:
        return [key(f"{self.number}-{pair}-{side}") for side in "ab"]

    def write(self, client: Client, disk: Disk, version: int) -> None:
        pair = self.random.randrange(PAIRS)
        size = self.random.choice((0, 100, 5000, 20_000))
        item = {"version": {"N": str(version)}, "shade": {"S": str(version % 3)}, "padding": {"S": "x" * size}}
        puts = [{"Put": {"TableName": TABLE, "Item": {**each, **item}}} for each in self.keys(pair)]
        client("TransactWriteItems", TransactItems=puts)
        self.acknowledged.append((disk.written(), pair, version))

    def known_at(self, position: int) -> dict[int, int]:
        """The version of each pair that was acknowledged last before a moment."""
        return {pair: version for at, pair, version in self.acknowledged if at <= position}


def record_load(directory: Path, seed: str, *, clients: int = 4, writes: int = 40, workers: int = 1) -> Recording:
    """Load a new database from its very first write on, and keep the record."""
    disk = Disk(directory / "disk", journal=True)
    stories = [Story(number, Random(f"{seed}/{number}")) for number in range(clients)]

    def run(story: Story) -> None:
        with Client(server.port) as client:
            for version in range(1, writes + 1):
                story.write(client, disk, version)

    with Server(directory / "data", env=disk.environment, workers=workers) as server:
        with Client(server.port) as client:
            client("CreateTable", **SCHEMA)
        created_at = disk.written()
        threads = [threading.Thread(target=run, args=(story,)) for story in stories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.stop() == 0
    events = list(read_journal(disk.journal))
    assert all(len(story.acknowledged) == writes for story in stories)
    return Recording(stories, events, created_at)


@dataclass
class Recording:
    stories: list[Story]
    events: list[Event]
    created_at: int  # when the table was acknowledged

    def cut(self, random: Random) -> None:
        """Cut the power once, at any moment after the table was made, and look."""
        with tempfile.TemporaryDirectory(prefix="hashrange-power-") as directory:
            self.look(Path(directory), self.leave(Path(directory), random))

    def leave(self, data: Path, random: Random) -> int:
        """Write what a power cut leaves into a directory, and tell when it happened."""
        moments = [number for number, event in enumerate(self.events) if event.ends_at >= self.created_at]
        last = random.choice(moments)
        platter = Platter()
        for event in self.events[: last + 1]:
            platter.take(event)
        (data / "data.mdb").write_bytes(platter.after_power_cut(random))
        return self.events[last].ends_at

    def look(self, data: Path, position: int) -> None:
        store = LmdbStore.open(data)
        try:
            assert list(problems(store)) == []
            engine = Engine(store)
            for story in self.stories:
                known = story.known_at(position)
                for pair in range(PAIRS):
                    versions = {self.version(engine, item_key) for item_key in story.keys(pair)}
                    assert len(versions) == 1, f"half a transaction: pair {pair} of {story.number} has {versions}"
                    assert versions.pop() >= known.get(pair, 0), f"pair {pair} of {story.number} lost a write"
            write_and_wait(store, lambda snapshot: Plan([(keyspace.META + b"after", b"")]))  # life goes on
            assert list(problems(store)) == []
        finally:
            store.close()

    def version(self, engine: Engine, item_key: dict[str, Any]) -> int:
        answer = engine.call("GetItem", TableName=TABLE, Key=item_key)
        return int(answer["Item"]["version"]["N"]) if "Item" in answer else 0


def cut_again_and_again(seed: str, cuts: int, *, workers: int = 1) -> Recording:
    """One recording and many power cuts. A failure names its seed."""
    directory = Path(tempfile.mkdtemp(prefix="hashrange-power-"))
    try:
        recording = record_load(directory, seed, workers=workers)
        for number in range(cuts):
            recording.cut(Random(f"{seed}/cut/{number}"))
    except BaseException as error:
        error.add_note(f"Run it again with SEED={seed}.")
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return recording

"""The crash driver: loads a server from several client processes, kills it at all kinds of points, and looks.

A campaign is a number of rounds on one database. Each round starts a server on what the last kill left and insists that

- every acknowledged write is there, and every other one happened or did not, transactions as a whole (`owner.py`);
- the tables and their indexes hold these items and no others, and `check` finds nothing;
- the streams' records are exactly the changes that happened, each once and in order (`followed.py`);
- backups, restored tables, new indexes and trimming, all under way at the last kill, go on and end right (`chores.py`);

then starts more background work, loads the server, and kills it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import orjson

from crash.chores import BackupChore, Chore, ClockChore, IndexChore, PastChore, present, versions_in
from crash.client import Client
from crash.faults import Action, Calls, Disk, library
from crash.followed import Follower
from crash.load import Load
from crash.owner import LEDGER, LEDGER_SCHEMA, SCHEMA, TABLE, Report, name_of
from crash.server import HASHRANGE, Server, environment
from hashrange.cli.check import problems
from hashrange.storage import LmdbStore

PROCESSES = 3
OWNERS_EACH = 2
BALLAST = 1500  # items that nobody changes, so that background work has something to do
BATCH = 25
LOAD_SECONDS = (0.15, 0.5)
DURABILITIES = ("sync", "sync", "sync", "relaxed", "none")  # a dead process loses nothing in any of them
STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}

JOBS = (
    "job",
    "job",
    "job",
    "fill-indexes",
    "fill-copies",
    "trim-log",
    "expire-items",
    "remove-deleted",
    "forget-backups",
)
POINTS = ("plan", "before", "inside", "after")
COMPACTION_POINTS = ("copy", "copy", "sync", "replace", "end")
KINDS = ("server",) * 3 + ("worker",) * 3 + ("stopped worker",) * 2 + ("point",) * 4 + ("job",) * 4 + ("call",) * 4


class Campaign:
    """Rounds on one database. `figures` counts what was done."""

    def __init__(self, directory: Path, seed: str) -> None:
        self.figures: Counter[str] = Counter()
        self._data = directory / "data"
        self._directory = directory
        self._random = Random(seed)
        self._load = Load(PROCESSES, OWNERS_EACH, seed)
        self._index, self._backup, self._past = IndexChore(), BackupChore(), PastChore()
        self._clock = ClockChore(self._random)
        self._ballast: dict[tuple[str, ...], int] = {}
        self._followers: list[Follower] = []
        self._days_followed = 0
        self._turn = 0
        self._report = Report()

    def run(self, rounds: int, progress: Callable[[int, Counter[str]], None] = lambda turn, figures: None) -> None:
        try:
            for _ in range(rounds):
                self._round()
                self._turn += 1
                progress(self._turn, self._count())
            with self._server(workers=2) as server:
                self._look(server)
                assert server.stop() == 0
            self._check_file()
            self._count()
        finally:
            self._load.close()

    def _count(self) -> Counter[str]:
        self.figures["rounds"] = self._turn
        self.figures["acknowledged writes"] = self._report.writes
        self.figures["stream records"] = sum(follower.records for follower in self._followers)
        self.figures["indexes filled"] = self._index.filled
        self.figures["tables restored"] = self._backup.restored + self._past.restored
        self.figures["days trimmed"] = self._clock.days
        return self.figures

    def _server(self, **options: Any) -> Server:
        durability = self._random.choice(DURABILITIES)
        return Server(self._data, "--durability", durability, "--dev-clock", **options)

    # One round

    def _round(self) -> None:
        """Restart on what the last kill left, look at it, load it, and kill again."""
        kind = self._random.choice(KINDS)
        if kind == "call" and library() is None:
            kind = "point"
        workers = 2 if "worker" in kind else self._random.choice((1, 2))
        if kind == "call":
            disk = Disk(self._directory / "disk")
            server = self._server(workers=workers, env=disk.environment)
            strike = lambda server: self._strike_call(server, disk)  # noqa: E731
        elif kind in ("point", "job"):
            marker = self._directory / f"marker-{self._turn}"
            server = self._server(workers=workers, launcher=launcher(self._bomb(kind, marker)))
            strike = lambda server: self._strike_point(server, marker)  # noqa: E731
        else:
            server = self._server(workers=workers)
            strike = {"server": self._strike_server, "worker": self._strike_worker}.get(kind, self._strike_stopped)
        with server:
            if self._turn == 0:
                self._set_up(server)
            self._look(server)
            self._do_chores(server)
            self._load_and_kill(server, strike)
            said = [line for line in server.lines if " error " in line or "Traceback" in line]
            assert not said, said
        self.figures[f"kills: {kind}"] += 1
        if self._random.random() < 0.3:
            self._check_file()  # on what a kill left, before anybody has opened it for writing
        if self._random.random() < 0.15:
            self._compact()

    def _bomb(self, kind: str, marker: Path) -> dict[str, Any]:
        whose = self._random.choice(JOBS) if kind == "job" else "any"
        nth = self._random.randint(1, 6) if kind == "job" else self._random.randint(20, 200)
        fuse = str(self._fuse(marker))
        return {"where": self._random.choice(POINTS), "whose": whose, "nth": nth, "fuse": fuse, "marker": str(marker)}

    def _fuse(self, marker: Path) -> Path:
        return marker.with_suffix(".fuse")

    def _load_and_kill(self, server: Server, strike: Callable[[Server], None]) -> None:
        self._load.start(server.port)
        try:
            strike(server)
        finally:
            self._load.end()
            server.kill()
        self._load.wait()

    # Ways to kill; everything is killed afterwards in any case

    def _strike_server(self, server: Server) -> None:
        time.sleep(self._random.uniform(*LOAD_SECONDS))

    def _strike_worker(self, server: Server) -> None:
        time.sleep(self._random.uniform(*LOAD_SECONDS))
        with suppress(ProcessLookupError):
            os.kill(self._random.choice(server.worker_pids()), signal.SIGKILL)
        time.sleep(self._random.uniform(*LOAD_SECONDS))

    def _strike_stopped(self, server: Server) -> None:
        """Stopped where it is, often with the writer's lock; the others wait for it until it is killed."""
        time.sleep(self._random.uniform(*LOAD_SECONDS))
        victim = self._random.choice(server.worker_pids())
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGSTOP)
            time.sleep(self._random.uniform(0.01, 0.1))
            os.kill(victim, signal.SIGKILL)
        time.sleep(self._random.uniform(*LOAD_SECONDS))

    def _strike_point(self, server: Server, marker: Path) -> None:
        """Wait for a process to come to the point, if it does, and see the others go on."""
        self._fuse(marker).touch()
        ends_at = time.monotonic() + 0.6
        while time.monotonic() < ends_at and not marker.exists():
            time.sleep(0.01)
        self.figures["deaths at a point"] += marker.exists()
        if server.workers > 1:
            time.sleep(self._random.uniform(*LOAD_SECONDS))

    def _strike_call(self, server: Server, disk: Disk) -> None:
        """The next process that makes a certain system call dies in front of it or behind it."""
        time.sleep(self._random.uniform(*LOAD_SECONDS))
        calls = self._random.choice((Calls.WRITES, Calls.SYNCS, Calls.ROOTS))
        action = self._random.choice((Action.DIE_BEFORE, Action.DIE_AFTER))
        disk.fault(action, calls, skip=self._random.randrange(5), times=1)
        time.sleep(self._random.uniform(*LOAD_SECONDS))
        self.figures["deaths at a system call"] += disk.hits

    # Looking

    def _look(self, server: Server) -> None:
        self._report = report = self._load.settle(server.port)
        versions = {**report.versions, **self._ballast}
        with Client(server.port) as client:
            for table in (TABLE, LEDGER):
                assert versions_in(client, table, table) == present(versions, table)
            assert versions_in(client, TABLE, TABLE, IndexName="by-group") == present(versions, TABLE)
            for follower in self._followers:
                follower.check(client, report, day_passed=self._clock.days > self._days_followed)
            self._days_followed = self._clock.days
        self._check_file()

    def _check_file(self) -> None:
        """What `hashrange check` does, without the time that a command takes to start."""
        store = LmdbStore.open(self._data, read_only=True)
        try:
            found = list(problems(store))
        finally:
            store.close()
        assert found == []
        self.figures["checks"] += 1

    # Setting up and background work

    def _set_up(self, server: Server) -> None:
        with Client(server.port) as client:
            for schema in (SCHEMA, LEDGER_SCHEMA):
                made = client("CreateTable", **schema, **STREAM)["TableDescription"]
                self._followers.append(Follower(made["TableName"], made["LatestStreamArn"]))
            expiry = {"AttributeName": "expires", "Enabled": True}
            client("UpdateTimeToLive", TableName=TABLE, TimeToLiveSpecification=expiry)
            recovery = {"PointInTimeRecoveryEnabled": True}
            client("UpdateContinuousBackups", TableName=LEDGER, PointInTimeRecoverySpecification=recovery)
            items = [ballast(number) for number in range(BALLAST)]
            for first in range(0, BALLAST, BATCH):
                puts = [{"PutRequest": {"Item": item}} for item in items[first : first + BATCH]]
                assert not client("BatchWriteItem", RequestItems={TABLE: puts})["UnprocessedItems"]
        self._ballast = {name_of(TABLE, item): 1 for item in items}

    def _do_chores(self, server: Server) -> None:
        chores: list[Chore] = [self._index, self._backup, self._past]
        versions = {**self._report.versions, **self._ballast}
        with Client(server.port) as client:
            self._clock.step(client, versions)
            for chore in self._random.sample(chores, 2):
                chore.step(client, versions)

    def _compact(self) -> None:
        """Kill a compaction; whatever it left must be the old database or the new one."""
        marker = self._directory / f"marker-compact-{self._turn}"
        point = {"where": self._random.choice(COMPACTION_POINTS), "marker": str(marker)}
        command = [*launcher(point), "compact", "--data", str(self._data)]
        where = tempfile.gettempdir()
        done = subprocess.run(command, cwd=where, env=environment(), capture_output=True, timeout=30, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done
        self.figures["deaths in a compaction"] += done.returncode != 0
        self._check_file()


def launcher(point: dict[str, Any]) -> tuple[str, ...]:
    return (HASHRANGE[0], "-m", "crash.launcher", orjson.dumps(point).decode())


def ballast(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"ballast-{number}"},
        "sk": {"S": "x"},
        "version": {"N": "1"},
        "group": {"S": f"group-{number % 5}"},
        "shade": {"S": f"shade-{number % 3}"},
    }


def run_campaign(
    seed: str, rounds: int, progress: Callable[[int, Counter[str]], None] = lambda turn, figures: None
) -> Counter[str]:
    """A campaign in a directory of its own. A failure names its seed."""
    with tempfile.TemporaryDirectory(prefix="hashrange-crash-") as directory:
        try:
            campaign = Campaign(Path(directory), seed)
            campaign.run(rounds, progress)
        except BaseException as error:
            error.add_note(f"Run it again with SEED={seed}.")
            raise
    return campaign.figures

"""kill -9 under load, again and again on one database: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from crash.client import Client
from crash.owner import SCHEMA, TABLE, Owner
from crash.server import Server, check_is_clean

ROUNDS = 20
OWNERS = 6
LOAD_SECONDS = (0.2, 0.7)
DURABILITIES = ("sync", "sync", "sync", "relaxed", "none")  # a dead process loses nothing in any of them


def test_twenty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    seed = os.environ.get("SEED") or str(Random().randrange(10**9))
    data = tmp_path / "data"
    random = Random(seed)
    owners = [Owner(number, seed) for number in range(OWNERS)]
    try:
        for turn in range(ROUNDS):
            one_round(data, owners, random, turn)
        with Server(data) as server:
            settle(server, owners)
            assert server.stop() == 0
        check_is_clean(data)
    except BaseException as error:
        error.add_note(f"Run it again with SEED={seed}.")
        raise
    assert sum(owner.writes for owner in owners) > ROUNDS * OWNERS * 5


def one_round(data: Path, owners: list[Owner], random: Random, turn: int) -> None:
    """Restart on what the last kill left, look at it, load it, and kill again."""
    workers = 1 + turn % 2
    with Server(data, "--durability", random.choice(DURABILITIES), workers=workers) as server:
        if turn == 0:
            with Client(server.port) as client:
                client("CreateTable", **SCHEMA)
        else:
            settle(server, owners)
        load_and_kill(server, owners, random)
        assert not [line for line in server.lines if "error" in line], server.lines
    if turn % 3 == 0:
        check_is_clean(data)  # on what a kill left, before anybody has opened it for writing


def settle(server: Server, owners: list[Owner]) -> None:
    with Client(server.port) as client:
        for owner in owners:
            owner.settle(client)
        known = sum(len(slot.keys) for owner in owners for slot in owner.slots if slot.acknowledged)
        assert client("Scan", TableName=TABLE, Select="COUNT")["Count"] == known
        by_group = client("Scan", TableName=TABLE, IndexName="by-group", Select="COUNT")
        assert by_group["Count"] == known
    assert server.data is not None
    check_is_clean(server.data)


def load_and_kill(server: Server, owners: list[Owner], random: Random) -> None:
    """Kill everything in the middle of the load; before that, sometimes, one worker alone."""
    ending = threading.Event()
    clients = [Client(server.port, ending) for _ in owners]
    with ThreadPoolExecutor(len(owners)) as pool:
        running = [pool.submit(owner.run, client) for owner, client in zip(owners, clients, strict=True)]
        try:
            time.sleep(random.uniform(*LOAD_SECONDS))
            if server.workers > 1 and random.random() < 0.7:
                os.kill(random.choice(server.worker_pids()), signal.SIGKILL)
                time.sleep(random.uniform(*LOAD_SECONDS))
        finally:
            ending.set()
            server.kill()
        for owner in running:
            owner.result()
    for client in clients:
        client.close()

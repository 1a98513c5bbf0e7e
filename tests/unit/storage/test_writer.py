"""How the writer of an LMDB store groups plans, and what becomes of a group that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import lmdb
import pytest

from hashrange.storage import Corruption, Durability, LmdbStore, Plan, Result, Snapshot, Unavailable, write_and_wait
from hashrange.storage import writer as writer_module
from hashrange.storage.interface import Completions


class Deliveries:
    """Remembers the results of each commit, by the number that each plan answers with."""

    def __init__(self) -> None:
        self.groups: list[list[Result]] = []

    def __call__(self, completions: Completions) -> None:
        self.groups.append([result for _, result in completions])
        for done, result in completions:
            done(result)


@pytest.fixture
def deliveries() -> Deliveries:
    return Deliveries()


@pytest.fixture
def store(tmp_path: Path, deliveries: Deliveries) -> Iterator[LmdbStore]:
    opened = LmdbStore.open(tmp_path, deliver=deliveries)
    yield opened
    assert list(opened.verify()) == []
    opened.close()


def submit_together(store: LmdbStore, plans: list[Callable[[Snapshot], Plan]]) -> list[Result]:
    """Submit plans while the writer is busy with another, so that they wait for the same commit."""
    gate = threading.Event()
    finished = threading.Event()
    results: list[Result] = []

    def wait(snapshot: Snapshot) -> Plan:
        assert gate.wait(10)
        return Plan()

    def done(result: Result) -> None:
        results.append(result)
        if len(results) == len(plans):
            finished.set()

    store.write(wait, lambda result: None)
    for plan in plans:
        store.write(plan, done)
    gate.set()
    assert finished.wait(10)
    return results


def put(number: int) -> Callable[[Snapshot], Plan]:
    return lambda _: Plan([(b"%08d" % number, b"x" * 10)], answer=number)


def test_waiting_plans_share_a_commit_and_one_delivery(store: LmdbStore, deliveries: Deliveries) -> None:
    before = store._environment.info()["last_txnid"]
    results = submit_together(store, [put(number) for number in range(100)])
    assert [result.answer for result in results] == list(range(100))
    assert [len(group) for group in deliveries.groups] == [101]
    assert store._environment.info()["last_txnid"] == before + 1


def test_a_group_is_bounded_by_plans_and_by_bytes(
    store: LmdbStore, deliveries: Deliveries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_PLANS_MAX", 10)
    submit_together(store, [put(number) for number in range(25)])
    assert [len(group) for group in deliveries.groups] == [10, 10, 6]
    monkeypatch.setattr(writer_module, "BATCH_BYTES_MAX", 50)
    deliveries.groups.clear()
    submit_together(store, [put(number) for number in range(5)])
    assert [len(group) for group in deliveries.groups] == [4, 2]


def test_a_failed_commit_fails_its_whole_group_and_nothing_after_it(store: LmdbStore) -> None:
    def too_much(snapshot: Snapshot) -> Plan:
        return Plan([(b"a", "not bytes")])  # type: ignore[list-item]

    def refuse(snapshot: Snapshot) -> Plan:
        raise KeyError

    results = submit_together(store, [put(1), refuse, too_much])
    assert [type(result.error) for result in results] == [Unavailable] * 3
    with store.read() as snapshot:
        assert list(snapshot.scan(b"", b"\xff")) == []
    assert write_and_wait(store, put(2)) == 2


def test_a_full_map_makes_the_store_unavailable_and_deleting_makes_room(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path, map_size=1024**2)
    with pytest.raises(Unavailable, match="MDB_MAP_FULL"):
        write_and_wait(store, lambda _: Plan([(b"%d" % number, b"x" * 10_000) for number in range(200)]))
    assert write_and_wait(store, put(1)) == 1
    store.close()


def test_damage_met_by_a_plan_is_reported_as_corruption(store: LmdbStore) -> None:
    def plan(snapshot: Snapshot) -> Plan:
        raise lmdb.CorruptedError("page", 0)

    with pytest.raises(Corruption):
        write_and_wait(store, plan)
    with pytest.raises(Corruption), store.read():
        raise lmdb.PageNotFoundError("page", 0)


def test_a_delivery_that_raises_does_not_stop_the_writer(tmp_path: Path) -> None:
    def deliver(completions: Completions) -> None:
        for done, result in completions:
            done(result)
        raise RuntimeError("a mistake of the caller")

    store = LmdbStore.open(tmp_path, deliver=deliver)
    assert [write_and_wait(store, put(number)) for number in range(3)] == [0, 1, 2]
    store.close()


def test_relaxed_durability_syncs_in_the_background(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path, durability=Durability.RELAXED, sync_interval_seconds=0.005)
    write_and_wait(store, put(1))
    assert store._sync is not None
    committed = store._environment.info()["last_txnid"]
    for _ in range(1000):
        if store._sync._synced_transaction == committed:
            break
        threading.Event().wait(0.005)
    assert store._sync._synced_transaction == committed
    store.close()


@pytest.mark.parametrize(("durability", "syncs"), [("sync", True), ("relaxed", False), ("none", False)])
def test_only_sync_durability_syncs_in_the_commit(tmp_path: Path, durability: str, syncs: bool) -> None:
    store = LmdbStore.open(tmp_path, durability=Durability(durability))
    assert store._environment.flags()["sync"] is syncs
    assert store._environment.flags()["metasync"] is syncs
    store.close()

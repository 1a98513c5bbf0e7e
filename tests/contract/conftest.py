"""The stores that must keep the contract: every test here runs on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hashrange.storage import Durability, LmdbStore, Store
from hashrange.storage.memory import MemoryStore

Opener = Callable[[Path], Store]

STORES: dict[str, Opener] = {
    "memory": lambda directory: MemoryStore(),
    "lmdb": lambda directory: LmdbStore.open(directory, durability=Durability.NONE),
    "lmdb-sync": lambda directory: LmdbStore.open(directory),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path / "data")
    yield opened
    opened.close()
    if isinstance(opened, LmdbStore):
        again = LmdbStore.open(tmp_path / "data", read_only=True)
        assert list(again.verify()) == []
        again.close()


@pytest.fixture(params=["memory", "lmdb"])
def open_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Store]:
    """Opens a new, empty store each time, for tests that need many."""
    return lambda: STORES[request.param](tmp_path_factory.mktemp("store"))

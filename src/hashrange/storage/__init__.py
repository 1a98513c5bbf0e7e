"""Keeping bytes under bytes, in order, safely: what a store is, and the stores there are.

Nothing here has heard of a table.
"""

from hashrange.storage.compaction import Compaction, compact_directory
from hashrange.storage.interface import (
    CannotOpen,
    Completions,
    Conflict,
    Corruption,
    Deliver,
    Done,
    Lost,
    Plan,
    Planner,
    Result,
    Snapshot,
    Store,
    StoreError,
    Unavailable,
    deliver_inline,
    write_and_wait,
)
from hashrange.storage.lmdb_store import Durability, LmdbStore
from hashrange.storage.memory import MemoryStore

__all__ = [
    "CannotOpen",
    "Compaction",
    "Completions",
    "Conflict",
    "Corruption",
    "Deliver",
    "Done",
    "Durability",
    "LmdbStore",
    "Lost",
    "MemoryStore",
    "Plan",
    "Planner",
    "Result",
    "Snapshot",
    "Store",
    "StoreError",
    "Unavailable",
    "compact_directory",
    "deliver_inline",
    "write_and_wait",
]

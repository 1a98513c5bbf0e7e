"""Keeping bytes under bytes, in order, safely: what a store is, and the stores there are.

Nothing here has heard of a table.
"""

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

__all__ = [
    "CannotOpen",
    "Completions",
    "Conflict",
    "Corruption",
    "Deliver",
    "Done",
    "Durability",
    "LmdbStore",
    "Lost",
    "Plan",
    "Planner",
    "Result",
    "Snapshot",
    "Store",
    "StoreError",
    "Unavailable",
    "deliver_inline",
    "write_and_wait",
]

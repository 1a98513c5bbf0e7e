"""Background work in tiny steps, so that much happens between two of them even in a small world."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from unittest.mock import patch

from hashrange.backup import fill
from hashrange.jobs import expire_items, fill_indexes, forget_backups, forget_tokens, remove_deleted, trim_log

SMALL: dict[ModuleType, dict[str, int]] = {
    fill_indexes: {"ITEMS_PER_STEP": 3},
    fill: {"ENTRIES_PER_STEP": 4},
    expire_items: {"DELETIONS_PER_STEP": 2, "ITEMS_PER_STEP": 3},
    trim_log: {"RECORDS_PER_STEP": 5},
    remove_deleted: {"ENTRIES_PER_STEP": 5},
    forget_backups: {"ITEMS_PER_STEP": 3},
    forget_tokens: {"TOKENS_PER_STEP": 2},
}


@contextmanager
def small_steps() -> Iterator[None]:
    patches = [patch.object(module, name, limit) for module, limits in SMALL.items() for name, limit in limits.items()]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()

"""`hashrange copy`: a consistent copy of the whole database, also beside a running server."""

from __future__ import annotations

import argparse
from pathlib import Path

from hashrange.storage import LmdbStore


def run(arguments: argparse.Namespace) -> int:
    store = LmdbStore.open(arguments.data, read_only=True)
    try:
        store.copy_to(arguments.to)
    finally:
        store.close()
    size_bytes = sum(file.stat().st_size for file in Path(arguments.to).iterdir())
    print(f"{arguments.to}: {size_bytes:,} bytes.")
    return 0

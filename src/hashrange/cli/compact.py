"""`hashrange compact`: rewrite the database without the space that deletes and splits of pages left behind."""

from __future__ import annotations

import argparse

from hashrange.storage.compaction import compact_directory


def run(arguments: argparse.Namespace) -> int:
    result = compact_directory(arguments.data)
    print(f"{arguments.data}: {result.before_bytes:,} bytes before, {result.after_bytes:,} bytes after.")
    return 0

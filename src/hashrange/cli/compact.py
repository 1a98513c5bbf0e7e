"""`hashrange compact`: rewrite the database without the space that deleted data left behind."""

from __future__ import annotations

import argparse

from hashrange.storage import compact_directory


def run(arguments: argparse.Namespace) -> int:
    result = compact_directory(arguments.data)
    print(f"{arguments.data}: {result.before_bytes:,} bytes before, {result.after_bytes:,} bytes after.")
    return 0

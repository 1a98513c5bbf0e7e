"""The build. Everything is in pyproject.toml but the choice to compile: HASHRANGE_COMPILE=1 makes extension modules
of the modules below with mypyc. They behave like their source, which is installed beside them and runs without them.

A module is here because requests spend their time in it, and only if it can be compiled safely
(docs/decisions/0010-compiled-build.md); tests/architecture/test_compiled.py holds the list to the rules.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from setuptools import setup

PACKAGE = Path("src") / "hashrange"

COMPILED = {
    "values": "attribute binary compare item number ordered size",  # every item and key that comes or goes
    "storage": "lmdb_snapshot long_keys",  # every read
    "engine": "catalog change_log counters index keys keyspace page scope source table units usage",
    "indexes": "collection maintainer",
    "metrics": "recorder tally",  # every answer is counted
    "auth": "credentials",  # every request names a key
    "operations/items": "actions conditions delete_item get_item parameters put_item update_item",
    "operations/reads": "parameters query scan selection source",
    "operations/batch": "batch_get_item",
    "operations/partiql": "actions",  # extends those of items
    "operations/transactions": "transact_get_items transact_write_items transaction",
}


def compiled_files() -> list[str]:
    return [str(PACKAGE / folder / f"{name}.py") for folder, names in COMPILED.items() for name in names.split()]


def extensions() -> list[Any]:
    if os.environ.get("HASHRANGE_COMPILE") != "1":
        return []
    from mypyc.build import mypycify  # needs mypy and a C compiler, which nobody else does

    return list(mypycify(compiled_files(), opt_level="2", debug_level="0", group_name="hashrange"))


if __name__ == "__main__":
    setup(ext_modules=extensions())

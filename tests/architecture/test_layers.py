"""Imports point down and never sideways, and few modules know about loops, sockets and disks."""

from __future__ import annotations

import pytest

from architecture.source import MODULES

# From top to bottom. A module imports from layers below its own only; what shares a layer does not know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli",),
    ("app",),
    ("http", "explain"),
    ("operations", "jobs", "history"),
    ("triggers", "kinesis", "scaling"),
    ("transfer", "pricing"),
    ("capacity",),
    ("access", "backup", "indexes", "insights", "metrics", "policies", "streams", "ttl"),
    ("engine",),
    ("partiql",),
    ("expressions", "validation", "auth", "storage"),
    ("values",),
    ("errors", "limits", "clock"),
    ("__init__",),
)
LAYER_OF = {unit: number for number, layer in enumerate(LAYERS) for unit in layer}

# Libraries that only one part of the package knows.
BEHIND_ONE_DOOR = {
    "lmdb": "storage",
    "sortedcontainers": "storage",
    "httptools": "http",
    "uvloop": "http",
    "argparse": "cli",
    "cbor2": "http",
    "botocore": "validation",
    "zstandard": "transfer",
}
KNOW_EVENT_LOOPS = ("app.py", "http/", "jobs/runner.py", "jobs/delivery_runner.py", "jobs/carry_out.py")


def test_every_part_of_the_package_has_its_place() -> None:
    assert {module.unit for module in MODULES} <= set(LAYER_OF)


def test_imports_point_down() -> None:
    wrong = [
        f"{module.name} imports {unit}"
        for module in MODULES
        for unit in sorted(module.units_imported)
        if LAYER_OF[unit] <= LAYER_OF[module.unit]
    ]
    assert wrong == []


def test_storage_has_never_heard_of_a_table() -> None:
    known = {unit for module in MODULES if module.unit == "storage" for unit in module.units_imported}
    assert known == set()


def test_everything_below_the_doors_is_synchronous() -> None:
    looping = [module.name for module in MODULES if "asyncio" in module.libraries]
    assert [name for name in looping if not name.startswith(KNOW_EVENT_LOOPS)] == []


@pytest.mark.parametrize("library", BEHIND_ONE_DOOR)
def test_a_library_is_known_to_one_part_of_the_package(library: str) -> None:
    assert {module.unit for module in MODULES if library in module.libraries} == {BEHIND_ONE_DOOR[library]}

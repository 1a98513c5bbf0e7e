"""Time is a parameter: only clock.py asks the operating system for it."""

from __future__ import annotations

import ast

from architecture.source import MODULES, Module

WALL_CLOCKS = {
    "time": {"time", "time_ns", "gmtime", "localtime", "ctime", "asctime", "strftime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
STOPWATCHES = {"time": {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}}


def uses(module: Module, clocks: dict[str, set[str]]) -> list[str]:
    """Where the module reads one of the clocks, however it imported it."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
            if node.attr in clocks.get(owner, ()):
                found.append(f"{module.name}:{node.lineno} {owner}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module in clocks:
            stray = {alias.name for alias in node.names} & clocks[node.module]
            found += [f"{module.name}:{node.lineno} from {node.module} import {name}" for name in sorted(stray)]
    return found


def test_only_the_clock_knows_what_time_it_is() -> None:
    assert [use for module in MODULES if module.name != "clock.py" for use in uses(module, WALL_CLOCKS)] == []


def test_only_the_door_has_a_stopwatch() -> None:
    assert [use for module in MODULES if module.unit != "http" for use in uses(module, STOPWATCHES)] == []


def test_the_clock_itself_is_found() -> None:
    clock = next(module for module in MODULES if module.name == "clock.py")
    assert [use.split()[-1] for use in uses(clock, WALL_CLOCKS)] == ["time.time", "time.time_ns"]

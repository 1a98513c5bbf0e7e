"""Counts what a call costs the interpreter: bytecode instructions, and calls of functions, ours and built in.

Unlike time, these are the same on every machine and on a busy one. They differ between versions of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

MEASUREMENTS = 4


@dataclass(frozen=True)
class Cost:
    instructions: int
    calls: int


def cost_of(action: Callable[[], object]) -> Cost:
    """The smallest of a few measurements, since now and then a call does some work for those that follow."""
    for _ in range(MEASUREMENTS):
        action()
    instructions = min(_instructions(action) for _ in range(MEASUREMENTS))
    return Cost(instructions, min(_calls(action) for _ in range(MEASUREMENTS)))


def _instructions(action: Callable[[], object]) -> int:
    return _monitored(action) if sys.version_info >= (3, 12) else _traced(action)


def _monitored(action: Callable[[], object]) -> int:
    monitoring: Any = vars(sys)["monitoring"]  # came with Python 3.12, where tracing misses instructions
    tool, event = monitoring.PROFILER_ID, monitoring.events.INSTRUCTION
    count = 0

    def counting(code: CodeType, offset: int) -> None:
        nonlocal count
        count += 1

    monitoring.use_tool_id(tool, "cost")
    monitoring.register_callback(tool, event, counting)
    monitoring.set_events(tool, event)
    try:
        action()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return count


def _traced(action: Callable[[], object]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def _calls(action: Callable[[], object]) -> int:
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count

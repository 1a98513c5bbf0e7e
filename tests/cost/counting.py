"""Counts what a call costs the interpreter: bytecode instructions, and calls of functions, ours and built in.

Unlike time, these are the same on every machine and on a busy one. They differ between versions of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
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

"""How many CPUs this process may use."""

from __future__ import annotations

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of CPU time in so many of time, or "max"


def cpus() -> int:
    """What the machine has, as far as we are let."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, quota(allowed)))


def quota(without: int, file: Path = QUOTA) -> int:
    """What the container is given, in whole CPUs; `without`, if it has no quota."""
    try:
        micros, of_micros = file.read_text().split()
        return without if micros == "max" else int(micros) // int(of_micros)
    except (OSError, ValueError, ZeroDivisionError):
        return without

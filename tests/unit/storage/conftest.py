"""Starting other processes in tests of the LMDB store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a function of child.py in a process of its own, which ends with the test at the latest."""
    children: list[subprocess.Popen[str]] = []

    def start_child(function: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("child.py")), function, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        children.append(child)
        return child

    yield start_child
    for child in children:
        child.kill()
        child.communicate()

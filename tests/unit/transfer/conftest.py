"""Buckets in a directory of the test's own, and a server that uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import Engine
from unit.transfer.support import engine_with


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def engine(buckets: Path) -> Engine:
    return engine_with(buckets)

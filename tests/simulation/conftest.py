"""`pytest tests/simulation --seed N` replays one world."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="replay the simulation of this seed alone")


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int | None:
    # Where the whole suite is run, this file is read too late to add an option.
    chosen: int | None = request.config.getoption("--seed", None)
    return chosen

"""Raw HTTP to the server under test."""

import pytest

from conformance.support.wire import Wire


@pytest.fixture(scope="session")
def http(server):
    return Wire(server)

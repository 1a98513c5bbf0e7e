"""A real server in a process of its own, for tests that speak to it over the network."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import hashrange

SOURCE = Path(hashrange.__file__).parents[1]  # what is tested: the source tree, or the compiled build
HASHRANGE = (sys.executable, "-m", "hashrange")
SERVE = tuple(
    os.environ.get("HASHRANGE_TEST_SERVE", "").split()
)  # further options, to test a server run in another way
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))}
START_SECONDS_MAX = 30


@pytest.fixture(scope="session")
def server():
    """The endpoint under test: a server of ours, or the one that HASHRANGE_TEST_ENDPOINT names."""
    other = os.environ.get("HASHRANGE_TEST_ENDPOINT")
    if other:
        yield other
        return
    with running_server() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def start_server():
    """Starts servers with options of one's own: `with start_server("--table-delay-ms", "500") as endpoint`."""
    return running_server


@contextmanager
def running_server(*options):
    """A server, by its endpoint. It must end well and leave a sound database."""
    with tempfile.TemporaryDirectory(prefix="hashrange-") as directory:
        data, log = Path(directory, "data"), Path(directory, "log")
        in_memory = "--memory" in SERVE
        if in_memory and "--workers" in options:
            pytest.skip("data in memory are in one process")
        place = () if in_memory else ("--data", data)
        serve = (*HASHRANGE, "serve", "--port", "0", *place, *SERVE, *options)
        with log.open("wb") as stream:
            process = subprocess.Popen(serve, env=ENVIRONMENT, stderr=stream)
        try:
            yield endpoint_of(process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
        assert process.returncode == 0, log.read_text()
        assert "Traceback" not in log.read_text(), log.read_text()
        if in_memory:
            return
        check = subprocess.run((*HASHRANGE, "check", "--data", data), env=ENVIRONMENT, capture_output=True, text=True)
        assert check.returncode == 0, check.stdout + check.stderr


def endpoint_of(process, log):
    """Where a starting server says that it listens."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while (match := re.search(r"https?://\S+", log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.01)
    return match.group()

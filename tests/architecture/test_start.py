"""A server answers soon after it was started, because of all that it does not load before.

Time cannot be measured where others use the machine too, so what takes the time is counted: modules, and data classes,
each of which Python compiles anew (0.2 to 1.5 ms). Whoever needs more raises the numbers here, knowing what it costs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MODULES_MAX = 120
DATA_CLASSES_MAX = 48

NOT_LOADED = (
    "email",  # for the date of answers
    "encodings.idna",  # for the name to listen on
    "hashrange.access",  # only with --auth verify
    "hashrange.auth.policy",
    "hashrange.cli.tools",  # the other commands
    "hashrange.engine.change_log",  # for tables that have one
    "hashrange.expressions",  # for requests that have some
    "hashrange.jobs.runner",  # after the first requests
    "hashrange.partiql",
    "hashrange.storage.memory",  # only with --memory
    "hashrange.transfer",
    "hashrange.triggers",
    "hashrange.validation.explain",  # for requests with mistakes
    "http.client",
    "multiprocessing",
    "sortedcontainers",
    "tempfile",
    "tomllib",  # only for a configuration file
    "urllib.request",
    "xml",
    "zoneinfo",
)

# Starts a server as the command does, asks it for an item, and tells what it had to load for that.
FIRST_ANSWER = """
import json, os, socket, sys, threading
from hashrange import app
from hashrange.cli import main, serve

body = b'{"TableName": "Music", "Key": {"Artist": {"S": "a"}}}'
request = (
    b"POST / HTTP/1.1\\r\\nHost: here\\r\\nContent-Type: application/x-amz-json-1.0\\r\\n"
    b"X-Amz-Target: DynamoDB_20120810.GetItem\\r\\nX-Amz-Date: 20260101T000000Z\\r\\nAuthorization: AWS4-HMAC-SHA256 "
    b"Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\\r\\n"
    b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body)
)

def ask(address):
    with socket.socket() as client:
        client.connect(address)
        client.sendall(request)
        answer = client.recv(65536).decode()
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "hashrange"]
    classes = {each for module in ours for each in vars(module).values() if isinstance(each, type)}
    made = [f"{each.__module__}.{each.__qualname__}" for each in classes if hasattr(each, "__dataclass_fields__")]
    print(json.dumps({"answer": answer, "modules": sorted(sys.modules), "data_classes": sorted(made)}), flush=True)
    os._exit(0)

app.JOBS_AFTER_SECONDS = app.LOAD_AFTER_SECONDS = 3600.0  # as if this machine were quick
serve.announce = lambda settings, listening: threading.Thread(target=ask, args=(listening.getsockname(),)).start()
main.main(["serve", "--port", "0", "--data", sys.argv[1]])
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server has loaded when it has answered its first request."""
    data = tmp_path_factory.mktemp("start") / "data"
    run = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER, str(data)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told: dict[str, Any] = json.loads(run.stdout)
    assert "ResourceNotFoundException" in told["answer"]
    return told


def test_what_the_first_answer_does_not_need_is_not_loaded_before_it(loaded: dict[str, Any]) -> None:
    modules = set(loaded["modules"])
    assert [name for name in NOT_LOADED if name in modules] == []


def test_the_first_answer_waits_for_few_modules_and_data_classes(loaded: dict[str, Any]) -> None:
    ours = [name for name in loaded["modules"] if name.partition(".")[0] == "hashrange"]
    assert len(ours) <= MODULES_MAX, ours
    assert len(loaded["data_classes"]) <= DATA_CLASSES_MAX, loaded["data_classes"]

"""Calls what a trigger names, and waits for its answer. This blocks, for minutes if need be: use a thread.

A call that reached the function and went wrong is `FunctionFailed`. One that never reached it is `NotCalled`: the
function is not to blame, so it does not count against its retries.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from hashrange.limits import FUNCTION_SECONDS_MAX
from hashrange.triggers.target import COMMAND, PYTHON, Target

TRY_LATER = (429, 503)
ANSWER_BYTES_MAX = 6 * 1024 * 1024
SERVERS_OWN = ("HASHRANGE_SECRET_ACCESS_KEY", "HASHRANGE_KEYS_SECRET")  # secrets that no function needs


class FunctionFailed(Exception):
    """The function was called and did not succeed."""


class NotCalled(Exception):
    """The function could not be called."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is told about a call besides the event."""

    name: str
    arn: str
    request_id: str
    seconds: float = FUNCTION_SECONDS_MAX


class Functions:
    """Everything that can be called. Keeps the processes of Python functions between calls; `close` ends them."""

    def __init__(self, seconds: float = FUNCTION_SECONDS_MAX) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._idle: defaultdict[str, list[subprocess.Popen[bytes]]] = defaultdict(list)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def call(self, target: Target, event: bytes, context: Context) -> bytes:
        """The answer of the function: JSON, or nothing."""
        if target.kind == PYTHON:
            return self._call_python(target.text, event, context)
        if target.kind == COMMAND:
            return self._call_command(target.text, event)
        return post(target.text, event, self._seconds)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            kill(process)

    # Processes

    def _start(self, arguments: list[str] | str) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise NotCalled("the server is stopping")
            process = subprocess.Popen(
                arguments,
                shell=isinstance(arguments, str),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={name: value for name, value in os.environ.items() if name not in SERVERS_OWN},
                start_new_session=True,  # so that Ctrl-C is for us alone, and `kill` for all that it started
            )
            self._running.add(process)
            return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        kill(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        with self._lock:
            self._running.discard(process)

    def _call_command(self, command: str, event: bytes) -> bytes:
        process = self._start(command)
        try:
            answer, _ = process.communicate(event, timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise FunctionFailed(f"no answer within {self._seconds:g} s") from None
        finally:
            self._end(process)
        if process.returncode:
            raise FunctionFailed(f"exit code {process.returncode}")
        return answer.strip()

    def _call_python(self, name: str, event: bytes, context: Context) -> bytes:
        """Use a process that waits for work, or start one. One that has failed is not used again, so that a function
        that was mended is found."""
        with self._lock:
            process = self._idle[name].pop() if self._idle[name] else None
        if process is None:
            process = self._start([sys.executable, "-m", "hashrange.triggers.python_host", name])
        call = orjson.dumps({"event": orjson.Fragment(event), "context": asdict(context)}) + b"\n"
        outcome = outcome_of(self._exchange(process, call))
        if "error" in outcome:
            self._end(process)
            raise FunctionFailed(outcome["error"])
        with self._lock:
            self._idle[name].append(process)
        return orjson.dumps(outcome["response"])

    def _exchange(self, process: subprocess.Popen[bytes], call: bytes) -> bytes:
        """One line there, one line back; nothing if the process ends, by itself or because it takes too long."""
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(self._seconds, kill, (process,))
        limit.daemon = True
        limit.start()
        try:
            process.stdin.write(call)
            process.stdin.flush()
            return process.stdout.readline()
        except BrokenPipeError:
            return b""
        finally:
            limit.cancel()


def outcome_of(line: bytes) -> dict[str, Any]:
    """What the process of a Python function has said: a response or an error. Nothing, if it has ended."""
    if not line:
        return {"error": "the process of the function ended"}
    try:
        outcome: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError as error:  # NaN, say, which Python writes and JSON does not have
        return {"error": f"the response is not JSON: {error}"}
    return outcome


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process, with whatever it has started, which may be still there when the process itself is not."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left, or nobody who is alive
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def connect_to(connection: http.client.HTTPConnection) -> None:
    try:
        connection.connect()
    except (OSError, UnicodeError) as error:  # UnicodeError: a host name that there cannot be
        raise NotCalled(f"{type(error).__name__}: {error}") from error


def post(url: str, body: bytes, seconds: float) -> bytes:
    """POST JSON and return the answer's body. Redirects are not followed."""
    parts = urlsplit(url)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    assert parts.hostname is not None
    connection = connect(parts.hostname, parts.port, timeout=seconds)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connect_to(connection)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read(ANSWER_BYTES_MAX)
    except (OSError, http.client.HTTPException) as error:
        raise FunctionFailed(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()
    if response.status in TRY_LATER:
        raise NotCalled(f"HTTP status {response.status}")
    if not 200 <= response.status < 300:
        raise FunctionFailed(f"HTTP status {response.status}")
    return answer

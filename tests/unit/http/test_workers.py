"""Worker processes: one that dies is replaced, and all end with their parent."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from hashrange.http.workers import _restart_seconds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="worker processes need fork")

PARENT = Path(__file__).with_name("worker_parent.py")


@contextmanager
def parent(count, what="serve"):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [sys.executable, str(PARENT), str(count), what], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def send(port, path="/"):
    sock = socket.create_connection(("127.0.0.1", port), timeout=5)
    sock.sendall(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
    return sock


def pid_from(sock):
    with sock, sock.makefile("rb") as received:
        return int(received.read().rpartition(b"\r\n\r\n")[2])


def answering_pids(port, count):
    pids = set()
    for _ in range(300):
        pids.add(pid_from(send(port)))
        if len(pids) == count:
            return pids
    raise AssertionError(f"only {pids} answered")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_listening(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def test_each_worker_answers_on_the_one_port():
    with parent(2) as (process, port):
        assert len(answering_pids(port, 2)) == 2
        assert process.pid not in answering_pids(port, 2)


def test_a_killed_worker_is_replaced_and_the_port_keeps_answering():
    with parent(2) as (process, port):
        before = answering_pids(port, 2)
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        assert f"(process {victim}) was killed by SIGKILL" in process.stdout.readline()
        after = answering_pids(port, 2)
        assert victim not in after
        assert len(after & before) == 1


def test_connections_waiting_for_a_dead_worker_are_answered_by_its_successor():
    with parent(1) as (_, port):
        [victim] = answering_pids(port, 1)
        os.kill(victim, signal.SIGSTOP)
        waiting = send(port)  # the kernel accepts it; the worker never does
        os.kill(victim, signal.SIGKILL)
        assert pid_from(waiting) != victim


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_parent_ends_everything_in_order(number):
    with parent(2) as (process, port):
        pids = answering_pids(port, 2)
        slow = send(port, "/slow")
        time.sleep(0.1)
        process.send_signal(number)
        assert pid_from(slow) in pids
        assert process.wait(10) == 0
        assert not any(is_alive(pid) for pid in pids)


def test_workers_do_not_outlive_a_parent_that_was_killed():
    with parent(2) as (process, port):
        answering_pids(port, 2)
        process.kill()
        for _ in range(400):
            time.sleep(0.01)
            if not is_listening(port):
                return
        raise AssertionError("the port is still taken")


def test_a_worker_that_dies_as_it_starts_is_restarted_more_and_more_slowly():
    with parent(1, "die") as (process, _):
        lines = [process.stdout.readline() for _ in range(3)]
        assert [line.split(";")[0].split(") ")[1] for line in lines] == ["exited with status 3"] * 3
        assert [line.split()[-2] for line in lines] == ["0.1", "0.2", "0.4"]
    assert [_restart_seconds(deaths) for deaths in (0, 1, 5, 100)] == [0.0, 0.1, 1.6, 10.0]

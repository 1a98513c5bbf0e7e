"""Whether a system has a write on the disk before it answers: counts the syncs of single writes with strace.

Ratios compare writes of equal durability only, so we look instead of believing what we have read.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import items
from client import RequestFailed
from load import wait_until_active
from peers import Absent, Peer
from server import Server

WRITES = 30
CALLS = "fsync,fdatasync,msync,sync_file_range"


def syncs_per_write(peer: Peer, directory: Path) -> float | None:
    """Syncs for each of some PutItem requests that follow one another, or None if there is no strace."""
    if shutil.which("strace") is None:
        return None
    trace = directory.with_suffix(".trace")
    try:
        with Server(peer, directory, wrapper=["strace", "-f", "-o", str(trace), "-e", f"trace={CALLS}"]) as server:
            return _count(server, trace)
    except (Absent, RequestFailed):
        return None  # tracing may be forbidden
    finally:
        trace.unlink(missing_ok=True)


def _count(server: Server, trace: Path) -> float:
    with server.client() as client:
        client.call("CreateTable", items.table("pk"))
        wait_until_active(client)
        before = _lines(trace)
        for key in range(WRITES):
            client.call("PutItem", items.put(key))
        return (_lines(trace) - before) / WRITES


def _lines(trace: Path) -> int:
    return sum("(" in line and "resumed" not in line for line in trace.read_text(errors="replace").splitlines())

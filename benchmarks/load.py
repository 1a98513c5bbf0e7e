"""Brings a server into the state a workload starts from, loads it with wrk, and checks that the work was done."""

from __future__ import annotations

import json
import resource
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from client import Client, Json, RequestFailed, request_text
from items import TABLE, VARIANTS, number
from peers import TICKS_PER_SECOND, Absent, Server
from workloads import WARM_UP, Workload

SCRIPT = Path(__file__).parent / "wrk.lua"
KEY, SEQUENCE = "#########K", "#########S"  # as long as a key number; wrk.lua fills them in
BATCH = 25
SEEDING_CONNECTIONS = 8


class Invalid(Exception):
    """The measurement does not count: errors, wrong answers, or work that was not done. Says what happened."""


@dataclass(frozen=True)
class Sample:
    """One measurement of one system."""

    requests: int
    seconds: float
    requests_per_second: float
    p50_micros: int
    p99_micros: int
    max_micros: int
    server_cpu_micros_per_request: float
    server_resident_bytes: int
    load_cpu_share: float  # of one core; near 1 means that wrk was the bottleneck
    other_cpu_share: float  # of one core, used by neither the server nor wrk: what else the machine was doing


def prepare(server: Server, workload: Workload) -> None:
    """Make the table and its first items. An operation that the system does not have makes it absent."""
    with server.client() as client, unknown_operation_is_absence():
        client.call("CreateTable", workload.table)
        wait_until_active(client)
        for operation, members in workload.settings:
            client.call(operation, members)
        seed(server, iter(workload.first_items()), batches=has_batches(client))


def wait_until_active(client: Client) -> None:
    while True:
        table = client.call("DescribeTable", {"TableName": TABLE})["Table"]
        indexes = table.get("GlobalSecondaryIndexes", [])
        if {table["TableStatus"], *(index["IndexStatus"] for index in indexes)} == {"ACTIVE"}:
            return
        time.sleep(0.01)


def has_batches(client: Client) -> bool:
    try:
        client.call("BatchWriteItem", {"RequestItems": {}})
    except RequestFailed as error:
        return not error.is_unknown_operation
    return True


def seed(server: Server, items: Iterator[Json], *, batches: bool) -> None:
    lock = threading.Lock()

    def work() -> None:
        with server.client() as client:
            while True:
                with lock:
                    batch = list(islice(items, BATCH))
                if not batch:
                    return
                write(client, batch, batches=batches)

    with ThreadPoolExecutor(SEEDING_CONNECTIONS) as pool:
        for worker in [pool.submit(work) for _ in range(SEEDING_CONNECTIONS)]:
            worker.result()


def write(client: Client, batch: list[Json], *, batches: bool) -> None:
    if not batches:
        for item in batch:
            client.call("PutItem", {"TableName": TABLE, "Item": item})
        return
    wanted = {TABLE: [{"PutRequest": {"Item": item}} for item in batch]}
    while wanted:
        wanted = client.call("BatchWriteItem", {"RequestItems": wanted}).get("UnprocessedItems", {})


def warm_up(server: Server, workload: Workload) -> None:
    """Send the requests of the first keys and look at every answer."""
    with server.client() as client, unknown_operation_is_absence():
        for key in range(WARM_UP):
            within = key % workload.key_count if workload.keys == "random" else key
            request = workload.request(number(within), key % VARIANTS)
            answer = client.call(workload.operation, request)
            if not workload.expect(answer):
                raise Invalid(f"{workload.operation} answered {json.dumps(answer)[:100]}")


def measure(server: Server, workload: Workload, *, connections: int, seconds: int) -> Sample:
    """Load a prepared server, one that has seen no other load if the workload writes."""
    warm_up(server, workload)
    seconds = min(seconds, workload.seconds_max)
    before = (server.cpu_seconds(), load_cpu_seconds(), machine_cpu_seconds())
    result = run_wrk(server, workload, connections, seconds)
    after = (server.cpu_seconds(), load_cpu_seconds(), machine_cpu_seconds())
    server_cpu, load_cpu, machine_cpu = (end - begin for begin, end in zip(before, after, strict=True))
    requests, resident_bytes = result["requests"], server.resident_bytes()
    keys = range(WARM_UP + requests)
    refuse_bad_results(workload, result, keys)
    with server.client() as client:
        problem = workload.verify(client, keys)
    if problem is not None:
        raise Invalid(problem)
    return Sample(
        requests=requests,
        seconds=result["seconds"],
        requests_per_second=requests / result["seconds"],
        p50_micros=result["p50_micros"],
        p99_micros=result["p99_micros"],
        max_micros=result["max_micros"],
        server_cpu_micros_per_request=server_cpu * 1e6 / requests,
        server_resident_bytes=resident_bytes,
        load_cpu_share=load_cpu / result["seconds"],
        other_cpu_share=(machine_cpu - server_cpu - load_cpu) / result["seconds"],
    )


def run_wrk(server: Server, workload: Workload, connections: int, seconds: int) -> Json:
    requests = server.directory / "requests"
    requests.write_text("\0".join(requests_of(workload, server.port)), newline="")
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"]
    command += ["--timeout", "10s", "--script", str(SCRIPT), f"http://127.0.0.1:{server.port}/", "--"]
    command += [str(requests), workload.keys, str(WARM_UP), str(workload.key_count)]
    output = subprocess.run(command, capture_output=True, text=True)
    marked = [line for line in output.stdout.splitlines() if line.startswith("RESULT ")]
    if not marked:
        raise Invalid(f"wrk failed: {output.stderr or output.stdout}")
    result: Json = json.loads(marked[0].removeprefix("RESULT "))
    return result


def requests_of(workload: Workload, port: int) -> Iterator[str]:
    for variant in range(VARIANTS):
        body = json.dumps(workload.request(KEY, variant))
        yield request_text(workload.operation, body, signature=SEQUENCE, port=port)


def refuse_bad_results(workload: Workload, result: Json, keys: range) -> None:
    if result["requests"] == 0:
        raise Invalid("no request was answered")
    if result["bad_status"] or result["broken"]:
        raise Invalid(f"{result['bad_status']} error answers and {result['broken']} broken connections or timeouts")
    if result["bytes"] / result["requests"] < workload.answer_bytes_min:
        raise Invalid(f"answers of {result['bytes'] // result['requests']} bytes are too short to be true")
    if workload.keys == "count" and 0 < workload.key_count < len(keys):
        raise Invalid(f"{workload.name} was faster than foreseen and ran out of items: raise the number of items")


def load_cpu_seconds() -> float:
    """Processor time of the children that have ended, which between two calls is wrk alone."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def machine_cpu_seconds() -> float:
    """Time in which the processors were not idle; interrupts count, for the kernel charges them to processes too."""
    user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + sum(interrupts_and_stolen)) / TICKS_PER_SECOND


@contextmanager
def unknown_operation_is_absence() -> Iterator[None]:
    """An operation that a system does not know makes it absent; any other error makes its numbers worthless."""
    try:
        yield
    except RequestFailed as error:
        raise (Absent("not supported") if error.is_unknown_operation else Invalid(str(error))) from None

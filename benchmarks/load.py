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
from itertools import islice
from pathlib import Path

import checks
from client import Client, Json, RequestFailed
from items import BATCH_WRITES, TABLE
from peers import Absent
from request_files import RequestFiles
from results import Sample
from server import TICKS_PER_SECOND, Server
from workloads import WARM_UP, Dataset, Workload, reads

SCRIPT = Path(__file__).parent / "wrk.lua"
SEEDING_CONNECTIONS = 8
WARMING = next(each for each in reads() if each.name == "get-missing")
WARMING_SECONDS = 2  # of load that is not measured, for compilers, caches and helper processes


class Invalid(Exception):
    """The measurement does not count: errors, wrong answers, or work that was not done. Says what happened."""


def fill(server: Server, dataset: Dataset) -> None:
    """Make the table and its first items. An operation that the system does not have makes it absent."""
    with server.client() as client, unknown_operation_is_absence():
        table = client.call("CreateTable", dataset.table)["TableDescription"]
        if "StreamSpecification" in dataset.table and "LatestStreamArn" not in table:
            raise Absent("has no streams")
        wait_until_active(client)
        for operation, members in dataset.calls:
            client.call(operation, members)
        write_all(server, iter(dataset.items()))


def wait_until_active(client: Client, table: str = TABLE) -> None:
    while True:
        description = client.call("DescribeTable", {"TableName": table})["Table"]
        indexes = description.get("GlobalSecondaryIndexes", [])
        if {description["TableStatus"], *(index["IndexStatus"] for index in indexes)} == {"ACTIVE"}:
            return
        time.sleep(0.002)


def write_all(server: Server, items: Iterator[Json]) -> None:
    lock = threading.Lock()

    def work() -> None:
        with server.client() as client:
            while True:
                with lock:
                    batch = list(islice(items, BATCH_WRITES))
                if not batch:
                    return
                wanted = {TABLE: [{"PutRequest": {"Item": item}} for item in batch]}
                while wanted:
                    wanted = client.call("BatchWriteItem", {"RequestItems": wanted}).get("UnprocessedItems", {})

    with ThreadPoolExecutor(SEEDING_CONNECTIONS) as pool:
        for worker in [pool.submit(work) for _ in range(SEEDING_CONNECTIONS)]:
            worker.result()


def warm_up(server: Server, workload: Workload) -> None:
    """Send the requests of the first keys and look at every answer."""
    with server.client() as client, unknown_operation_is_absence():
        for turn in range(WARM_UP):
            key = turn if workload.keys == "once" else turn % workload.key_count
            operation, members = workload.request(key, turn)
            answer = client.call(operation, members)
            if not workload.expect(answer, key):
                raise Invalid(f"{operation} answered {json.dumps(answer)[:300]}")


def measure(server: Server, workload: Workload, files: RequestFiles, *, connections: int, seconds: int) -> Sample:
    """Load a prepared server, one that has seen no other writes if the workload must have it fresh."""
    warm_up(server, workload)
    if not server.is_warm:
        run_wrk(server, files.file_of(WARMING), connections, WARMING_SECONDS)
        server.is_warm = True
    counted = counter_total(server) if workload.counts else 0
    requests_file = files.file_of(workload)
    before = (server.cpu_seconds(), load_cpu_seconds(), machine_cpu_seconds())
    result = run_wrk(server, requests_file, connections, min(seconds, workload.seconds_max))
    after = (server.cpu_seconds(), load_cpu_seconds(), machine_cpu_seconds())
    server_cpu, load_cpu, machine_cpu = (end - begin for begin, end in zip(before, after, strict=True))
    resident_bytes = server.resident_bytes()
    if not any(result[name] for name in ("requests", "bad_status", "broken")) and not server.peer.is_ours:
        raise Absent("does not answer within the time of a measurement")
    refuse_bad_results(workload, result)
    refuse_undone_work(server, workload, result["requests"], counted)
    return Sample(
        requests=result["requests"],
        seconds=result["seconds"],
        requests_per_second=result["requests"] / result["seconds"],
        p50_micros=result["p50_micros"],
        p99_micros=result["p99_micros"],
        p999_micros=result["p999_micros"],
        max_micros=result["max_micros"],
        server_cpu_micros_per_request=server_cpu * 1e6 / result["requests"],
        server_resident_bytes=resident_bytes,
        load_cpu_share=load_cpu / result["seconds"],
        other_cpu_share=(machine_cpu - server_cpu - load_cpu) / result["seconds"],
    )


def run_wrk(server: Server, requests_file: Path, connections: int, seconds: int) -> Json:
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"]
    command += ["--timeout", "10s", "--script", str(SCRIPT), f"http://127.0.0.1:{server.port}/"]
    output = subprocess.run([*command, "--", str(requests_file)], capture_output=True, text=True)
    marked = [line for line in output.stdout.splitlines() if line.startswith("RESULT ")]
    if not marked:
        raise Invalid(f"wrk failed: {output.stderr or output.stdout}")
    result: Json = json.loads(marked[0].removeprefix("RESULT "))
    return result


def refuse_bad_results(workload: Workload, result: Json) -> None:
    if result["requests"] == 0:
        raise Invalid("no request was answered")
    if result["bad_status"] or result["broken"]:
        raise Invalid(f"{result['bad_status']} error answers and {result['broken']} broken connections or timeouts")
    if result["bytes"] / result["requests"] < workload.answer_bytes_min:
        raise Invalid(f"answers of {result['bytes'] // result['requests']} bytes are too short to be true")
    if workload.keys == "once" and workload.key_count < WARM_UP + result["requests"] + checks.IN_FLIGHT_MAX:
        raise Invalid(f"{workload.name} was faster than foreseen and ran out of requests: raise their number")


def refuse_undone_work(server: Server, workload: Workload, requests: int, counted: int) -> None:
    """Requests on their way when the load stopped may have been done without an answer."""
    with server.client() as client:
        problem = workload.verify(client, range(WARM_UP + requests))
    if problem is not None:
        raise Invalid(problem)
    if workload.counts:
        done = counter_total(server) - counted
        if not requests <= done <= requests + checks.IN_FLIGHT_MAX:
            raise Invalid(f"{requests} updates were answered but {done} were counted")


def counter_total(server: Server) -> int:
    with server.client() as client:
        return checks.counter_total(client)


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

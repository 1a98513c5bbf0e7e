"""More than the server can hold: who is refused or cut off, who is served all the same, and that memory comes back."""

import gc
import gzip
import json
import resource
import socket
import struct
import subprocess
import sys
import threading
import time

import boto3
import pytest
from botocore.config import Config

from hashrange.errors import ServiceUnavailable
from hashrange.http import connection, encoding, overload
from hashrange.http.long_reads import LongReads
from hashrange.http.overload import BUSY, Memory, Pool, WriteQueue, busy_answer, undisturbed
from hashrange.operations.operation import LongRead
from hashrange.storage import Result

MB = 1024 * 1024


def get(path):
    return b"GET %b HTTP/1.1\r\n\r\n" % path


def post(size_bytes):
    return b"POST /echo HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size_bytes


def until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not happen")


def received_bytes(client):
    """How much the server sent before it ended the connection."""
    total = 0
    try:
        while data := client.sock.recv(MB):
            total += len(data)
    except ConnectionResetError:
        pass
    return total


def connect_until_exhausted(toy, clients):
    while True:
        clients.append(toy.connect())


@pytest.fixture
def slow_compressor(monkeypatch):
    """Compresses nothing before it is told to."""
    may_go_on = threading.Event()
    compress = encoding.compress

    def wait_and_compress(body):
        may_go_on.wait(5)
        return compress(body)

    monkeypatch.setattr(encoding, "compress", wait_and_compress)
    yield may_go_on
    may_go_on.set()


def memory_of(toy):
    return toy.server._door.memory


def error_of(answer):
    status, headers, body = answer
    return status, headers["content-type"], json.loads(body)


REFUSAL = (
    503,
    "application/x-amz-json-1.0",
    {"__type": "com.amazon.coral.availability#ServiceUnavailable", "message": BUSY},
)


# ---- Bodies --------------------------------------------------------------------------------------------------------


def test_a_body_that_there_is_no_room_for_is_refused_and_those_before_it_arrive(toys):
    with toys(memory_bytes_max=16 * MB) as toy:  # four of them for bodies
        first, second, third = toy.connect(), toy.connect(), toy.connect()
        for client in (first, second):
            client.send(post(2 * MB), b"x" * (2 * MB - 100_000))
        until(lambda: memory_of(toy).bodies.held_bytes > 3.5 * MB)
        third.send(post(2 * MB), b"x" * (2 * MB - 100_000))
        assert error_of(third.answer()) == REFUSAL
        for client in (first, second):
            client.send(b"x" * 100_000)
            assert client.answer()[0] == 200
        assert memory_of(toy).bodies.held_bytes == 0
        again = toy.connect()
        again.send(post(2 * MB), b"x" * 2 * MB)
        assert again.answer()[0] == 200


def test_small_requests_are_answered_while_bodies_fill_the_memory(toys):
    with toys(memory_bytes_max=4 * MB) as toy:
        greedy = toy.connect()
        greedy.send(post(10 * MB), b"x" * 9 * MB)  # alone, it may have more than its share
        until(lambda: memory_of(toy).bodies.held_bytes > 8 * MB)
        small = toy.connect()
        for _ in range(3):
            small.send(post(3), b"abc")
            assert small.answer()[2] == b"abc"


def test_a_client_that_leaves_in_the_middle_of_a_body_takes_nothing_with_it(toys):
    with toys(memory_bytes_max=4 * MB) as toy:
        client = toy.connect()
        client.send(post(2 * MB), b"x" * MB)
        until(lambda: memory_of(toy).bodies.held_bytes > 500_000)
        client.close()
        until(lambda: memory_of(toy).bodies.held_bytes == 0)


def test_requests_that_wait_for_their_turn_are_counted(toys):
    with toys(in_flight_max=1, memory_bytes_max=4 * MB) as toy:
        client = toy.connect()
        client.send(get(b"/later"), get(b"/now") * 100)
        until(lambda: toy.held)
        until(lambda: memory_of(toy).bodies.held_bytes > 0)
        toy.release(b"/later")
        for _ in range(101):
            client.answer()
        until(lambda: memory_of(toy).bodies.held_bytes == 0)


def test_compressed_bodies_stay_compressed_until_their_turn(toys):
    with toys(in_flight_max=1) as toy:
        body = gzip.compress(b"x" * 10 * MB)
        request = b"POST /later%d HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
        client = toy.connect()
        client.send(*(request % (number, len(body), body) for number in range(5)))
        until(lambda: toy.held)
        [connection] = toy.server._door.connections
        until(lambda: len(connection.waiting) == 4)
        assert {len(exchange.body) for exchange, _ in connection.waiting} == {len(body)}
        for number in range(5):
            until(lambda number=number: b"/later%d" % number in toy.held)
            assert len(toy.held[b"/later%d" % number].body) == 10 * MB
            toy.release(b"/later%d" % number)
            assert client.answer()[0] == 200


# ---- Answers -------------------------------------------------------------------------------------------------------


def test_answers_that_wait_to_be_compressed_are_counted_and_hold_the_client_back(toys, slow_compressor):
    with toys() as toy:
        client = toy.connect()
        client.send(*(b"GET /big?%d HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n" % MB for _ in range(10)))
        until(lambda: toy.seen)
        time.sleep(0.02)
        assert len(toy.seen) == 1
        assert memory_of(toy).answers.held_bytes == MB
        slow_compressor.set()
        for _ in range(10):
            assert gzip.decompress(client.answer()[2]) == b"x" * MB
        until(lambda: memory_of(toy).answers.held_bytes == 0)


def test_an_answer_is_sent_as_it_is_when_there_is_no_room_for_it_to_wait(toys, slow_compressor):
    with toys(memory_bytes_max=4 * MB) as toy:
        first, second = toy.connect(), toy.connect()
        ask = b"GET /big?%d HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n" % MB
        first.send(ask)
        until(lambda: memory_of(toy).answers.held_bytes)
        second.send(ask)
        assert second.answer()[2] == b"x" * MB
        slow_compressor.set()
        assert gzip.decompress(first.answer()[2]) == b"x" * MB


def test_who_goes_away_takes_with_him_what_waited_to_be_compressed(toys, slow_compressor):
    with toys() as toy:
        clients = [toy.connect() for _ in range(3)]
        for client in clients:
            client.send(b"GET /big?%d HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n" % 200_000)
        until(lambda: memory_of(toy).answers.held_bytes == 600_000)
        waiting = toy.seen[-1]
        for client in clients:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # not only half closed
            client.close()
        until(lambda: memory_of(toy).answers.held_bytes == 0)
        assert waiting.uncompressed == b""
        slow_compressor.set()
        again = toy.connect()
        again.send(b"GET /big?%d HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n" % 200_000)
        assert gzip.decompress(again.answer()[2]) == b"x" * 200_000


def test_requests_that_came_while_the_door_rested_and_had_to_wait_are_answered(toys):
    with toys(in_flight_max=1) as toy:
        client = toy.connect()
        client.send(get(b"/first"))
        client.answer()
        [connection] = toy.server._door.connections

        def arrive_during_a_rest():
            toy.server._door._rest()
            connection.data_received(get(b"/one") + get(b"/two") + get(b"/three"))

        toy.call(arrive_during_a_rest)
        assert [client.answer()[2] for _ in range(3)] == [b"/one", b"/two", b"/three"]


def test_who_has_not_read_for_the_longest_is_cut_off_when_answers_fill_the_memory(toys):
    with toys(memory_bytes_max=20 * MB) as toy:  # ten of them for answers
        idlers = []
        for number in range(4):
            idlers.append(toy.connect())
            idlers[-1].send(get(b"/big?8000000"))
            until(lambda number=number: len(toy.seen) == number + 1)
        until(lambda: toy.server.connection_count < 4)
        assert memory_of(toy).answers.held_bytes <= 10 * MB
        assert len(idlers[-1].answer()[2]) == 8_000_000  # it came last and reads
        assert received_bytes(idlers[0]) < 8_000_000


def test_answers_that_wait_for_an_earlier_one_are_counted_and_hold_the_client_back(toys):
    with toys(write_buffer_bytes=100_000) as toy:
        client = toy.connect()
        client.send(get(b"/later"), *(get(b"/big?60000") for _ in range(20)))
        until(lambda: len(toy.seen) == 3)
        time.sleep(0.02)
        assert len(toy.seen) == 3  # two answers are more than may wait
        assert memory_of(toy).answers.held_bytes > 120_000
        toy.release(b"/later")
        assert client.answer()[2] == b"/later"
        assert [len(client.answer()[2]) for _ in range(20)] == [60_000] * 20
        until(lambda: memory_of(toy).answers.held_bytes == 0)


# ---- Connections ---------------------------------------------------------------------------------------------------


def test_connections_over_the_limit_are_told_to_come_back(toys):
    with toys(connections_max=1) as toy:
        toy.connect()
        until(lambda: toy.server.connection_count == 1)
        assert error_of(toy.connect().answer()) == REFUSAL


def test_a_client_that_sends_everything_at_once_does_not_keep_the_others_waiting(toys):
    with toys() as toy:

        def slowly(exchange):
            ends = time.perf_counter() + 0.001
            while time.perf_counter() < ends:
                pass
            exchange.respond(200, b"", b"")

        toy.server._door.handler = slowly
        greedy, other = toy.connect(), toy.connect()
        greedy.send(get(b"/") * 400)
        time.sleep(0.02)
        started = time.perf_counter()
        other.send(get(b"/"))
        other.answer()
        assert time.perf_counter() - started < 0.2  # the greedy one's requests take twice as long
        for _ in range(400):
            greedy.answer()


def test_turns_end(monkeypatch, toys):
    monkeypatch.setattr(connection, "TURN_SECONDS", 0.0)
    with toys() as toy:
        client = toy.connect()
        client.send(*(get(b"/%d" % number) for number in range(2000)))
        assert [client.answer()[2] for _ in range(2000)] == [b"/%d" % number for number in range(2000)]


EXHAUSTED = """
import resource, sys
from hashrange.http.listen import connections_possible
resource.setrlimit(resource.RLIMIT_NOFILE, (100, int(sys.argv[1])))
print(connections_possible(1000), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(("allowed", "expected"), [(4000, "1000 1128"), (500, "372 500"), (150, "75 150")])
def test_as_many_connections_are_taken_as_the_system_has_descriptors_for(allowed, expected):
    run = subprocess.run([sys.executable, "-c", EXHAUSTED, str(allowed)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == expected


def test_running_out_of_descriptors_neither_ends_nor_occupies_the_server(toys):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with toys() as toy:
        first = toy.connect()
        first.send(get(b"/one"))
        assert first.answer()[2] == b"/one"
        late = toy.connect()
        used = max(sock.fileno() for sock in (first.sock, late.sock)) + 8
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (used, limits[1]))
            clients = []
            with pytest.raises(OSError, match="Too many open files"):
                connect_until_exhausted(toy, clients)
            first.send(get(b"/two"))
            assert first.answer()[2] == b"/two"
            before = time.process_time()
            time.sleep(0.2)
            assert time.process_time() - before < 0.1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for client in clients:
            client.close()
        after = toy.connect()
        after.send(get(b"/three"))
        assert after.answer()[2] == b"/three"


# ---- Writes and long reads -----------------------------------------------------------------------------------------


class SlowStore:
    """Keeps its writes until told to finish one."""

    def __init__(self):
        self.waiting = []

    def write(self, plan, done):
        self.waiting.append(done)


def test_a_write_that_there_is_no_room_for_is_refused_at_once(monkeypatch):
    monkeypatch.setattr(overload, "WRITES_WAITING_MAX", 2)
    store, results = SlowStore(), []
    queue = WriteQueue(store, Pool(10_000))
    for _ in range(2):
        queue.write(None, results.append, b"{}")
    with pytest.raises(ServiceUnavailable):
        queue.write(None, results.append, b"{}")
    store.waiting.pop()(Result("done"))
    assert [result.answer for result in results] == ["done"]
    queue.write(None, results.append, b"{}")


def test_writes_count_by_what_they_hold_and_one_alone_may_be_of_any_size():
    store, pool = SlowStore(), Pool(10_000)
    queue = WriteQueue(store, pool)
    queue.write(None, lambda result: None, b"x" * 20_000)
    with pytest.raises(ServiceUnavailable):
        queue.write(None, lambda result: None, b"x")
    store.waiting.pop()(Result())
    assert pool.held_bytes == 0
    queue.write(None, lambda result: None, b"{" * 30)  # thirty values
    assert pool.held_bytes == 30 + 30 * overload.VALUE_BYTES


def test_the_writes_of_one_turn_of_the_loop_are_handed_over_together():
    store, later = SlowStore(), []
    queue = WriteQueue(store, Pool(10_000), later.append)
    for _ in range(3):
        queue.write(None, lambda result: None, b"{}")
    assert (len(store.waiting), len(later)) == (0, 1)
    later.pop()()
    assert len(store.waiting) == 3
    queue.write(None, lambda result: None, b"{}")
    assert len(later) == 1


def test_the_pools_share_the_memory():
    memory = Memory.of(400)
    assert sum(pool.bytes_max for pool in (memory.bodies, memory.answers, memory.reads, memory.writes)) == 400


class Turns:
    """A loop whose turns are taken by hand."""

    def __init__(self):
        self.due = []

    def __call__(self, callback):
        self.due.append(callback)

    def all(self):
        while self.due:
            self.due.pop(0)()


class Client:
    def __init__(self):
        self.pending = ["a request"]


class Asked:
    body = b"{}"

    def __init__(self, client):
        self.connection = client


def long_reads(call_soon):
    return LongReads(Pool(MB), call_soon)


def pages(name, count, log):
    def step():
        log.append(name)
        time.sleep(0.003)  # more than a slice
        return {} if log.count(name) == count else None

    return LongRead(step)


def test_long_reads_go_on_a_slice_at_a_time_and_take_turns_by_connection():
    turns, log, finished = Turns(), [], []
    reads = long_reads(turns)
    a, b = Client(), Client()
    for name, client in (("a1", a), ("a2", a), ("a3", a), ("b1", b)):
        reads.start(pages(name, 2, log), lambda result, name=name: finished.append(name), Asked(client))
    assert log == []
    turns.due.pop(0)()
    assert log == ["a1"]  # one slice, and back to the loop
    turns.all()
    assert finished == ["a1", "b1", "a2", "a3"]


def test_an_error_in_a_long_read_is_its_result():
    turns, results = Turns(), []

    def fail():
        raise ValueError

    long_reads(turns).start(LongRead(fail), results.append, Asked(Client()))
    turns.all()
    assert isinstance(results[0].error, ValueError)


def test_too_many_long_reads_are_refused(monkeypatch):
    monkeypatch.setattr("hashrange.http.long_reads.WAITING_MAX", 1)
    reads = long_reads(Turns())
    reads.start(pages("one", 1, []), lambda result: None, Asked(Client()))
    with pytest.raises(ServiceUnavailable):
        reads.start(pages("two", 1, []), lambda result: None, Asked(Client()))


def test_long_reads_count_by_what_they_have_found():
    turns, pool = Turns(), Pool(MB)
    reads = LongReads(pool, turns)
    reads.start(LongRead(dict, held_bytes=800_000), lambda result: None, Asked(Client()))
    with pytest.raises(ServiceUnavailable):
        reads.start(LongRead(dict, held_bytes=800_000), lambda result: None, Asked(Client()))
    turns.all()
    assert pool.held_bytes == 0
    reads.start(LongRead(dict, held_bytes=800_000), lambda result: None, Asked(Client()))


def test_nothing_more_is_read_for_a_client_that_went_away():
    turns, log, finished, pool = Turns(), [], [], Pool(MB)
    reads = LongReads(pool, turns)
    gone, there = Client(), Client()
    for name, client in (("a", gone), ("b", gone), ("c", there)):
        reads.start(pages(name, 3, log), lambda result, name=name: finished.append(name), Asked(client))
    turns.due.pop(0)()
    gone.pending.clear()
    turns.all()
    assert (log, finished, pool.held_bytes) == (["a", "c", "c", "c"], ["c"], 0)


def test_the_collector_rests_while_a_large_body_is_handled():
    seen = []
    undisturbed(lambda exchange: seen.append(gc.isenabled()))(None)
    assert (seen, gc.isenabled()) == ([False], True)


# ---- Clients -------------------------------------------------------------------------------------------------------


def test_boto3_tries_again_when_it_is_refused(toys):
    with toys() as toy:
        calls = []

        def refuse_twice(exchange):
            calls.append(exchange)
            if len(calls) <= 2:
                busy_answer(exchange)
            else:
                exchange.respond(200, b"Content-Type: application/x-amz-json-1.0\r\n", b'{"TableNames": ["a"]}')

        toy.server._door.handler = refuse_twice
        client = boto3.client(
            "dynamodb",
            endpoint_url=f"http://127.0.0.1:{toy.port}",
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(retries={"mode": "standard", "max_attempts": 5}),
        )
        assert client.list_tables()["TableNames"] == ["a"]
        assert len(calls) == 3

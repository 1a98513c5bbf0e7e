"""The order of answers, the ways a connection ends, and the limits that end one."""

import socket
import struct
import time

import pytest


def get(path, *lines):
    return b"GET %b HTTP/1.1\r\n" % path + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def until(condition):
    for _ in range(500):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not happen")


def test_answers_leave_in_the_order_of_the_requests(toy, client):
    client.send(get(b"/later1"), get(b"/now"), get(b"/later2"), get(b"/now2"))
    until(lambda: len(toy.seen) == 4)
    toy.release(b"/later2")
    toy.release(b"/later1")
    assert [client.answer()[2] for _ in range(4)] == [b"/later1", b"/now", b"/later2", b"/now2"]


def test_requests_beyond_the_limit_wait_until_earlier_ones_are_answered(toys):
    with toys(in_flight_max=4) as toy:
        client = toy.connect()
        client.send(*(get(b"/later%d" % number) for number in range(10)))
        until(lambda: len(toy.seen) == 4)
        time.sleep(0.02)
        assert len(toy.seen) == 4
        toy.release(b"/later1")
        assert len(toy.seen) == 4
        toy.release(b"/later0")
        until(lambda: len(toy.seen) == 6)
        for number in range(2, 10):
            until(lambda number=number: b"/later%d" % number in toy.held)
            toy.release(b"/later%d" % number)
        assert [client.answer()[2] for _ in range(10)] == [b"/later%d" % number for number in range(10)]
        client.send(get(b"/on"))
        assert client.answer()[2] == b"/on"


def test_reading_pauses_while_too_many_requests_wait(toys):
    with toys(in_flight_max=2) as toy:
        client = toy.connect()
        client.send(get(b"/later1"), get(b"/later2"))
        until(lambda: len(toy.held) == 2)
        client.sock.settimeout(0.2)
        with pytest.raises(TimeoutError):  # the kernel's buffers fill up, and then nobody takes more
            client.send(get(b"/more") * 2_000_000)
        assert len(toy.seen) == 2
        assert not toy.seen[0].connection.waiting


def test_thousands_of_pipelined_requests_are_answered(client):
    client.send(*(get(b"/%d" % number) for number in range(5000)))
    assert [client.answer()[2] for _ in range(5000)] == [b"/%d" % number for number in range(5000)]


def test_thousands_of_waiting_requests_are_taken_up_without_recursion(toys):
    with toys(in_flight_max=1) as toy:
        client = toy.connect()
        client.send(get(b"/later"), *(get(b"/%d" % number) for number in range(3000)))
        until(lambda: toy.held)
        toy.release(b"/later")
        assert client.answer()[2] == b"/later"
        assert [client.answer()[2] for _ in range(3000)] == [b"/%d" % number for number in range(3000)]


@pytest.mark.parametrize(
    ("request_bytes", "connection"),
    [
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "close"),
        (b"GET / HTTP/1.0\r\n\r\n", "close"),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive"),
        (b"GET / HTTP/1.1\r\nConnection: Keep-Alive\r\n\r\n", "keep-alive"),
    ],
)
def test_the_client_says_whether_the_connection_stays(client, request_bytes, connection):
    client.send(request_bytes)
    assert client.answer()[1]["connection"] == connection
    if connection == "close":
        assert client.is_closed()
    else:
        client.send(request_bytes)
        assert client.answer()[0] == 200


def test_nothing_is_done_after_a_request_that_closes(toy, client):
    client.send(get(b"/last", b"Connection: close"), get(b"/after"))
    assert client.answer()[2] == b"/last"
    assert [exchange.url for exchange in toy.seen] == [b"/last"]


def test_a_refusal_comes_after_the_answers_before_it(toy, client):
    client.send(get(b"/later"), b"garbage\r\n\r\n")
    until(lambda: toy.held)
    toy.release(b"/later")
    assert client.answer()[2] == b"/later"
    assert client.answer()[0] == 400
    assert client.is_closed()


def test_a_client_that_has_said_everything_still_gets_its_answers(toy, client):
    client.send(get(b"/now"), get(b"/later"))
    client.sock.shutdown(socket.SHUT_WR)
    until(lambda: toy.held)
    time.sleep(0.02)
    toy.release(b"/later")
    assert client.answer()[2] == b"/now"
    assert client.answer()[2] == b"/later"
    assert client.is_closed()


def test_an_answer_to_a_client_that_is_gone_is_dropped(toy, client):
    client.send(get(b"/later1"), get(b"/later2"))
    until(lambda: len(toy.held) == 2)
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    until(lambda: toy.server.connection_count == 0)
    toy.release(b"/later2")
    toy.release(b"/later1")
    other = toy.connect()
    other.send(get(b"/other"))
    assert other.answer()[2] == b"/other"


def test_an_idle_connection_is_closed(toys):
    with toys(idle_seconds=0.1, sweep_seconds=0.02) as toy:
        silent, used, busy = toy.connect(), toy.connect(), toy.connect()
        busy.send(get(b"/later"))
        used.send(get(b"/"))
        assert used.answer()[0] == 200
        assert silent.is_closed()
        assert used.is_closed()
        time.sleep(0.05)
        toy.release(b"/later")
        assert busy.answer()[2] == b"/later"


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nX:", b"GET /", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"]
)
def test_a_request_that_does_not_arrive_in_time_is_refused(toys, start):
    with toys(request_seconds=0.1, sweep_seconds=0.02) as toy:
        client = toy.connect()
        client.send(start)
        status, headers, _ = client.answer()
        assert (status, headers["connection"]) == (408, "close")
        assert client.is_closed()


def test_a_request_that_trickles_in_is_refused_all_the_same(toys):
    with toys(request_seconds=0.1, sweep_seconds=0.02) as toy:
        client = toy.connect()
        client.send(b"GET / HTTP/1.1\r\n")
        for _ in range(6):
            time.sleep(0.03)
            client.send(b"X: 1\r\n")
        assert client.answer()[0] == 408


def test_a_refused_client_that_does_not_go_away_is_cut_off(toys):
    with toys(linger_seconds=0.05, sweep_seconds=0.02) as toy:
        client = toy.connect()
        client.send(b"garbage\r\n\r\n")
        assert client.answer()[0] == 400
        until(lambda: toy.server.connection_count == 0)


def test_connections_over_the_limit_are_refused(toys):
    with toys(connections_max=2) as toy:
        first, second = toy.connect(), toy.connect()
        until(lambda: toy.server.connection_count == 2)
        third = toy.connect()
        status, headers, _ = third.answer()
        assert (status, headers["connection"]) == (503, "close")
        assert third.is_closed()
        third.close()
        first.close()
        until(lambda: toy.server.connection_count == 1)
        fourth = toy.connect()
        for client in (second, fourth):
            client.send(get(b"/"))
            assert client.answer()[0] == 200


def test_a_client_that_does_not_read_is_not_read_from_and_then_cut_off(toys):
    with toys(drain_seconds=0.2, sweep_seconds=0.02) as toy:
        client = toy.connect()
        client.send(*(get(b"/big?1000000") for _ in range(100)))
        until(lambda: len(toy.seen) > 0)
        time.sleep(0.05)
        assert len(toy.seen) < 50
        until(lambda: toy.server.connection_count == 0)


def test_a_client_that_reads_late_gets_everything(toy, client):
    client.send(*(get(b"/big?1000000") for _ in range(30)))
    time.sleep(0.1)
    assert len(toy.seen) < 30
    assert [len(client.answer()[2]) for _ in range(30)] == [1_000_000] * 30


def test_stopping_answers_what_was_accepted_and_closes_the_rest(toy):
    idle, busy, half = toy.connect(), toy.connect(), toy.connect()
    busy.send(get(b"/later1"), get(b"/later2"))
    half.send(b"GET /half HTTP/1.1\r\n")
    until(lambda: len(toy.held) == 2)
    closing = toy.start(toy.server.close())
    assert idle.is_closed()
    with pytest.raises(ConnectionRefusedError):
        toy.connect()
    half.send(b"\r\n")
    for client, path in ((half, b"/half"), (busy, b"/later1"), (busy, b"/later2")):
        if path in toy.held:
            toy.release(path)
        assert client.answer()[2] == path
    assert busy.is_closed()
    assert half.is_closed()
    closing.result(1)


def test_the_last_answer_before_the_end_says_so(toy, client):
    client.send(get(b"/later"))
    until(lambda: toy.held)
    closing = toy.start(toy.server.close())
    time.sleep(0.02)
    toy.release(b"/later")
    assert client.answer()[1]["connection"] == "close"
    closing.result(1)


def test_stopping_does_not_wait_longer_than_the_grace_period(toys):
    with toys(grace_seconds=0.1) as toy:
        client = toy.connect()
        client.send(get(b"/later"))
        until(lambda: toy.held)
        toy.start(toy.server.close()).result(1)
        assert client.is_closed()
        toy.release(b"/later")

"""Binding: one socket or several on a port, and a clear sentence when it cannot be."""

import socket

import pytest

from hashrange.http.listen import CannotListen, PortTaken, bind


def close_all(sockets):
    for sock in sockets:
        sock.close()


def test_several_sockets_share_one_free_port():
    sockets = bind("127.0.0.1", 0, 3)
    try:
        assert len({sock.getsockname() for sock in sockets}) == 1
    finally:
        close_all(sockets)


@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("count", [1, 2])
def test_a_port_on_which_somebody_listens_is_taken(others, count):
    sockets = bind("127.0.0.1", 0, others)
    port = sockets[0].getsockname()[1]
    try:
        with pytest.raises(PortTaken, match=f"Port {port} on 127.0.0.1 is taken"):
            bind("127.0.0.1", port, count)
    finally:
        close_all(sockets)
    close_all(bind("127.0.0.1", port, count))


def test_a_name_that_means_both_is_bound_as_ipv4():
    [sock] = bind("localhost", 0)
    with sock:
        assert sock.family == socket.AF_INET


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_every_ipv6_address_includes_the_ipv4_ones():
    try:
        [sock] = bind("::", 0)
    except CannotListen:
        pytest.skip("this machine has no IPv6")
    with sock:
        socket.create_connection(("127.0.0.1", sock.getsockname()[1]), timeout=5).close()


@pytest.mark.parametrize(
    ("host", "port", "sentence"),
    [
        ("no-such-host.invalid", 0, "'no-such-host.invalid' is not a name or address of this machine."),
        ("203.0.113.1", 0, "203.0.113.1 is not an address of this machine."),
        ("127.0.0.1", 70000, "70000 is not a port number."),
    ],
)
def test_an_address_that_cannot_be_used_is_explained(host, port, sentence):
    with pytest.raises(CannotListen) as caught:
        bind(host, port)
    assert str(caught.value) == sentence

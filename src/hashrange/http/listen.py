"""Listening sockets: one, or several that share a port so that each worker process has its own."""

from __future__ import annotations

import errno
import os
import socket
import sys
from typing import Any

if sys.platform != "win32":
    import resource

BACKLOG = 4096
PORT_MAX = 65_535
DESCRIPTORS_RESERVED = 128  # for everything but connections: the database, buckets, functions, those being refused

Address = tuple[Any, ...]  # as the socket module has it: host and port, and for IPv6 two more numbers


class CannotListen(Exception):
    """An address that cannot be listened on; the message is a sentence for the person who asked."""


class PortTaken(CannotListen):
    """Somebody else is listening there."""


def bind(host: str, port: int, count: int = 1) -> list[socket.socket]:
    """`count` listening sockets on one address; port 0 picks a free one.

    Sockets that share a port would also share it with another server of the same user, unnoticed. So the first
    bind is one that does not share.
    """
    family, address = _resolve(host, port)
    alone = _bound(family, address, shared=False)
    if count == 1:
        alone.listen(BACKLOG)
        return [alone]
    address = alone.getsockname()
    alone.close()
    if not hasattr(socket, "SO_REUSEPORT"):
        raise CannotListen("This platform cannot share one port between several processes.")
    return _shared(family, address, count)


def connections_possible(wanted: int) -> int:
    """How many connections the system allows this process, having asked it for as many as are wanted.

    A server that runs out of file descriptors can only drop who comes next, and cannot open files of its own either;
    one that stops a little earlier can tell.
    """
    if sys.platform == "win32":
        return wanted
    allowed, allowed_max = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + DESCRIPTORS_RESERVED
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        allowed = needed if allowed_max == resource.RLIM_INFINITY else min(needed, allowed_max)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed_max))
    if allowed == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(allowed - DESCRIPTORS_RESERVED, allowed // 2))


def _shared(family: socket.AddressFamily, address: Address, count: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for _ in range(count):
            sockets.append(_bound(family, address, shared=True))
        for sock in sockets:
            sock.listen(BACKLOG)
    except BaseException:
        for sock in sockets:
            sock.close()
        raise
    return sockets


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Address]:
    """The address to bind for a name; of several, an IPv4 one, because that is what `localhost` clients try."""
    if not 0 <= port <= PORT_MAX:
        raise CannotListen(f"{port} is not a port number.")  # getaddrinfo would take it modulo 65,536
    try:
        name = host.encode() if host.isascii() else host  # for a text Python loads its tables of international names
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise CannotListen(f"{host!r} is not a name or address of this machine.") from error
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, address


def _bound(family: socket.AddressFamily, address: Address, *, shared: bool) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere this option means something else
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # :: is every address, IPv4 too
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise _cannot_listen(error, address) from error
    return sock


def _cannot_listen(error: OSError, address: Address) -> CannotListen:
    host, port = address[:2]
    if error.errno == errno.EADDRINUSE:
        return PortTaken(f"Port {port} on {host} is taken: another server is listening there.")
    if error.errno == errno.EACCES:
        return CannotListen(f"Listening on port {port} needs more rights than this process has.")
    if error.errno == errno.EADDRNOTAVAIL:
        return CannotListen(f"{host} is not an address of this machine.")
    return CannotListen(f"Cannot listen on {host} port {port}: {error.strerror}.")

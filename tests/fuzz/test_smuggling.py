"""Ways to make two servers disagree about where a request ends, and what is done about each."""

from __future__ import annotations

import asyncio

import pytest

from fuzz.wire import Wire, whole_answers

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"
GET = b"GET / HTTP/1.1\r\nHost: h\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"

REFUSED = {
    "both lengths": HEAD + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths, the other way round": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "the same length twice": HEAD + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": HEAD + b"Content-Length: 0, 0\r\n\r\n",
    "a length with a sign": HEAD + b"Content-Length: +0\r\n\r\n",
    "a hexadecimal length": HEAD + b"Content-Length: 0x0\r\n\r\n",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n",
    "a length of more than 64 bits": HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "no length": HEAD + b"Content-Length:\r\n\r\n",
    "a space before the colon": HEAD + b"Content-Length : 0\r\n\r\n",
    "a vertical tab before a length": HEAD + b"Content-Length:\x0b0\r\n\r\n",
    "a coding with a space before the colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked not last": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "chunked twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked in quotes": HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "chunked with a parameter": HEAD + b"Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
    "a vertical tab before chunked": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a folded coding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded header": HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "line feeds alone": b"POST / HTTP/1.1\nHost: h\nContent-Length: 0\n\n",
    "a line feed in a header": HEAD + b"X: a\nContent-Length: 0\r\n\r\n",
    "a carriage return in a header": HEAD + b"X: a\rY: b\r\nContent-Length: 0\r\n\r\n",
    "a zero in a header": HEAD + b"X: a\0b\r\nContent-Length: 0\r\n\r\n",
    "a zero in a header's name": HEAD + b"X\0: a\r\nContent-Length: 0\r\n\r\n",
    "a header without a name": HEAD + b": a\r\nContent-Length: 0\r\n\r\n",
    "a header without a colon": HEAD + b"Xabc\r\nContent-Length: 0\r\n\r\n",
    "a first header that is folded": b"POST / HTTP/1.1\r\n Host: h\r\nContent-Length: 0\r\n\r\n",
    "two hosts": HEAD + b"Host: g\r\nContent-Length: 0\r\n\r\n",
    "a chunk that ends with line feeds": CHUNKED + b"0\n\n",
    "a chunk's size with a prefix": CHUNKED + b"0x0\r\n\r\n",
    "a chunk's size with a sign": CHUNKED + b"+0\r\n\r\n",
    "a chunk's size below zero": CHUNKED + b"-1\r\n\r\n",
    "a chunk's size with a space": CHUNKED + b"0 \r\n\r\n",
    "a chunk's size of more than 64 bits": CHUNKED + b"10000000000000000\r\n\r\n",
    "a chunk without an end": CHUNKED + b"1\r\naXX0\r\n\r\n",
    "a line feed in a chunk's extension": CHUNKED + b"0;a\nb\r\n\r\n",
    "a carriage return in a chunk's extension": CHUNKED + b"0;a\rb\r\n\r\n",
    "a length in the trailer": CHUNKED + b"0\r\nContent-Length: 50\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "an unknown version": b"GET / HTTP/1.2\r\nHost: h\r\n\r\n",
    "a method in small letters": b"get / HTTP/1.1\r\nHost: h\r\n\r\n",
    "tabs in the first line": b"GET\t/\tHTTP/1.1\r\nHost: h\r\n\r\n",
    "a carriage return in the URL": b"GET /\r HTTP/1.1\r\nHost: h\r\n\r\n",
    "a zero in the URL": b"GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n",
    "a preflight that names a header": GET + b"Access-Control-Request-Headers: a\rX-Evil: 1\r\n\r\n",
    "a content type that goes on": HEAD + b"Content-Type: application/json\rX-Evil: 1\r\nContent-Length: 0\r\n\r\n",
    "an expectation twice": HEAD + b"Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
}
BODIES = {  # where what follows is the body, or is for nobody
    "GET": GET + b"Content-Length: %d\r\n\r\n" % len(HIDDEN),
    "HEAD": b"HEAD / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "h2c": HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "two upgrades": HEAD
    + b"Connection: Upgrade\r\nUpgrade: a\r\nUpgrade: b\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "CONNECT": b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
}
PLAIN = {  # where what follows is the next request
    "zeros before a length": HEAD + b"Content-Length: 0000000\r\n\r\n",
    "chunked in large and small letters": HEAD + b"Transfer-Encoding: ChUnKeD\r\n\r\n0\r\n\r\n",
    "an upgrade without a body": GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
}


def sent(data: bytes) -> tuple[list[bytes], list[int], bool]:
    """The URLs that reach the handler, the statuses that come back, and whether the connection is over."""

    async def feed() -> Wire:
        wire = Wire(held=False)
        await wire.feed([data])
        return wire

    wire = asyncio.run(feed())
    statuses = whole_answers(bytes(wire.transport.written), heads=data.startswith(b"HEAD"))
    return [url for _, url, *_ in wire.seen], statuses, wire.over


@pytest.mark.parametrize("way", REFUSED)
def test_a_doubtful_request_ends_its_connection_and_hides_nothing(way: str) -> None:
    urls, statuses, is_over = sent(REFUSED[way] + HIDDEN)
    assert b"/hidden" not in urls
    assert statuses[-1] in (400, 417, 501, 505)
    assert is_over


@pytest.mark.parametrize("way", BODIES)
def test_what_stands_in_a_body_is_no_request(way: str) -> None:
    urls, statuses, _ = sent(BODIES[way] + HIDDEN)
    assert (len(urls), statuses) == (1, [200])
    assert b"/hidden" not in urls


@pytest.mark.parametrize("way", PLAIN)
def test_what_follows_a_plain_request_is_the_next(way: str) -> None:
    urls, statuses, _ = sent(PLAIN[way] + HIDDEN)
    assert urls == [b"/", b"/hidden"]
    assert statuses == [200, 200]

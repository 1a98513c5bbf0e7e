"""What arrives at the handler, and what is said to a client whose request cannot."""

import gzip
import json
import zlib

import pytest

HEAD = b"POST /echo HTTP/1.1\r\nHost: h\r\n"


def post(body, *lines):
    return HEAD + b"".join(line + b"\r\n" for line in (*lines, b"Content-Length: %d" % len(body))) + b"\r\n" + body


def test_a_request_is_answered_with_everything_that_belongs_to_an_answer(client):
    client.send(post(b"hello"))
    status, headers, body = client.answer()
    assert (status, body) == (200, b"hello")
    assert headers["server"] == "Server"
    assert headers["date"].endswith("GMT")
    assert headers["content-length"] == "5"
    assert headers["connection"] == "keep-alive"
    assert headers["toy"] == "yes"
    assert headers["x-amz-crc32"] == str(zlib.crc32(b"hello"))


def test_header_names_are_lower_cased_and_repeated_ones_are_joined(toy, client):
    client.send(HEAD + b"X-One: 1  \r\nx-one:2\r\nEmpty:\r\n\r\n")
    client.answer()
    assert toy.seen[0].headers == {b"host": b"h", b"x-one": b"1,2", b"empty": b""}
    assert toy.seen[0].method == b"POST"
    assert toy.seen[0].url == b"/echo"
    assert toy.seen[0].peer == "127.0.0.1"


def test_a_connection_serves_one_request_after_another(client):
    for number in range(50):
        client.send(post(b"%d" % number))
        assert client.answer()[2] == b"%d" % number


def test_a_request_may_be_split_at_every_byte(toy):
    plain = post(b"some body", b"X-Header: value")
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n5;x=y\r\n body\r\n0\r\nTrailer: t\r\n\r\n"
    client = toy.connect()
    for request in (plain, chunked):
        for cut in range(1, len(request)):
            toy.call(lambda: None)  # a turn of the loop, so that the two halves are read apart
            client.send(request[:cut])
            toy.call(lambda: None)
            client.send(request[cut:])
            assert client.answer()[2] == b"some body"


def test_a_request_may_arrive_byte_by_byte(toy, client):
    for byte in post(b"some body"):
        client.send(bytes([byte]))
        toy.call(lambda: None)
    assert client.answer()[2] == b"some body"
    assert toy.seen[0].url == b"/echo"


def test_a_chunked_body_is_joined_and_its_trailer_forgotten(toy, client):
    client.send(
        HEAD + b"Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\nX-Late: 1\r\n\r\n", post(b"next")
    )
    assert client.answer()[2] == b"abcdef"
    assert client.answer()[2] == b"next"
    assert b"x-late" not in toy.seen[0].headers
    assert b"x-late" not in toy.seen[1].headers


def test_a_gzip_body_is_inflated_and_kept_as_sent_too(toy, client):
    packed = gzip.compress(b"hello" * 100)
    client.send(post(packed, b"Content-Encoding: gzip"))
    assert client.answer()[2] == b"hello" * 100
    assert toy.seen[0].body_as_sent == packed


def test_a_body_that_cannot_be_decoded_is_refused_and_the_connection_goes_on(toys):
    refused = {
        b"not gzip": 400,
        gzip.compress(b"x" * 100)[:-4]: 400,
        gzip.compress(b"x") + b"more": 400,
        gzip.compress(b"0" * 1001): 413,
    }
    with toys(body_bytes_max=1000) as toy:
        client = toy.connect()
        for body, status in refused.items():
            client.send(post(body, b"Content-Encoding: gzip"))
            assert client.answer()[0] == status
        client.send(post(b"x", b"Content-Encoding: br"))
        assert client.answer()[0] == 415
        client.send(post(gzip.compress(b"0" * 1000), b"Content-Encoding: gzip"))
        assert client.answer()[2] == b"0" * 1000


@pytest.mark.parametrize(
    ("accept", "compressed"),
    [
        (b"gzip", True),
        (b"deflate, GZIP;q=0.5", True),
        (b"*", True),
        (b"gzip;q=0", False),
        (b"gzip;q=0, *", False),
        (b"identity", False),
        (b"gzip;q=abc", False),
    ],
)
def test_a_long_answer_is_compressed_if_the_client_allows(client, accept, compressed):
    client.send(b"GET /big?4097 HTTP/1.1\r\nAccept-Encoding: %b\r\n\r\n" % accept)
    _, headers, body = client.answer()
    assert (headers.get("content-encoding") == "gzip") is compressed
    assert headers["x-amz-crc32"] == str(zlib.crc32(body))
    assert (gzip.decompress(body) if compressed else body) == b"x" * 4097


def test_a_short_answer_is_never_compressed(client):
    client.send(b"GET /big?4096 HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n")
    assert client.answer()[2] == b"x" * 4096


def test_a_client_that_expects_to_be_told_to_continue_is_told(client):
    client.send(HEAD + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    assert client.answer()[0] == 100
    client.send(b"body")
    assert client.answer()[2] == b"body"


def test_a_client_whose_body_is_too_large_is_not_told_to_continue(client):
    client.send(HEAD + b"Content-Length: 16777217\r\nExpect: 100-continue\r\n\r\n")
    assert client.answer()[0] == 413
    assert client.is_closed()


def test_continue_waits_for_the_answers_before_it(toy, client):
    client.send(b"GET /later HTTP/1.1\r\n\r\n", HEAD + b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    while not toy.held:
        toy.call(lambda: None)
    toy.release(b"/later", b"first")
    assert client.answer()[2] == b"first"
    assert client.answer()[0] == 100


def test_an_unknown_expectation_fails(client):
    client.send(HEAD + b"Content-Length: 4\r\nExpect: miracles\r\n\r\n")
    assert client.answer()[0] == 417
    assert client.is_closed()


@pytest.mark.parametrize("framing", [b"Content-Length: 1001\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n3e9\r\n"])
def test_a_body_over_the_limit_is_refused_though_the_client_goes_on_sending(toys, framing):
    with toys(body_bytes_max=1000) as toy:
        client = toy.connect()
        client.send(HEAD + framing + b"x" * 1001 + b"y" * 300_000)
        status, headers, _ = client.answer()
        assert (status, headers["connection"]) == (413, "close")
        assert client.is_closed()
        assert not toy.seen


def test_many_small_chunks_may_not_add_up_to_more_than_the_limit(toys):
    with toys(body_bytes_max=1000) as toy:
        client = toy.connect()
        client.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * 501)
        assert client.answer()[0] == 413


def test_a_body_of_sixteen_megabytes_is_allowed(client):
    body = b"z" * (16 * 1024 * 1024)
    client.send(post(body))
    assert client.answer()[2] == body


LIMIT = 16 * 1024
HOST_AND_NAME = len("Hosth") + len("X")  # what the request below has in its headers besides the value


@pytest.mark.parametrize(
    ("url_bytes", "header_bytes", "status"),
    [(LIMIT, LIMIT, 200), (LIMIT + 1, 100, 400), (10, LIMIT + 1, 400)],
)
@pytest.mark.parametrize("pieces", [1, 3])
def test_url_and_headers_may_have_sixteen_kilobytes_each(toy, client, url_bytes, header_bytes, status, pieces):
    url, value = b"/" + b"u" * (url_bytes - 1), b"v" * (header_bytes - HOST_AND_NAME)
    request = b"GET %b HTTP/1.1\r\nHost: h\r\nX: %b\r\n\r\n" % (url, value)
    step = len(request) // pieces + 1
    for start in range(0, len(request), step):
        client.send(request[start : start + step])
        toy.call(lambda: None)
    answer, headers, _ = client.answer()
    assert (answer, headers["connection"]) == (status, "keep-alive" if status == 200 else "close")
    assert len(toy.seen) == (1 if status == 200 else 0)


@pytest.mark.parametrize("endless", [b"X: " + b"v" * 4000, b"".join(b"X%d: v\r\n" % n for n in range(800))])
def test_a_head_or_trailer_without_end_is_refused(toy, endless):
    for start in (HEAD, HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"):
        client = toy.connect()
        client.send(start)
        try:
            for _ in range(100):
                toy.call(lambda: None)
                client.send(endless)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it stopped listening while we were talking
        assert client.answer()[0] == 400


BROKEN = {
    "not http": b"hello\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "space in url": b"GET /a b HTTP/1.1\r\n\r\n",
    "control in url": b"GET /a\x01 HTTP/1.1\r\n\r\n",
    "nul in header": HEAD + b"X: a\0b\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: h\n\n",
    "bare carriage return": HEAD + b"X: a\rContent-Length: 3\r\n\r\nabc",
    "folded header": HEAD + b"X: a\r\n b\r\n\r\n",
    "space before colon": HEAD + b"Content-Length : 3\r\n\r\nabc",
    "no header name": HEAD + b": x\r\n\r\n",
    "two hosts": HEAD + b"Host: other\r\n\r\n",
    "length and chunked": HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "the same length twice": HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "list of lengths": HEAD + b"Content-Length: 3, 3\r\n\r\nabc",
    "signed length": HEAD + b"Content-Length: +3\r\n\r\nabc",
    "negative length": HEAD + b"Content-Length: -3\r\n\r\nabc",
    "no length": HEAD + b"Content-Length: \r\n\r\nabc",
    "overflowing length": HEAD + b"Content-Length: 99999999999999999999999\r\n\r\nabc",
    "chunked is not last": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "chunked twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "almost chunked": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked in http 1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n",
    "chunk with 0x": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "chunk that does not end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
    "overflowing chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_or_ambiguous_requests_are_refused_and_nothing_after_them_is_read(toy, client, name):
    client.send(BROKEN[name] + b"POST /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = client.answer()
    assert status in (400, 501)
    assert headers["connection"] == "close"
    assert client.is_closed()
    assert [exchange.url for exchange in toy.seen if exchange.url == b"/smuggled"] == []


def test_a_transfer_encoding_other_than_chunked_is_not_implemented(client):
    client.send(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
    assert client.answer()[0] == 501


@pytest.mark.parametrize("line", [b"GET /", b"GET / HTTP/2.0"])
def test_other_versions_of_http_are_not_supported(client, line):
    client.send(line + b"\r\n\r\n")
    assert client.answer()[0] == 505
    assert client.is_closed()


def test_a_proposal_to_speak_another_protocol_is_ignored(toy, client):
    upgrade = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c")
    client.send(post(b"one", *upgrade), post(b"two", *upgrade), b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n")
    assert [client.answer()[2] for _ in range(3)] == [b"one", b"two", b"/"]
    assert [exchange.headers.get(b"host") for exchange in toy.seen] == [b"h", b"h", None]


def test_an_upgrade_does_not_hide_a_request_in_the_body(toy, client):
    hidden = b"GET /hidden HTTP/1.1\r\n\r\n"
    client.send(post(hidden, b"Connection: upgrade", b"Upgrade: websocket"))
    assert client.answer()[2] == hidden
    assert len(toy.seen) == 1


def test_nothing_is_read_after_a_connect(toy, client):
    client.send(b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n")
    assert client.answer()[0] == 200
    assert client.is_closed()
    assert len(toy.seen) == 1


def test_a_handler_that_fails_is_answered_for(client, caplog):
    client.send(b"GET /fail HTTP/1.1\r\n\r\n")
    assert client.answer()[0] == 500
    assert "the toy was told to fail" in caplog.text
    client.send(b"GET /next HTTP/1.1\r\n\r\n")
    assert client.answer()[2] == b"/next"


def test_the_answer_to_head_has_no_body(client):
    client.send(b"HEAD /path HTTP/1.1\r\n\r\n", post(b"next"))
    status, headers, _ = client.answer(body=False)
    assert (status, headers["content-length"]) == (200, "5")
    assert client.answer()[2] == b"next"


def test_bodies_that_look_like_json_pass_through_untouched(client):
    body = json.dumps({"TableName": "é\r\n\r\n"}, ensure_ascii=False).encode()
    client.send(post(body))
    assert client.answer()[2] == body

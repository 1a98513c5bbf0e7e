"""Damaged signatures, in the header and in the query, for a server that verifies them.

Whatever is claimed, the answer is a refusal that clients know, unless the damage left everything that was signed as it
was.
"""

from __future__ import annotations

from random import Random
from urllib.parse import quote

from fuzz.mutate import ODD_BYTES, damaged
from fuzz.watch import Broken, Watch
from fuzz.world import code_of, readable
from harness import FakeExchange, target_of
from hashrange import app
from hashrange.auth.signing import SigningKeys, signed_headers
from hashrange.clock import ManualClock
from hashrange.storage.memory import MemoryStore

KEYS = SigningKeys(access_key="AKIDEXAMPLE", secret_key="a secret of some forty characters or so")
BODY = b'{"Limit": 1}'
PIECES = [
    *(
        b"AWS4-HMAC-SHA256 ",
        b"Credential=AKIDEXAMPLE/",
        b"SignedHeaders=host",
        b"Signature=",
        b"aws4_request",
        b", ",
        b"==",
    ),
    *(
        b"AWS4-ECDSA-P256-SHA256",
        b"Basic QTpC",
        b"20270115",
        b"99999999",
        b"\xc3\xa9",
        b"%2F",
        b"/////",
        b"a" * 3000,
        b"-",
    ),
]


def round_of_signatures(chance: Random, watch: Watch, inputs: int) -> None:
    settings = app.Settings(verify_signatures=True, bootstrap=KEYS)
    clock = ManualClock()
    handler = app.build_handler(app.build_database(MemoryStore(), settings, clock), settings)
    signed = signed_request(clock)
    for _ in range(inputs):
        exchange = claim(chance, signed)
        line = b"\n".join((exchange.url, *(b": ".join(pair) for pair in exchange.headers.items()), exchange.body))
        watch.each(line, lambda: judged(handler, exchange, signed))  # noqa: B023


def signed_request(clock: ManualClock) -> dict[bytes, bytes]:
    headers = signed_headers(
        KEYS,
        service="dynamodb",
        region="us-east-1",
        method="POST",
        host="localhost",
        path="/",
        body=BODY,
        headers={"content-type": "application/x-amz-json-1.0", "x-amz-target": target_of("ListTables").decode()},
        now_seconds=clock.seconds(),
    )
    return {name.lower().encode(): text.encode() for name, text in headers.items()}


def claim(chance: Random, signed: dict[bytes, bytes]) -> FakeExchange:
    """A request with one thing wrong about its signature, or several, or none."""
    headers, url, body = dict(signed), b"/", BODY
    corpus = [*PIECES, *ODD_BYTES[:2], *signed.values()]
    kind = chance.randrange(6)
    if kind <= 2:
        headers[b"authorization"] = in_a_header(damaged(chance, headers[b"authorization"], corpus))
    elif kind == 3:
        name = chance.choice([name for name in headers if name not in (b"content-type", b"x-amz-target")])
        headers[name] = in_a_header(damaged(chance, headers[name], corpus))
    elif kind == 4:
        body = damaged(chance, BODY, [BODY]) if chance.random() < 0.5 else BODY
        headers.pop(chance.choice(list(headers)))
    else:
        url += b"?" + query(chance, headers.pop(b"authorization"), corpus)
    headers.setdefault(b"content-type", b"application/x-amz-json-1.0")
    headers.setdefault(b"x-amz-target", target_of("ListTables"))
    exchange = FakeExchange(headers, body)
    exchange.url = url
    exchange.body_as_sent = body  # type: ignore[attr-defined]
    return exchange


def in_a_header(value: bytes) -> bytes:
    """As much of it as the parser of requests lets through."""
    return bytes(byte for byte in value if (byte >= 0x20 and byte != 0x7F) or byte == 0x09).strip()


def query(chance: Random, authorization: bytes, corpus: list[bytes]) -> bytes:
    """The same claim as the parameters of a presigned request."""
    claims = dict(part.partition("=")[::2] for part in authorization.decode().partition(" ")[2].split(", "))
    members = {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": claims["Credential"],
        "X-Amz-Date": "20270115T080000Z",
        "X-Amz-Expires": chance.choice(("60", "0", "-1", "604800", "604801", "9" * 30, "1e3", "٣", "")),
        "X-Amz-SignedHeaders": claims["SignedHeaders"],
        "X-Amz-Signature": claims["Signature"],
    }
    if chance.random() < 0.3:
        members.pop(chance.choice(list(members)))
    text = "&".join(f"{name}={quote(value, safe='')}" for name, value in members.items()).encode()
    changed = damaged(chance, text, corpus) if chance.random() < 0.7 else text
    return bytes(byte for byte in changed if 0x21 <= byte <= 0x7E)


def judged(handler: app.Dispatcher, exchange: FakeExchange, signed: dict[bytes, bytes]) -> str:
    handler(exchange)  # type: ignore[arg-type]
    if exchange.answer is None:
        raise Broken("no answer")
    status, headers, body = exchange.answer
    content = readable(status, headers, body)
    if KEYS.secret_key.encode() in body:
        raise Broken("the secret is told")
    if status != 200:
        return code_of(headers, content)
    signature = signed[b"authorization"].rpartition(b"=")[2]
    if exchange.body != BODY or signature not in exchange.headers.get(b"authorization", b""):
        raise Broken("a request was admitted that nobody signed")
    return "ok"

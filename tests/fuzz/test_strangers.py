"""With `--auth verify`, whoever has no key gets nothing, at whichever door and in whichever words."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from fuzz.companions import sent
from fuzz.requests import OPERATIONS
from harness import AUTHORIZATION, FakeExchange, target_of
from hashrange import app
from hashrange.auth.signing import SigningKeys
from hashrange.clock import ManualClock, OffsetClock
from hashrange.operations import registry
from hashrange.storage.memory import MemoryStore
from hashrange.validation.schema import COMPANIONS

Message = tuple[bytes, bytes, dict[bytes, bytes], bytes]

KNOWN_KEY = "AKIDEXAMPLE"
QUERY = (
    b"?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%b%%2F20270115%%2Fus-east-1%%2Fdynamodb%%2Faws4_request"
    b"&X-Amz-Date=20270115T080000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=0"
)
CLAIMS = {
    "nothing": (b"", {}),
    "an unknown key": (b"", {b"authorization": AUTHORIZATION % (b"AKIDOTHER", b"us-east-1")}),
    "a known key and no secret": (b"", {b"authorization": AUTHORIZATION % (KNOWN_KEY.encode(), b"us-east-1")}),
    "a query with a known key": (QUERY % KNOWN_KEY.encode(), {}),
    "an empty header": (b"", {b"authorization": b""}),
    "two claims": (QUERY % KNOWN_KEY.encode(), {b"authorization": AUTHORIZATION % (KNOWN_KEY.encode(), b"us-east-1")}),
}
REFUSALS = (
    *(b"MissingAuthenticationToken", b"UnrecognizedClient", b"InvalidSignature", b"IncompleteSignature"),
    *(b"InvalidClientTokenId", b"SignatureDoesNotMatch", b"UnknownOperation", b"InvalidAction"),
)


def messages() -> Iterator[Message]:
    """A request for every operation, by every way there is to it."""
    for _, operation in OPERATIONS:
        yield (
            b"POST",
            b"/",
            {b"content-type": b"application/x-amz-json-1.0", b"x-amz-target": target_of(operation)},
            b"{}",
        )
    for service, operations in COMPANIONS.items():
        for operation in operations:
            for seed in range(8):  # which of the protocols is left to chance
                url, headers, body = sent(Random(seed), service, operation, {})
                yield b"POST", url, dict(headers), body
    for method, path, _, _ in registry.REST_CONTENTS:
        yield method.encode(), path.replace("{UUID}", "0-0").encode(), {b"content-type": b"application/json"}, b"{}"
    yield b"GET", b"/_hashrange/clock", {}, b""
    yield b"POST", b"/_hashrange/clock", {b"content-type": b"application/json"}, b'{"advance_seconds": 1}'


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_stranger_gets_nothing(claim: str) -> None:
    settings = app.Settings(
        verify_signatures=True,
        bootstrap=SigningKeys(access_key=KNOWN_KEY, secret_key="a secret of forty characters, or so"),
    )
    db = app.build_database(MemoryStore(), settings, OffsetClock(ManualClock()))
    handler = app.build_handler(db, settings)
    query, headers = CLAIMS[claim]
    answered = 0
    for method, url, own, body in messages():
        exchange = FakeExchange({b"host": b"h", b"x-amz-date": b"20270115T080000Z", **own, **headers}, body)
        exchange.method, exchange.url, exchange.peer = method, url + query, "127.0.0.1"
        exchange.body_as_sent = body  # type: ignore[attr-defined]
        handler(exchange)  # type: ignore[arg-type]
        assert exchange.answer is not None
        status, told, content = exchange.answer
        if status == 200:
            assert content.startswith(b"healthy"), (method, url, content)  # what a load balancer asks stays open
        else:
            assert any(code in told + content for code in REFUSALS), (method, url, own, told, content)
        answered += 1
    assert answered > len(OPERATIONS)

"""Web pages at the door of a server that asks nobody who they are."""

from __future__ import annotations

import pytest

from harness import AUTHORIZATION, FakeExchange
from hashrange import app
from hashrange.clock import ManualClock
from hashrange.http.origins import is_of_this_machine
from hashrange.storage.memory import MemoryStore

LIST_TABLES = {
    b"content-type": b"application/x-amz-json-1.0",
    b"x-amz-target": b"DynamoDB_20120810.ListTables",
    b"x-amz-date": b"20260101T000000Z",
    b"authorization": AUTHORIZATION % (b"AKID", b"us-east-1"),
}
STRANGERS = [
    b"https://evil.example",
    b"http://evil.example:8000",  # a name that was made to point to this machine after its page was loaded
    b"http://localhost.evil.example",
    b"http://127.0.0.1.evil.example",
    b"http://localhost@evil.example",
    b"http://10.0.0.1",
    b"http://0.0.0.0:8000",
    b"http://[::2]",
    b"http://[",
    b"null",
    b"file://",
    b"",
]


def status(origin: bytes | None, *, method: bytes = b"POST", url: bytes = b"/", **settings: object) -> int:
    configuration = app.Settings(**settings)  # type: ignore[arg-type]
    handler = app.build_handler(app.build_database(MemoryStore(), configuration, ManualClock()), configuration)
    exchange = FakeExchange(LIST_TABLES if origin is None else {**LIST_TABLES, b"origin": origin}, b"{}")
    exchange.method, exchange.url = method, url
    handler(exchange)  # type: ignore[arg-type]
    assert exchange.answer is not None
    assert (b"Access-Control-Allow-Origin" in exchange.answer[1]) is (origin is not None and exchange.answer[0] == 200)
    return exchange.answer[0]


@pytest.mark.parametrize(
    "origin",
    [
        b"http://localhost:3000",
        b"https://app.localhost",
        b"http://127.0.0.1",
        b"http://127.9.9.9:1",
        b"http://[::1]:80",
    ],
)
def test_a_page_of_this_machine_may_call(origin: bytes) -> None:
    assert status(origin) == 200


@pytest.mark.parametrize("origin", STRANGERS)
def test_a_page_of_another_machine_may_not(origin: bytes) -> None:
    assert status(origin) == 403


@pytest.mark.parametrize(
    ("method", "url"),
    [
        (b"OPTIONS", b"/"),
        (b"GET", b"/"),
        (b"POST", b"/2015-03-31/event-source-mappings"),
        (b"POST", b"/_hashrange/clock"),
    ],
)
def test_nor_may_it_ask_before_calling_or_use_another_door(method: bytes, url: bytes) -> None:
    assert status(b"https://evil.example", method=method, url=url) == 403


def test_a_program_that_is_no_browser_is_not_asked() -> None:
    assert status(None) == 200


def test_an_operator_may_name_pages_or_allow_all() -> None:
    assert status(b"https://app.example", allowed_origins=("https://app.example",)) == 200
    assert status(b"https://app.example", allowed_origins=("HTTPS://app.example/",)) == 200
    assert status(b"https://app.example:8443", allowed_origins=("https://app.example",)) == 403
    assert status(b"https://any.example", allowed_origins=("*",)) == 200


def test_a_guessed_name_is_not_of_this_machine() -> None:
    assert not is_of_this_machine("http://localhost.")
    assert not is_of_this_machine("localhost")

"""Slow requests and denied ones are written down, and nothing that is in items ever is."""

import logging
import math
from typing import Any

import orjson
import pytest

from harness import Engine
from hashrange import app
from hashrange.engine.scope import scope_of
from hashrange.http.observe import Observer, ObserveSettings
from hashrange.http.observe_pages import Gauges, MetricsPage
from hashrange.http.pending import Pending
from hashrange.operations.operation import Request
from unit.metrics.watching import get, put


class Page:
    """A request for one of our own pages."""

    def __init__(self, peer: str = "127.0.0.1", **headers: bytes) -> None:
        self.method = b"GET"
        self.headers = {name.encode(): value for name, value in headers.items()}
        self.peer = peer
        self.answer: tuple[int, bytes] = (0, b"")

    def respond(self, status: int, headers: bytes, body: bytes) -> None:
        self.answer = (status, body)


def metrics_page(engine: Engine, gauges: Gauges = dict, *, token: str | None, local_only: bool) -> MetricsPage:
    return MetricsPage(engine.db, gauges, Pending(engine.store), token=token, local_only=local_only)


class ObservedEngine(Engine):
    def __init__(self, settings: ObserveSettings) -> None:
        super().__init__()
        configuration = app.Settings(observe=settings)
        self._handle = app.build_handler(self.db, configuration)
        self.create_table()


def test_a_slow_request_is_a_line_without_values(caplog: pytest.LogCaptureFixture) -> None:
    engine = ObservedEngine(ObserveSettings(slow_seconds=0.0))
    caplog.clear()
    with caplog.at_level(logging.WARNING, "hashrange.slow"):
        put(engine, "very secret")
        get(engine, "very secret")
    assert [record.getMessage() for record in caplog.records] == [
        "PutItem ok table=table units=1",
        "GetItem ok table=table units=0.5",
    ]
    assert all(record.request_id and record.ms >= 0 for record in caplog.records)  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


def test_nobody_looks_at_requests_unless_asked_to() -> None:
    assert not ObserveSettings().looks_at_requests
    assert ObserveSettings().slow_seconds == math.inf


def test_the_audit_log_has_the_control_plane_and_what_was_denied(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "hashrange.audit"):
        engine = ObservedEngine(ObserveSettings(audit=True))
        put(engine, "very secret")
        engine.call("ListTables")
    lines = [orjson.loads(record.getMessage()) for record in caplog.records]
    assert [(line["operation"], line["resource"], line["outcome"]) for line in lines] == [
        ("CreateTable", "table", "ok"),
        ("ListTables", None, "ok"),
    ]
    assert {line["access_key_id"] for line in lines} == {"AKID"}
    assert all(line["time"] == 1_800_000_000 and line["peer"] == "test" and line["request_id"] for line in lines)


def test_a_request_that_is_denied_is_in_the_audit_log_whatever_it_is(caplog: pytest.LogCaptureFixture) -> None:
    from hashrange.errors import AccessDeniedException, ConditionalCheckFailedException

    observer = Observer(ObserveSettings(audit=True), Engine().clock)
    exchange: Any = Page(authorization=b"")
    exchange.url = b"/"
    with caplog.at_level(logging.INFO, "hashrange.audit"):
        observer.answered(exchange, "GetItem", None, None, AccessDeniedException("no"), 0.1, "id")
        observer.answered(exchange, "GetItem", None, None, ConditionalCheckFailedException(), 0.1, "id")
    assert [orjson.loads(record.getMessage())["outcome"] for record in caplog.records] == ["AccessDeniedException"]


def test_names_that_are_none_do_not_fill_the_audit_log(caplog: pytest.LogCaptureFixture) -> None:
    observer = Observer(ObserveSettings(audit=True), Engine().clock)
    exchange: Any = Page()
    exchange.url = b"/"
    for resource in ("x" * 1_000_000, ["x" * 1_000_000] * 1_000):
        request = Request({"EventSourceArn": resource}, scope_of("000000000000", "us-east-1"))
        with caplog.at_level(logging.INFO, "hashrange.audit"):
            observer.answered(exchange, "y" * 1_000_000, request, None, None, 0.1, "id")
    assert all(len(record.getMessage()) < 30_000 for record in caplog.records)


def ask(page: MetricsPage, exchange: Any) -> int:
    page(exchange)
    status: int = exchange.answer[0]
    return status


def test_metrics_are_for_this_machine_where_signatures_are_verified() -> None:
    page = metrics_page(Engine(), token=None, local_only=True)
    assert ask(page, Page()) == 200
    assert ask(page, Page("10.0.0.7")) == 403
    behind_proxy = Page()
    behind_proxy.headers[b"x-forwarded-for"] = b"10.0.0.7"
    assert ask(page, behind_proxy) == 403
    assert ask(metrics_page(Engine(), token=None, local_only=False), Page("10.0.0.7")) == 200


def test_with_a_token_metrics_are_for_whoever_has_it() -> None:
    page = metrics_page(Engine(), token="abc", local_only=True)
    assert ask(page, Page("10.0.0.7", authorization=b"Bearer abc")) == 200
    assert ask(page, Page(authorization=b"Bearer abd")) == 401
    assert ask(page, Page()) == 401


def test_the_page_for_prometheus_is_well_formed() -> None:
    engine = Engine()
    engine.create_table()
    put(engine)
    get(engine)
    engine.db.recorder.job_ran("trim-log", failed=True)
    engine.db.recorder.committed(3)
    exchange: Any = Page()
    metrics_page(engine, lambda: {"open_connections": 2}, token=None, local_only=False)(exchange)
    lines = exchange.answer[1].decode().splitlines()
    samples = dict(line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
    assert samples['hashrange_requests_total{operation="GetItem",table="table"}'] == "1"
    assert samples['hashrange_consumed_units_total{table="table",kind="read"}'] == "0.5"
    assert samples['hashrange_job_failures_total{job="trim-log"}'] == "1"
    assert samples['hashrange_job_last_run_timestamp_seconds{job="trim-log"}'] == "1800000000"
    assert (samples['hashrange_commit_batch_size_bucket{le="2"}'], samples["hashrange_commit_batch_size_sum"]) == (
        "0",
        "3",
    )
    assert samples['hashrange_commit_batch_size_bucket{le="5"}'] == "1"
    assert samples["hashrange_open_connections"] == "2"
    buckets = [int(value) for name, value in samples.items() if 'bucket{operation="GetItem"' in name]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 1
    declared = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert all(any(name.startswith(each) for each in declared) for name in samples)

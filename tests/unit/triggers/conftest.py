"""A server with a table, a stream and functions that tests can look into."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest

from harness import Engine
from hashrange.engine.database import DatabaseSettings
from hashrange.engine.scope import scope_of
from hashrange.jobs.deliveries import deliver_all
from hashrange.operations.lambda_ import (
    create_event_source_mapping,
    delete_event_source_mapping,
    get_event_source_mapping,
    list_event_source_mappings,
    update_event_source_mapping,
)
from hashrange.operations.operation import Request, Write
from hashrange.storage import Store, write_and_wait
from hashrange.triggers.call import Functions

OPERATIONS = {
    "Create": create_event_source_mapping.create_event_source_mapping,
    "Get": get_event_source_mapping.get_event_source_mapping,
    "List": list_event_source_mappings.list_event_source_mappings,
    "Update": update_event_source_mapping.update_event_source_mapping,
    "Delete": delete_event_source_mapping.delete_event_source_mapping,
}

Behaviour = Callable[[dict[str, Any]], Any]


class Consumer:
    """An HTTP endpoint that keeps the events it is sent, and behaves as it is told."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.behaviour: Behaviour = lambda event: None
        consumer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
                consumer.events.append(event)
                try:
                    answer = consumer.behaviour(event)
                    status, body = 200, answer if isinstance(answer, bytes) else orjson.dumps(answer)
                except Exception:
                    status, body = 500, b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/changes?from=test"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def batches(self) -> list[list[str]]:
        """The sort keys of every batch that arrived."""
        return [[record["dynamodb"]["Keys"]["sk"]["S"] for record in event["Records"]] for event in self.events]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Watched(Engine):
    """A server whose table `table` has a stream, and whose deliveries run when they are told to."""

    def __init__(self, store: Store | None = None, **settings: Any) -> None:
        super().__init__(store, settings=DatabaseSettings(**settings))
        self.functions = Functions(seconds=10)

    @property
    def stream_arn(self) -> str:
        arn: str = self.call("DescribeTable", TableName="table")["Table"]["LatestStreamArn"]
        return arn

    def put(self, *sort_keys: str, pk: str = "a", **attributes: Any) -> None:
        for sk in sort_keys:
            self.call("PutItem", TableName="table", Item={"pk": {"S": pk}, "sk": {"S": sk}, **attributes})

    def mapping(self, verb: str, *, trusted: bool = True, **members: Any) -> dict[str, Any]:
        request = Request(members, scope_of("000000000000", "us-east-1"))
        more = {"trusted": trusted} if verb in ("Create", "Update") else {}
        answer = OPERATIONS[verb](self.db, request, **more)  # type: ignore[operator]
        result: dict[str, Any] = write_and_wait(self.store, answer.plan) if isinstance(answer, Write) else answer
        return result

    def trigger(self, function: str, **settings: Any) -> str:
        """A trigger on the table's stream; its UUID."""
        members = {"EventSourceArn": self.stream_arn, "FunctionName": function, "StartingPosition": "TRIM_HORIZON"}
        uuid: str = self.mapping("Create", **{**members, **settings})["UUID"]
        return uuid

    def deliver(self) -> int:
        return deliver_all(self.db, self.functions)

    def result(self, uuid: str) -> str:
        result: str = self.mapping("Get", UUID=uuid)["LastProcessingResult"]
        return result


@pytest.fixture
def consumer() -> Iterator[Consumer]:
    consumer = Consumer()
    yield consumer
    consumer.close()


@pytest.fixture
def engine() -> Iterator[Watched]:
    engine = Watched()
    engine.create_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    yield engine
    engine.functions.close()
    assert engine.problems() == []


@pytest.fixture
def watched() -> type[Watched]:
    return Watched

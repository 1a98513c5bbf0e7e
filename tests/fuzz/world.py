"""A server without sockets, with tables, items, backups, exports and a stream in it, so that inputs get far."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import cbor2
import orjson

import hashrange.errors
from fuzz.values import item_of
from fuzz.watch import Broken
from harness import AUTHORIZATION, FakeExchange, target_of
from hashrange.engine import keyspace
from hashrange.errors import ClientError
from hashrange.http.cloudwatch_wires import QUERY_CODES
from hashrange.triggers.target import is_url
from hashrange.triggers.trigger import Trigger
from hashrange.values.ordered import after
from unit.transfer.support import BUCKET, arn, engine_with

CODES = {
    name for name, kind in vars(hashrange.errors).items() if isinstance(kind, type) and issubclass(kind, ClientError)
}
CODES |= {code for code, _ in QUERY_CODES.values()}
HEADER_LINE = re.compile(rb"[A-Za-z0-9-]+: [\x20-\x7e\x80-\xff\t]*")
HARVESTED = re.compile(r".*(Arn|Token|Iterator|ShardId|SequenceNumber|UUID|Marker)$")
TABLES = {"table": {"pk": "S", "sk": "S"}, "numbers": {"pk": "N"}, "binaries": {"pk": "B", "sk": "N"}}
ITEMS = 12


class World:
    """An engine and what clients may know about it."""

    def __init__(self, chance: Random, buckets: Path) -> None:
        self.engine = engine_with(buckets)
        self.chance = chance
        arns = [arn(name) for name in TABLES]
        self.known: dict[str, list[str]] = {"TableArn": arns, "ResourceArn": list(arns), "SourceTableArn": list(arns)}
        self._make_tables()
        self._fill()

    def _make_tables(self) -> None:
        index = {"Projection": {"ProjectionType": "ALL"}}
        self._create(
            "table",
            extra={"n": "N"},
            GlobalSecondaryIndexes=[
                {"IndexName": "gsi", "KeySchema": key_schema(["sk", "n"]), **index},
                {"IndexName": "gsi2", "KeySchema": key_schema(["n"]), "Projection": {"ProjectionType": "KEYS_ONLY"}},
            ],
            LocalSecondaryIndexes=[{"IndexName": "lsi", "KeySchema": key_schema(["pk", "n"]), **index}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        self._create("numbers")
        self._create("binaries")
        self.call(
            "UpdateTimeToLive", TableName="table", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
        )
        for name in ("table", "numbers"):
            recovery = {"PointInTimeRecoveryEnabled": True}
            self.call("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=recovery)

    def _create(self, name: str, extra: dict[str, str] | None = None, **members: Any) -> None:
        types = TABLES[name] | (extra or {})
        self.call(
            "CreateTable",
            TableName=name,
            KeySchema=key_schema(list(TABLES[name])),
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": kind} for each, kind in types.items()],
            BillingMode="PAY_PER_REQUEST",
            **members,
        )

    def _fill(self) -> None:
        for name, schema in TABLES.items():
            for _ in range(ITEMS):
                self.send("PutItem", orjson_or_json({"TableName": name, "Item": item_of(self.chance, schema)}))
        self.put_known_item()
        stream = self.call("ListStreams")["Streams"][0]["StreamArn"]
        shard = self.call("DescribeStream", StreamArn=stream)["StreamDescription"]["Shards"][0]["ShardId"]
        self.call("GetShardIterator", StreamArn=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        self.call("CreateBackup", TableName="table", BackupName="backup")
        self.engine.clock.advance(600)
        self.call("ExportTableToPointInTime", TableArn=arn("table"), S3Bucket=BUCKET)
        self.engine.run_jobs()

    def put_known_item(self) -> None:
        """An item with attributes of all types, which inputs take apart."""
        self.call("PutItem", TableName="table", Item=KNOWN_ITEM)

    def call(self, operation: str, **members: Any) -> Any:
        """A request that must succeed; whatever it names in its answer can be asked for later."""
        status, answer = self.send(operation, orjson.dumps(members))
        assert status == 200, answer
        return answer

    def send(self, operation: str, body: bytes) -> tuple[int, Any]:
        headers = {b"content-type": b"application/x-amz-json-1.0", b"x-amz-target": target_of(operation)}
        return self.exchange(b"POST", b"/", headers, body)

    def exchange(self, method: bytes, url: bytes, headers: dict[bytes, bytes], body: bytes) -> tuple[int, Any]:
        """Any request; its status and content, or `Broken` if the answer is not one that clients can read."""
        exchange = FakeExchange(headers | {b"authorization": AUTHORIZATION % (b"AKID", b"us-east-1")}, body)
        exchange.headers.setdefault(b"x-amz-date", b"20260101T000000Z")
        exchange.method, exchange.url = method, url
        self.engine._handle(exchange)  # type: ignore[arg-type]
        if exchange.answer is None:
            raise Broken("no answer")
        status, answer_headers, answer = exchange.answer
        content = readable(status, answer_headers, answer)
        self._harvest(content)
        return status, content

    def _harvest(self, content: Any) -> None:
        waiting = [content]
        while waiting:
            found = waiting.pop()
            if isinstance(found, list):
                waiting += found
            elif isinstance(found, dict):
                for name, value in found.items():
                    if isinstance(value, str) and HARVESTED.match(name):
                        self.known.setdefault(name, []).append(value)
                    else:
                        waiting.append(value)

    def settle(self) -> str:
        """Let the background work end; the database must be sound."""
        self.engine.run_jobs()
        problems = self.engine.problems()
        if problems:
            raise Broken(f"the database has problems: {problems[:3]}")
        self._look_at_triggers()
        return "sound"

    def _look_at_triggers(self) -> None:
        """Nobody in the network may name code to run, or a directory to write to."""
        with self.engine.store.read() as snapshot:
            for _, stored in snapshot.scan(keyspace.TRIGGER, after(keyspace.TRIGGER)):
                trigger = Trigger.load(stored)
                if not all(text is None or is_url(text) for text in (trigger.function, trigger.on_failure)):
                    raise Broken(f"a trigger that calls {trigger.function} and then {trigger.on_failure}")


KNOWN_ITEM = {
    "pk": {"S": "k"},
    "sk": {"S": "k"},
    "n": {"N": "5"},
    "a": {"S": "x"},
    "b": {"B": "AQ=="},
    "c": {"S": "größe 😀"},
    "expires": {"N": "1900000000"},
    "l": {"L": [{"S": "0"}, {"N": "1"}, {"L": [{"N": "1"}]}]},
    "m": {"M": {"a": {"N": "1"}, "b": {"M": {"c": {"S": "deep"}}}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
}


def key_schema(names: list[str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def orjson_or_json(tree: Any) -> bytes:
    """Text of a tree that may hold what JSON cannot say, which is then left to the server to refuse."""
    try:
        return orjson.dumps(tree)
    except (orjson.JSONEncodeError, TypeError):
        return b"{}"


def readable(status: int, headers: bytes, body: bytes) -> Any:
    """The content of an answer; `Broken` if there is anything about it that a client could not make sense of."""
    if status >= 500:
        raise Broken(f"status {status}")
    for line in headers.removesuffix(b"\r\n").split(b"\r\n"):
        if HEADER_LINE.fullmatch(line) is None:
            raise Broken(f"a header line {line!r}")
    if not body:
        return None
    if not any(kind in headers for kind in (b"application/", b"xml")):
        return None  # a page for people
    content = content_of(headers, body)
    if status >= 400:
        code = code_of(headers, content)
        if code not in CODES:
            raise Broken(f"an error with the code {code!r}")
    return content


def code_of(headers: bytes, content: Any) -> str:
    """The error code, from the body as DynamoDB has it or from the header as Lambda has it."""
    match = re.search(rb"x-amzn-ErrorType: ([A-Za-z]+)\r\n", headers)
    if match is not None:
        return match[1].decode()
    if not isinstance(content, dict) or not isinstance(content.get("message", content.get("Message", "")), str):
        raise Broken("an error whose body is not one")
    return str(content.get("__type", "")).rpartition("#")[2]


def content_of(headers: bytes, body: bytes) -> Any:
    if b"application/cbor" in headers:
        return cbor2.loads(body)
    if b"xml" in headers:
        document = ElementTree.fromstring(body)
        code = next((found.text for found in document.iter() if found.tag.endswith("Code")), None)
        return {"__type": code} if code else {}
    return orjson.loads(body)

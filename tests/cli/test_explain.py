"""`hashrange explain`, beside a running server and through it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.client import Client
from crash.server import Server, hashrange

SCHEMA: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "state", "day")],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by-day",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "day", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-state",
            "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


QUERY = {
    "TableName": "orders",
    "KeyConditionExpression": "#p = :p",
    "FilterExpression": "#x = :x",
    "ExpressionAttributeNames": {"#p": "pk", "#x": "x"},
    "ExpressionAttributeValues": {":p": {"S": "ada"}, ":x": {"S": "no"}},
}
REQUESTS: dict[str, list[dict[str, Any]]] = {
    "GetItem": [{"TableName": "orders", "Key": key("ada", "1")}, {"TableName": "nope", "Key": key("ada", "1")}],
    "PutItem": [{"TableName": "orders", "Item": {**key("ada", "1"), "state": {"S": "paid"}}}, {"TableName": "orders"}],
    "DeleteItem": [{"TableName": "orders", "Key": key("ada", "2")}],
    "Query": [
        QUERY,
        {
            "TableName": "orders",
            "IndexName": "by-day",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "ada"}},
            "Select": "ALL_ATTRIBUTES",
        },
    ],
    "Scan": [{"TableName": "orders", "Limit": 2}, {"TableName": "orders", "IndexName": "by-state"}],
    "BatchGetItem": [{"RequestItems": {"orders": {"Keys": [key("ada", "1"), key("no", "1")]}}}],
    "BatchWriteItem": [{"RequestItems": {"orders": [{"DeleteRequest": {"Key": key("ada", "3")}}]}}],
    "TransactWriteItems": [{"TransactItems": [{"Put": {"TableName": "orders", "Item": key("new", "1")}}]}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("explain") / "data") as running, Client(running.port) as client:
        client("CreateTable", TableName="orders", **SCHEMA)
        for number in range(10):
            item = {**key("ada", str(number)), "state": {"S": "open"}, "day": {"S": "today"}, "x": {"S": "x" * 1500}}
            client("PutItem", TableName="orders", Item=item)
        yield running


def explain(server: Server, operation: str, request: object, *options: object) -> tuple[int, str, str]:
    text = request if isinstance(request, str | Path) else json.dumps(request)
    return hashrange("explain", operation, "--request", text, "--data", server.data, *options)


def test_a_query_is_explained_line_by_line(server: Server) -> None:
    code, output, errors = explain(server, "query", QUERY)
    assert (code, errors) == (0, "")
    assert output.splitlines() == [
        'Range of a partition: the partition pk = "ada" of table orders',
        "  evaluates 10 items, 15,260 bytes; returns 0",
        "  table orders: 10 items evaluated, their sizes added up: 15,260 bytes: 4 x 4 KB, the last one begun counts "
        "whole; x 1/2, eventually consistent = 2 units",
        "Consumes 2 read units.",
        "Hint: The filter on x is applied after the read: 10 items of 10 were read, paid for and thrown away.",
        "Hint: An index with pk as its partition key and x as its sort key would read only that.",
    ]


def test_a_write_is_explained_and_not_done(server: Server) -> None:
    request = {"TableName": "orders", "Key": key("ada", "1")}
    code, output, _ = explain(server, "delete-item", request)
    assert (code, "Consumes 4 write units." in output) == (0, True)
    with Client(server.port) as client:
        assert "Item" in client("GetItem", **request)


@pytest.mark.parametrize("operation", REQUESTS)
def test_a_server_gives_the_same_explanation(server: Server, operation: str) -> None:
    for request in REQUESTS[operation]:
        text = json.dumps(request)
        here = hashrange("explain", operation, "--request", text, "--data", server.data, "--json")
        there = hashrange("explain", operation, "--request", text, "--endpoint", server.url, "--json")
        assert there == here


def test_requests_come_from_files_too(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "get.json"
    file.write_text(json.dumps({"TableName": "orders", "Key": key("ada", "1")}))
    code, output, _ = explain(server, "get-item", file)
    assert (code, output.splitlines()[0]) == (0, 'Key lookup: pk = "ada", sk = "1" in orders')


def test_what_would_be_refused_says_so_with_exit_code_one(server: Server) -> None:
    code, output, errors = explain(server, "get-item", {"TableName": "nope", "Key": key("ada", "1")})
    assert (code, errors) == (1, "")
    assert output == "GetItem is refused: ResourceNotFoundException: Requested resource not found\n"


@pytest.mark.parametrize(
    ("operation", "request_text", "text"),
    [
        ("CreateTable", "{}", "Requests of CreateTable cannot be explained"),
        ("get-item", "{", "The request is not JSON"),
        ("get-item", "no-such-file.json", "The request cannot be read"),
    ],
)
def test_what_is_no_request_is_refused(server: Server, operation: str, request_text: str, text: str) -> None:
    code, output, errors = explain(server, operation, request_text)
    assert (code, output) == (2, "")
    assert errors.startswith(f"hashrange: {text}")


def test_partiql_is_explained_where_the_data_is(server: Server) -> None:
    request = {"Statement": "SELECT * FROM orders WHERE pk = 'ada'"}
    assert explain(server, "execute-statement", request)[0] == 0
    code, _, errors = explain(server, "execute-statement", request, "--endpoint", server.url)
    assert (code, "on a data directory only" in errors) == (2, True)

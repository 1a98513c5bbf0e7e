"""Triggers of a running server: made beside it or over Lambda's API, delivered promptly, and alive after kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from conftest import ENVIRONMENT, HASHRANGE, endpoint_of

HANDLER = """
def handler(event, context):
    with open("seen", "a") as file:
        for record in event["Records"]:
            file.write(record["dynamodb"]["Keys"]["pk"]["S"] + "\\n")
"""
SECONDS_MAX = 20


class Server:
    """A server process on a directory of its own, in which its functions are, too."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.start()

    def start(self) -> None:
        log = self.directory / "log"
        serve = (*HASHRANGE, "serve", "--port", "0", "--data", str(self.data), "--functions", "functions.toml")
        with log.open("wb") as stream:
            self.process = subprocess.Popen(serve, env=ENVIRONMENT, stderr=stream, cwd=self.directory)
        self.endpoint = endpoint_of(self.process, log)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)

    def client(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
        )

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (*HASHRANGE, *arguments, "--data", str(self.data))
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, cwd=self.directory, check=False)

    @property
    def seen(self) -> list[str]:
        file = self.directory / "seen"
        return file.read_text(encoding="utf-8").split() if file.exists() else []


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def server_at(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "shop.py").write_text(HANDLER, encoding="utf-8")
    (tmp_path / "functions.toml").write_text('configured = "python:shop:handler"\n', encoding="utf-8")
    server = Server(tmp_path)
    server.client("dynamodb").create_table(
        TableName="orders",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    yield server
    if server.process.poll() is None:
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "log").read_text(encoding="utf-8")


def put(server: Server, *keys: str) -> None:
    client = server.client("dynamodb")
    for key in keys:
        client.put_item(TableName="orders", Item={"pk": {"S": key}})


def test_a_trigger_made_beside_the_server_survives_its_death(server_at: Server) -> None:
    made = server_at.cli("triggers", "create", "--table", "orders", "--function", "python:shop:handler")
    assert made.returncode == 0, made.stderr
    uuid = made.stdout.split()[0]
    put(server_at, "1")
    wait_for(lambda: server_at.seen == ["1"])
    assert server_at.cli("triggers", "update", uuid, "--no-enabled", "--batch-size", "7").returncode == 0
    put(server_at, "2")
    server_at.stop(signal.SIGKILL)
    server_at.start()
    assert "Disabled" in server_at.cli("triggers", "list").stdout
    assert server_at.cli("triggers", "update", uuid, "--enabled").returncode == 0
    wait_for(lambda: server_at.seen == ["1", "2"])
    (shown,) = map(json.loads, server_at.cli("triggers", "list", "--json").stdout.splitlines())
    assert (shown["UUID"], shown["BatchSize"], shown["FunctionArn"]) == (uuid, 7, "python:shop:handler")
    assert server_at.cli("triggers", "delete", uuid).returncode == 0
    assert server_at.cli("triggers", "list").stdout == ""
    put(server_at, "3")
    check = server_at.cli("check")
    assert check.returncode == 0, check.stdout


def test_lambdas_api_makes_triggers_of_what_was_registered(server_at: Server) -> None:
    functions = server_at.client("lambda")
    (stream,) = server_at.client("dynamodbstreams").list_streams()["Streams"]
    wanted = {"EventSourceArn": stream["StreamArn"], "StartingPosition": "TRIM_HORIZON"}
    for name in ("python:shop:handler", "command:touch here", "shop", "configured"):
        if name == "shop":
            assert server_at.cli("functions", "set", name, "python:shop:handler").returncode == 0
            assert server_at.cli("functions", "list").stdout == "shop  python:shop:handler\n"
        if name in ("shop", "configured"):
            functions.create_event_source_mapping(FunctionName=name, BatchSize=1, **wanted)
            continue
        with pytest.raises(ClientError) as refused:
            functions.create_event_source_mapping(FunctionName=name, **wanted)
        assert refused.value.response["Error"]["Code"] == "InvalidParameterValueException"
    put(server_at, "1")
    wait_for(lambda: server_at.seen == ["1", "1"])
    listed = functions.list_event_source_mappings(FunctionName="shop")["EventSourceMappings"]
    uuid = listed[0]["UUID"]
    assert listed[0]["FunctionArn"] == "arn:aws:lambda:us-east-1:000000000000:function:shop"
    updated = functions.update_event_source_mapping(UUID=uuid, MaximumRetryAttempts=3)
    assert updated["State"] == "Updating"
    assert updated["ResponseMetadata"]["HTTPStatusCode"] == 202
    wait_for(lambda: functions.get_event_source_mapping(UUID=uuid)["LastProcessingResult"] == "OK")
    assert functions.delete_event_source_mapping(UUID=uuid)["State"] == "Deleting"
    with pytest.raises(functions.exceptions.ResourceNotFoundException) as missing:
        functions.get_event_source_mapping(UUID=uuid)
    assert missing.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


def test_a_slow_function_holds_up_neither_requests_nor_the_end(server_at: Server) -> None:
    release = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            release.wait(60)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    slow = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=slow.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{slow.server_address[1]}/"
    for function in (url, "command:sleep 60", "python:shop:handler"):
        assert server_at.cli("triggers", "create", "--table", "orders", "--function", function).returncode == 0
    put(server_at, *map(str, range(20)))
    wait_for(lambda: len(server_at.seen) == 20)
    started = time.monotonic()
    assert server_at.stop() == 0
    assert time.monotonic() - started < 10
    release.set()
    slow.shutdown()
    slow.server_close()


REFUSALS = (
    (("triggers", "create", "--table", "orders"), "A trigger needs --function, and --stream or --table."),
    (("triggers", "create", "--table", "none", "--function", "command:true"), "Table: none not found"),
    (("triggers", "create", "--table", "orders", "--function", "python:x"), "is not of the form"),
    (("triggers", "create", "--table", "orders", "--function", "x"), "Function not found"),
    (("triggers", "delete"), "Which trigger?"),
    (("triggers", "delete", "0"), "The resource you requested does not exist."),
    (("functions", "set", "x", "ftp://x"), "is none of python:module:function"),
    (("functions", "set", "a/b", "http://x"), "A function needs a name"),
    (("functions", "delete", "x"), "There is no function x."),
)


def test_what_cannot_be_is_refused_in_one_line(server_at: Server) -> None:
    for arguments, text in REFUSALS:
        refused = server_at.cli(*arguments)
        assert refused.returncode == 2
        assert text in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_no_database_is_made_by_looking_for_triggers(tmp_path: Path) -> None:
    for arguments in (("triggers", "list"), ("functions", "set", "x", "http://x")):
        command = (sys.executable, "-m", "hashrange", *arguments, "--data", str(tmp_path / "none"))
        ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert ended.returncode == 2
        assert not os.path.exists(tmp_path / "none")

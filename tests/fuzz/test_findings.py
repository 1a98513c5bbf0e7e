"""What fuzzers and reviews have found stays found: each input again, with the answer that it should have."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from fuzz.files import Content, read
from fuzz.requests import outcome
from fuzz.watch import SECONDS_MAX
from fuzz.wire import cut, one_input
from fuzz.world import World
from hashrange.http.cloudwatch_wires import JSON_PREFIX
from hashrange.transfer.decompression import GZIP
from hashrange.transfer.input_formats import Csv, DynamoDbJson, InputFormat, Ion
from hashrange.validation.constraints import broken
from hashrange.validation.schema import COMPANIONS, SERVICES, schema_of

FINDINGS = Path(__file__).parent / "findings"
KNOWN = re.compile(r"\{(StreamArn|ShardId|BackupArn)\}")
NESTED = re.compile(r"\[\*(\d+)\]")
REPETITIONS = (
    "a",
    "A",
    "0",
    "0123456789abcdef",
    ".",
    "-",
    "_",
    " ",
    "a.",
    "\n",
    ":",
    ":application-autoscaling:1",
    ":1",
)
REPEATED = re.compile(r"a\*(\d+)")


def findings(name: str) -> list[Any]:
    cases = orjson.loads((FINDINGS / f"{name}.json").read_bytes())
    return [pytest.param(case, id=case["found"]) for case in cases]


def body_of(case: Any, world: World) -> bytes:
    """The body of a case: what is long or deep is told by its length, what the world made by its name."""
    text = case.get("text") or orjson.dumps(case["body"]).decode()
    text = NESTED.sub(lambda match: "[" * int(match[1]) + "1" + "]" * int(match[1]), text)
    text = REPEATED.sub(lambda match: "a" * int(match[1]), text)
    return KNOWN.sub(lambda match: world.known[match[1]][-1], text).encode()


@pytest.mark.parametrize("case", findings("bodies"))
def test_a_request_that_once_failed_is_answered(case: Any, tmp_path: Path) -> None:
    world = World(Random(1), tmp_path)
    started = time.process_time()
    assert outcome(*world.send(case["operation"], body_of(case, world))) == case["outcome"]
    assert time.process_time() - started < SECONDS_MAX
    assert world.settle() == "sound"


@pytest.mark.parametrize("case", findings("wire"))
def test_bytes_that_once_broke_a_connection_no_longer_do(case: Any) -> None:
    data = case["bytes"].encode("latin-1")
    for seed in range(20):
        asyncio.run(one_input(data, cut(Random(seed), data), held=bool(seed % 2)))


@pytest.mark.parametrize("input_format", [DynamoDbJson(), Ion(), Csv(",", ["pk"], {})])
def test_a_file_of_many_tiny_parts_is_read_in_time(input_format: InputFormat) -> None:
    data = gzip.compress(b"x", 1, mtime=0) * 50_000
    started = time.process_time()
    read(input_format, GZIP, Content(data, 1_000_000))
    assert time.process_time() - started < SECONDS_MAX


@pytest.mark.parametrize("service", [*SERVICES, *COMPANIONS])
def test_no_pattern_of_the_model_can_be_made_to_take_long(service: str) -> None:
    """Neither a quick pattern on a long text, nor one that is slow, on as much of a text as it is shown."""
    schema = schema_of(service)
    for shape in {schema.shape(name) for name in schema._raw}:
        for repeated in REPETITIONS:
            text = "arn:" * (repeated[0] == ":") + "a" + repeated * 50_000 + "\0"
            started = time.process_time()
            if shape.kind == "string":
                broken(shape, text)
                broken(shape, text[:1000] + "\0")
            assert time.process_time() - started < 0.2, (shape.name, repeated)


def test_an_expression_of_metrics_may_not_be_as_long_as_it_likes(tmp_path: Path) -> None:
    world = World(Random(1), tmp_path)
    metric = {"Namespace": "AWS/DynamoDB", "MetricName": "ConsumedReadCapacityUnits", "Dimensions": []}
    queries = [
        {"Id": "m", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}},
        {"Id": "e", "Expression": "m" + "+m" * 600},
    ]
    now = world.engine.clock.seconds()
    body = orjson.dumps({"MetricDataQueries": queries, "StartTime": now - 3600, "EndTime": now})
    headers = {b"content-type": b"application/x-amz-json-1.0", b"x-amz-target": JSON_PREFIX.encode() + b"GetMetricData"}
    assert outcome(*world.exchange(b"POST", b"/", headers, body)) == "ValidationException"

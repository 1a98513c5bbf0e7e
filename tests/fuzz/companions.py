"""Requests for the services that answer beside DynamoDB: CloudWatch in its protocols, Application Auto Scaling."""

from __future__ import annotations

from random import Random
from typing import Any
from urllib.parse import urlencode

import cbor2

from fuzz.mutate import altered, copied, damaged, written
from fuzz.requests import Requests, outcome
from fuzz.watch import Watch
from fuzz.world import World
from hashrange.http.cloudwatch_wires import CBOR_PATH, JSON_PREFIX
from hashrange.validation.schema import COMPANIONS, schema_of

SCALING = "application-autoscaling"
SCALING_TARGET = "AnyScaleFrontendService."
JSON_TYPE = {b"content-type": b"application/x-amz-json-1.1"}
CBOR_TYPE = {b"content-type": b"application/cbor", b"smithy-protocol": b"rpc-v2-cbor"}
FORM_TYPE = {b"content-type": b"application/x-www-form-urlencoded"}
CBOR_PIECES = [
    b"\xbf\xff",
    b"\x9f\xff",
    b"\xa1",
    b"\x7f",
    b"\xc1\xfb\x7f\xf0",
    b"\xd9\xd9\xf7",
    b"\x1b" + b"\xff" * 8,
    b"\x81" * 500,
]
SHARED = [
    b"\xd8\x1c\x81\xd8\x1d\x00",
    b"\xc2\x58\x20" + b"\xff" * 32,
    b"\xc4\x82\x1a\x7f\xff\xff\xff\x01",
    b"\xd8\x23\x64(a+)",
]
KNOWN: dict[str, list[Any]] = {
    "ServiceNamespace": ["dynamodb", "dynamodb", "ecs"],
    "ResourceId": ["table/table", "table/table/index/gsi", "table/absent", "table/", "x"],
    "ScalableDimension": ["dynamodb:table:ReadCapacityUnits", "dynamodb:index:WriteCapacityUnits"],
    "Namespace": ["AWS/DynamoDB", "own", "AWS/x"],
    "MetricName": ["ConsumedReadCapacityUnits", "SuccessfulRequestLatency", "x"],
    "Schedule": ["rate(5 minutes)", "cron(0 12 * * ? *)", "cron(0/15 9-17 ? * MON-FRI *)", "at(2027-01-01T00:00:00)"],
    "Expression": [
        "m1" + " + m1" * 600,
        "(" * 400 + "m1" + ")" * 400,
        "m1 + m2",
        "SUM([m1])",
        "IF(m1 > 0, m1 / 0, -m1)",
        "(((((m1)))))",
        "m1 ^ 99 ^ 99",
        "RATE(m1",
        "SEARCH('', '')",
    ],
    "Id": ["m1", "m2", "M", ""],
    "Timezone": ["UTC", "Europe/Berlin", "../../etc/passwd", "/etc/passwd"],
    "AlarmName": ["alarm", "other"],
    "Period": [60, 1, 0, 86_400, 300],
    "Stat": ["Average", "p99", "p999.9", "TM(10%:90%)", "x"],
}


def tree_of(requests: Requests, chance: Random, service: str, operation: str) -> dict[str, Any]:
    """A request by the model, with values that lead somewhere put in."""
    tree = requests.request(schema_of(service), operation)
    waiting: list[Any] = [tree]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            for name in found:
                if name in KNOWN and chance.random() < 0.9:
                    found[name] = chance.choice(KNOWN[name])
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found
    return altered(chance, copied(tree)) if chance.random() < 0.4 else tree


def round_of_companions(chance: Random, world: World, watch: Watch, inputs: int) -> None:
    requests = Requests(world)
    for _ in range(inputs):
        service = chance.choice(tuple(COMPANIONS))
        operation = chance.choice(COMPANIONS[service])
        tree = tree_of(requests, chance, service, operation)
        url, headers, body = sent(chance, service, operation, tree)
        line = b" ".join((url, *headers.values(), body))
        watch.each(line, lambda: outcome(*world.exchange(b"POST", url, dict(headers), body)))  # noqa: B023


def sent(chance: Random, service: str, operation: str, tree: Any) -> tuple[bytes, dict[bytes, bytes], bytes]:
    """The URL, headers and body of a request, in one of the service's protocols."""
    if service == SCALING:
        return b"/", JSON_TYPE | {b"x-amz-target": (SCALING_TARGET + operation).encode()}, written(chance, tree)
    kind = chance.randrange(3)
    if kind == 0:
        return b"/", JSON_TYPE | {b"x-amz-target": (JSON_PREFIX + operation).encode()}, written(chance, tree)
    if kind == 1:
        return (CBOR_PATH + operation).encode(), CBOR_TYPE, as_cbor(chance, tree)
    return b"/", FORM_TYPE, as_form(chance, operation, tree)


def as_cbor(chance: Random, tree: Any) -> bytes:
    try:
        data: bytes = cbor2.dumps(tree)
    except (cbor2.CBOREncodeError, UnicodeEncodeError, RecursionError):
        data = b"\xa0"
    if chance.random() < 0.4:
        data = damaged(chance, data, [*CBOR_PIECES, *SHARED, data])
    return data


def as_form(chance: Random, operation: str, tree: Any) -> bytes:
    members = dict(flat(tree, "")) | {"Action": operation, "Version": "2010-08-01"}
    data = urlencode(members, errors="replace").encode()
    return (
        damaged(chance, data, [b"&a.member.1=", b".member.99999999999.", b"%00%ff", b"=&=&", data])
        if chance.random() < 0.3
        else data
    )


def flat(tree: Any, path: str) -> list[tuple[str, str]]:
    """A tree as the members of a form, to some depth."""
    if path.count(".") > 40:
        return []
    if isinstance(tree, dict):
        return [pair for name, part in tree.items() for pair in flat(part, f"{path}.{name}" if path else str(name))][
            :500
        ]
    if isinstance(tree, list):
        return [pair for place, part in enumerate(tree, 1) for pair in flat(part, f"{path}.member.{place}")][:500]
    return [(path, str(tree))]

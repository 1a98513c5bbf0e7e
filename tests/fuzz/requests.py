"""Requests for every operation, made from the service's own model and then damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.grammar import EXPRESSIONS, STATEMENTS, drawn
from fuzz.mutate import ODD_NUMBERS, altered, copied, odd, written
from fuzz.values import NAMES, item_of, key_of, value
from fuzz.watch import Watch
from fuzz.world import TABLES, World
from hashrange.operations import registry
from hashrange.validation.schema import SERVICES, Schema, Shape, schema_of
from unit.transfer.support import BUCKET

DEPTH_MAX = 7
PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")
REST_MEMBERS = {
    "EventSourceArn": "StreamArn",
    "FunctionName": "FunctionName",
    "StartingPosition": "StartingPosition",
    "BatchSize": "n",
    "MaximumRetryAttempts": "n",
    "ParallelizationFactor": "n",
    "TumblingWindowInSeconds": "n",
    "Enabled": "flag",
    "FilterCriteria": "FilterCriteria",
    "DestinationConfig": "DestinationConfig",
    "FunctionResponseTypes": "FunctionResponseTypes",
}
FUNCTIONS = ["http://127.0.0.1:1/", "name", "python:os:system", "command:id", "https://x:99999/", "http://[", "a:b:c"]
PATTERNS = [
    *('{"eventName": ["INSERT"]}', '{"dynamodb": {"NewImage": {"n": {"N": [{"numeric": [">", 1]}]}}}}', "{", "[]", ""),
    *('{"a": [{"prefix": "x"}, {"exists": false}]}', '{"a": [{"anything-but": [1]}]}', '{"a": {}}', '{"$or": [{}]}'),
]
CONDITIONS: list[Any] = [
    {"StringLike": {"aws:username": "*a*a*a*a*a*a*a*a*a*a*b"}},
    {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}", "${", "${a,'b'}"]}},
    {"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "::/0", "x", "1.2.3.4/99"]}},
    {"DateLessThan": {"aws:CurrentTime": "2030-01-01T00:00:00Z"}, "NumericLessThan": {"a": "1e999"}},
    {"Null": {"aws:SourceIp": "true"}, "BoolIfExists": {"aws:SecureTransport": "maybe"}},
    {},
]
PATHS = [
    "",
    "/",
    "/{uuid}",
    "/{uuid}/",
    "/%00",
    "/..",
    "/%2e%2e%2f",
    "?Marker={uuid}",
    "?MaxItems=0&Marker=%ff",
    "/a/b",
]


class Requests:
    """Draws requests that fit a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = world.chance
        self._schema: dict[str, str] = TABLES["table"]
        self._drawn: dict[str, Callable[[], Any]] = {
            "TableName": self._table_name,
            "IndexName": lambda: self._chance.choice(("gsi", "gsi2", "lsi", "new", "absent")),
            "Key": lambda: key_of(self._chance, self._schema),
            "Item": lambda: item_of(self._chance, self._schema),
            "ExclusiveStartKey": lambda: key_of(self._chance, self._schema),
            "AttributeName": lambda: self._chance.choice(NAMES),
            "Statement": lambda: drawn(self._chance, STATEMENTS, "statement"),
            "ConditionExpression": lambda: drawn(self._chance, EXPRESSIONS, "condition"),
            "FilterExpression": lambda: drawn(self._chance, EXPRESSIONS, "condition"),
            "UpdateExpression": lambda: drawn(self._chance, EXPRESSIONS, "update"),
            "KeyConditionExpression": lambda: drawn(self._chance, EXPRESSIONS, "key_condition"),
            "ProjectionExpression": lambda: drawn(self._chance, EXPRESSIONS, "projection"),
            "Policy": self._policy,
            "S3Bucket": lambda: self._chance.choice((BUCKET, BUCKET, BUCKET, "absent", "..", "a/b", "/", "\0")),
            "S3KeyPrefix": lambda: self._chance.choice(("", "AWSDynamoDB", "in", "../", "/etc")),
            "S3Prefix": lambda: self._chance.choice(("", "out", "../x", "/x", "a//b", "\0", "x" * 300)),
        }

    def request(self, schema: Schema, operation: str) -> dict[str, Any]:
        name = self._chance.choice((*TABLES, "table", "table"))
        self._schema, self._table = TABLES[name], name
        return self._structure(schema, schema.input_of(operation), 0)

    def _table_name(self) -> str:
        if self._chance.random() < 0.9:
            return self._table
        return self._chance.choice(("new-table", "absent", *self._world.known["TableArn"]))

    def _policy(self) -> str:
        """A resource policy, as it should be or damaged."""
        chance = self._chance
        statement = {
            "Effect": chance.choice(("Allow", "Deny")),
            "Principal": chance.choice(("*", {"AWS": "000000000000"}, {"AWS": ["arn:aws:iam::111111111111:user/*"]})),
            "Action": chance.choice(("dynamodb:*", ["dynamodb:GetItem", "dynamodb:Put*"], "*", "s3:GetObject")),
            "Resource": chance.choice((self._world.known["TableArn"][0], "*", "arn:aws:dynamodb:*:*:table/*a*a*a*a*b")),
            "Condition": chance.choice(CONDITIONS),
        }
        tree: dict[str, Any] = {"Version": "2012-10-17", "Statement": [statement] * chance.choice((1, 1, 2))}
        return json.dumps(altered(chance, copied(tree)) if chance.random() < 0.6 else tree)

    def _structure(self, schema: Schema, shape: Shape, depth: int) -> dict[str, Any]:
        if shape.name == "AttributeValue":
            return value(self._chance, depth)
        likely = 0.3 if depth < 3 else 0.15
        tree = {
            name: self._member(schema, name, schema.shape(member), depth)
            for name, member in shape.members.items()
            if name in shape.required or self._chance.random() < likely
        }
        if "ExpressionAttributeValues" in shape.members and self._chance.random() < 0.9:
            self._define_placeholders(tree)
        return tree

    def _define_placeholders(self, tree: dict[str, Any]) -> None:
        """Give exactly the names and values that the expressions use, as a careful client does."""
        text = " ".join(given for name, given in tree.items() if name.endswith("Expression") and isinstance(given, str))
        used = set(PLACEHOLDER.findall(text))
        tree["ExpressionAttributeNames"] = {each: self._chance.choice(NAMES) for each in used if each[0] == "#"}
        tree["ExpressionAttributeValues"] = {each: value(self._chance) for each in used if each[0] == ":"}
        for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if not tree[name]:
                del tree[name]
        if text and self._chance.random() < 0.9:  # the older parameters do not go together with expressions
            for name in (
                "AttributesToGet",
                "Expected",
                "AttributeUpdates",
                "KeyConditions",
                "QueryFilter",
                "ScanFilter",
            ):
                tree.pop(name, None)
            tree.pop("ConditionalOperator", None)

    def _member(self, schema: Schema, name: str, shape: Shape, depth: int) -> Any:
        known = self._world.known.get(name)
        if known and self._chance.random() < 0.8:
            return self._chance.choice(known)
        draw = self._drawn.get(name)
        if draw is not None and self._chance.random() < 0.95:
            return draw()
        return self._value(schema, shape, depth + 1)

    def _value(self, schema: Schema, shape: Shape, depth: int) -> Any:
        chance = self._chance
        if shape.kind == "structure":
            return self._structure(schema, shape, depth) if depth < DEPTH_MAX else {}
        if shape.kind in ("list", "map"):
            return self._several(schema, shape, depth)
        if shape.kind in ("integer", "long", "double"):
            edges = [edge for edge in (shape.minimum, shape.maximum) if edge is not None]
            return chance.choice((*edges, 1, 1, 2, 5, 10, *ODD_NUMBERS))
        if shape.kind == "boolean":
            return chance.random() < 0.5
        if shape.kind == "timestamp":
            return self._world.engine.clock.seconds() + chance.choice((0, -1, -60, -599, -601, 60, 1e9, -1e12, 1e300))
        if shape.enum:
            return chance.choice(shape.enum)
        return self._text(shape)

    def _text(self, shape: Shape) -> str:
        edges = [edge for edge in (shape.minimum, shape.maximum) if edge is not None and edge < 5000]
        length = self._chance.choice(
            (*edges, 3, 5, *(edge + 1 for edge in edges), *(max(0, edge - 1) for edge in edges))
        )
        return self._chance.choice("abcxyz019-_.") * length

    def _several(self, schema: Schema, shape: Shape, depth: int) -> Any:
        chance = self._chance
        assert shape.element is not None
        count = chance.choice((0, 1, 1, 1, 2, 3)) if depth < DEPTH_MAX else 0
        if shape.name in ("KeySchema",):
            names = chance.sample(("pk", "sk", "n", "a"), min(4, count + 1))
            return [
                {"AttributeName": name, "KeyType": kind}
                for name, kind in zip(names, ("HASH", "RANGE", "RANGE"), strict=False)
            ]
        if shape.name == "AttributeDefinitions":
            return [
                {"AttributeName": each, "AttributeType": chance.choice("SNB")}
                for each in ("pk", "sk", "n", "a")[: count + 1]
            ]
        if shape.kind == "list":
            return [
                self._member(schema, ELEMENTS.get(shape.name, ""), schema.shape(shape.element), depth)
                for _ in range(count)
            ]
        if schema.holds_attribute_values(shape):
            return item_of(chance, self._schema)
        names = [self._name_in(schema, shape) for _ in range(count)]
        return {name: self._value(schema, schema.shape(shape.element), depth + 1) for name in names}

    def _name_in(self, schema: Schema, shape: Shape) -> str:
        assert shape.key is not None
        if "Table" in shape.key:
            return self._table_name()
        return self._chance.choice(NAMES)

    # ---- the operations that are named by a path -------------------------------------------------------------------

    def rest(self) -> tuple[bytes, bytes, dict[str, Any]]:
        """Method, URL and body of a request about event source mappings."""
        chance = self._chance
        known = self._world.known.get("UUID", ["00000000-0000-0000-0000-000000000000"])
        path = chance.choice(PATHS).format(uuid=chance.choice(known))
        method = chance.choice((b"GET", b"POST", b"POST", b"PUT", b"DELETE"))
        likely = 0.9 if method == b"POST" else 0.4
        body = {
            name: self._rest_member(kind)
            for name, kind in REST_MEMBERS.items()
            if chance.random() < likely / 2 or name in list(REST_MEMBERS)[:3]
        }
        return method, registry.MAPPINGS.encode() + path.encode(), body

    def _rest_member(self, kind: str) -> Any:
        chance = self._chance
        if kind == "StreamArn":
            return chance.choice(self._world.known["StreamArn"])
        if kind == "n":
            return chance.choice((0, 1, 10, 100, 10_000, -1, *ODD_NUMBERS))
        drawn_from: dict[str, list[Any]] = {
            "FunctionName": FUNCTIONS,
            "StartingPosition": ["TRIM_HORIZON", "LATEST", "AT_TIMESTAMP"],
            "flag": [True, False, "true", None],
            "FilterCriteria": [{"Filters": [{"Pattern": chance.choice(PATTERNS)}]}, {"Filters": []}, {}, None, []],
            "DestinationConfig": [{"OnFailure": {"Destination": "file:///etc/passwd"}}, {"OnFailure": {}}, {}, None],
            "FunctionResponseTypes": [["ReportBatchItemFailures"], [], ["x"], None, "x"],
        }
        return chance.choice(drawn_from[kind])


ELEMENTS = {"KeyList": "Key", "PartiQLBatchRequest": "", "AttributeNameList": "AttributeName", "TagKeyList": ""}
OPERATIONS = tuple((service, operation) for service in SERVICES for operation in schema_of(service).operations)
REST = ("lambda", "EventSourceMappings")


def round_of_bodies(chance: Random, world: World, watch: Watch, inputs: int) -> None:
    """Requests of all kinds, one after the other, against the same world."""
    requests = Requests(world)
    for _ in range(inputs):
        service, operation = chance.choice((*OPERATIONS, REST))
        if chance.random() < 0.02:
            world.engine.clock.advance(chance.choice((1, 60, 3600, 86_400)))
        if service == "lambda":
            one_rest(chance, world, watch, requests)
        else:
            one_body(chance, world, watch, operation, requests.request(schema_of(service), operation))


def one_body(chance: Random, world: World, watch: Watch, operation: str, tree: dict[str, Any]) -> None:
    kind = chance.random()
    if kind < 0.5:
        tree = altered(chance, copied(tree))
    body = written(chance, odd(chance) if kind > 0.995 else tree)
    watch.each(operation.encode() + b" " + body, lambda: outcome(*world.send(operation, body)))


def one_rest(chance: Random, world: World, watch: Watch, requests: Requests) -> None:
    method, url, tree = requests.rest()
    if chance.random() < 0.4:
        tree = altered(chance, copied(tree))
    body = written(chance, tree)
    headers = {b"content-type": b"application/json"}
    line = b" ".join((method, url, body))
    watch.each(line, lambda: outcome(*world.exchange(method, url, headers, body)))


def outcome(status: int, content: Any) -> str:
    if status == 200 or status == 202:
        return "ok"
    return str(content.get("__type", status)).rpartition("#")[2] if isinstance(content, dict) else str(status)

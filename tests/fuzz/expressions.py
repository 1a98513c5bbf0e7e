"""Expressions and PartiQL statements, each in a request that is otherwise right, so that the text is what is tried."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.grammar import EXPRESSIONS, STATEMENTS, drawn
from fuzz.requests import PLACEHOLDER, outcome
from fuzz.values import NAMES, value
from fuzz.watch import Watch
from fuzz.world import World

RESTORED = 0.15  # how often the item that inputs take apart is made whole again
KEY = {"pk": {"S": "k"}, "sk": {"S": "k"}}
KINDS = ("condition", "filter", "update", "update", "projection", "key_condition", "transaction")
SETTABLE = [
    {"N": "1"},
    {"N": "7"},
    {"S": "x"},
    {"S": "k"},
    {"L": [{"N": "1"}]},
    {"SS": ["a"]},
    {"NS": ["1"]},
    {"M": {"a": {"N": "1"}}},
    {"S": "k"},
]


def round_of_expressions(chance: Random, world: World, watch: Watch, inputs: int) -> None:
    for _ in range(inputs):
        if chance.random() < RESTORED:
            world.put_known_item()
        operation, members = request_with(chance, chance.choice(KINDS))
        body = json.dumps(members).encode()
        watch.each(operation.encode() + b" " + body, lambda: outcome(*world.send(operation, body)))  # noqa: B023


def request_with(chance: Random, kind: str) -> tuple[str, dict[str, Any]]:
    """An operation and its members, with one expression or two and everything that they refer to."""
    if kind == "condition":
        text = drawn(chance, EXPRESSIONS, "condition")
        operation = chance.choice(("DeleteItem", "UpdateItem"))
        return operation, defined(chance, {"TableName": "table", "Key": KEY, "ConditionExpression": text})
    if kind == "filter":
        text = drawn(chance, EXPRESSIONS, "condition")
        return "Scan", defined(chance, {"TableName": "table", "FilterExpression": text, "Limit": 20})
    if kind == "update":
        text = drawn(chance, EXPRESSIONS, "update")
        returned = chance.choice(("ALL_NEW", "UPDATED_NEW", "UPDATED_OLD", "ALL_OLD", "NONE"))
        return "UpdateItem", defined(
            chance, {"TableName": "table", "Key": KEY, "UpdateExpression": text, "ReturnValues": returned}
        )
    if kind == "projection":
        text = drawn(chance, EXPRESSIONS, "projection")
        return "GetItem", defined(chance, {"TableName": "table", "Key": KEY, "ProjectionExpression": text})
    if kind == "key_condition":
        members = {"TableName": "table", "KeyConditionExpression": drawn(chance, EXPRESSIONS, "key_condition")}
        if chance.random() < 0.5:
            members["IndexName"] = chance.choice(("gsi", "gsi2", "lsi"))
        if chance.random() < 0.3:
            members["FilterExpression"] = drawn(chance, EXPRESSIONS, "condition")
        return "Query", defined(chance, members)
    update = {"TableName": "table", "Key": KEY, "UpdateExpression": drawn(chance, EXPRESSIONS, "update")}
    check = {
        "TableName": "numbers",
        "Key": {"pk": {"N": "1"}},
        "ConditionExpression": drawn(chance, EXPRESSIONS, "condition"),
    }
    return "TransactWriteItems", {
        "TransactItems": [{"Update": defined(chance, update)}, {"ConditionCheck": defined(chance, check)}]
    }


def defined(chance: Random, members: dict[str, Any]) -> dict[str, Any]:
    """The members with the names and values that their expressions use; at times with one too few or too many."""
    used = {each for name, text in members.items() if name.endswith("Expression") for each in PLACEHOLDER.findall(text)}
    if chance.random() < 0.03:
        used.add(chance.choice((":z", "#z")))
    if used and chance.random() < 0.03:
        used.discard(sorted(used)[0])
    names = {each: chance.choice(NAMES[:14]) for each in sorted(used) if each[0] == "#"}
    values = {each: bound(chance) for each in sorted(used) if each[0] == ":"}
    return (
        members
        | ({"ExpressionAttributeNames": names} if names else {})
        | ({"ExpressionAttributeValues": values} if values else {})
    )


def bound(chance: Random) -> dict[str, Any]:
    return chance.choice(SETTABLE) if chance.random() < 0.85 else value(chance)


def round_of_statements(chance: Random, world: World, watch: Watch, inputs: int) -> None:
    for _ in range(inputs):
        if chance.random() < RESTORED:
            world.put_known_item()
        operation, members = statement_request(chance)
        body = json.dumps(members).encode()
        watch.each(operation.encode() + b" " + body, lambda: outcome(*world.send(operation, body)))  # noqa: B023


def statement_request(chance: Random) -> tuple[str, dict[str, Any]]:
    kind = chance.random()
    if kind < 0.7:
        return "ExecuteStatement", statement(chance) | ({"Limit": chance.choice((1, 2))} if kind < 0.1 else {})
    statements = [statement(chance) for _ in range(chance.choice((1, 2, 3)))]
    if kind < 0.85:
        return "BatchExecuteStatement", {"Statements": statements}
    return "ExecuteTransaction", {"TransactStatements": statements}


def statement(chance: Random) -> dict[str, Any]:
    text = drawn(chance, STATEMENTS, "statement")
    count = text.count("?") + (chance.choice((-1, 1)) if chance.random() < 0.05 else 0)
    parameters = [bound(chance) for _ in range(min(count, 50))]
    return {"Statement": text, **({"Parameters": parameters} if parameters else {})}

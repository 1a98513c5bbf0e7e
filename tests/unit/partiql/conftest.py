"""Statements carried out by the real engine, on a memory store, without a server in front of it."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from harness import Engine
from hashrange.engine.scope import scope_of
from hashrange.errors import ClientError, Wording
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.partiql import batch_execute_statement, execute_statement, execute_transaction
from hashrange.storage import write_and_wait

SCOPE = scope_of("000000000000", "us-east-1")


class Statements:
    """A database, and the operations of PartiQL on it."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.create_table = self.engine.create_table

    def execute(self, statement: str, *parameters: Any, **members: Any) -> Any:
        return self._run(execute_statement.OPERATION, {**written(statement, parameters), **members})

    def items(self, statement: str, *parameters: Any, **members: Any) -> Any:
        return self.execute(statement, *parameters, **members)["Items"]

    def batch(self, *statements: Any, **members: Any) -> Any:
        return self._run(batch_execute_statement.OPERATION, {"Statements": each(statements), **members})

    def transact(self, *statements: Any, **members: Any) -> Any:
        return self._run(execute_transaction.OPERATION, {"TransactStatements": each(statements), **members})

    def put(self, item: Any, table: str = "table") -> None:
        self.engine.call("PutItem", TableName=table, Item=item)

    def get(self, pk: str, sk: str, table: str = "table") -> Any:
        return self.engine.call("GetItem", TableName=table, Key={"pk": {"S": pk}, "sk": {"S": sk}}).get("Item")

    def _run(self, operation: Operation, members: dict[str, Any]) -> Any:
        members = json.loads(json.dumps(members))  # what an operation normalises is the request's own
        answer = operation.run(self.engine.db, Request(members, SCOPE))
        if isinstance(answer, Write):
            answer = write_and_wait(self.engine.store, answer.plan)
        return orjson.loads(orjson.dumps(answer))


def written(statement: str, parameters: Any) -> dict[str, Any]:
    return {"Statement": statement, "Parameters": list(parameters)} if parameters else {"Statement": statement}


def each(statements: Any) -> list[dict[str, Any]]:
    """Statements as texts, or as members of their own."""
    return [statement if isinstance(statement, dict) else {"Statement": statement} for statement in statements]


class Refusal:
    """How a call fails: as a client would see it."""

    def __init__(self, error: ClientError) -> None:
        self.code = error.code
        self.message = error.text(Wording.NEWER, envelope=False)
        self.members = orjson.loads(orjson.dumps(error.members))


@pytest.fixture
def statements() -> Any:
    statements = Statements()
    statements.create_table()
    yield statements
    assert statements.engine.problems() == []


@pytest.fixture(scope="session")
def new_statements() -> type[Statements]:
    return Statements


@pytest.fixture(scope="session")
def refused() -> Any:
    def refused(run: Any, *arguments: Any, **members: Any) -> Refusal:
        with pytest.raises(ClientError) as caught:
            run(*arguments, **members)
        return Refusal(caught.value)

    return refused

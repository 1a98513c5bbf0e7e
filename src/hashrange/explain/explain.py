"""Explains a request: carries it out on a snapshot as far as it can be without changing anything, and tells why.

Reads are read, one page of them. A write is planned, as it would be inside a transaction of the store, and the plan is
looked at instead of being carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.engine.usage import Unlimited, Use
from hashrange.errors import ClientError, ValidationException, Wording
from hashrange.explain.explanation import Explanation, Step
from hashrange.explain.hints import item_hints, range_hints
from hashrange.explain.items import item_step
from hashrange.explain.pages import page_step, range_read
from hashrange.operations import registry
from hashrange.operations.operation import LongRead, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.validation.shape import load
from hashrange.values.attribute import MalformedValue

MODULES = (
    "items.get_item",
    "items.put_item",
    "items.update_item",
    "items.delete_item",
    "reads.query",
    "reads.scan",
    "batch.batch_get_item",
    "batch.batch_write_item",
    "transactions.transact_get_items",
    "transactions.transact_write_items",
    "partiql.execute_statement",
    "partiql.batch_execute_statement",
    "partiql.execute_transaction",
)
OPERATIONS = {registry.name_of(module): module for module in MODULES}

TRANSACTIONS = ("TransactGetItems", "TransactWriteItems", "ExecuteTransaction")
TRANSACTION_HINT = (
    "In a transaction items cost double, also if it is cancelled. What need not happen together is cheaper apart."
)
MALFORMED = "SerializationException: an attribute value does not have the form of one"


def explain(db: Database, scope: Scope, operation: str, members: dict[str, Any]) -> Explanation:
    """What a request would do and cost, and what it would be refused for. Changes nothing.

    The database must be of the caller's own: what the request costs is not taken from anybody's capacity.
    """
    assert isinstance(db.ledger, Unlimited)
    explanation = Explanation(operation)
    with db.read() as snapshot:
        try:
            request = Request(load("dynamodb")[operation].explain(members), scope)
        except ClientError as error:
            explanation.error = error_text(error)
            return explanation
        plan, explanation.error = attempt(db, snapshot, operation, request)
        for use in request.usage.uses:
            step = step_of(db, snapshot, operation, request, use, plan)
            explanation.steps.append(step)
            explanation.hints += [hint for hint in step.hints if hint not in explanation.hints]
    if operation in TRANSACTIONS and explanation.steps:
        explanation.hints.append(TRANSACTION_HINT)
    return explanation


def attempt(db: Database, snapshot: Snapshot, operation: str, request: Request) -> tuple[Plan | None, str | None]:
    """What a write would write, if it is one, and the error that it would end with, if any."""
    try:
        answer = registry.load(OPERATIONS[operation]).run(db, request)
        if isinstance(answer, LongRead):
            while answer.step() is None:
                pass
        return (answer.plan(snapshot), None) if isinstance(answer, Write) else (None, None)
    except ClientError as error:
        return None, error_text(error)
    except MalformedValue:
        return None, MALFORMED


def error_text(error: ClientError) -> str:
    text = error.text(Wording.NEWER, envelope=False)
    return error.code if text is None else f"{error.code}: {text}"


def step_of(db: Database, snapshot: Snapshot, operation: str, request: Request, use: Use, plan: Plan | None) -> Step:
    if reads_range(operation, use):
        read = range_read(db, snapshot, operation, request)
        step = page_step(snapshot, read, use)
        step.hints = list(range_hints(request, read, step))
        return step
    step = item_step(snapshot, use, plan)
    step.hints = list(item_hints(request, use, step, largest_bytes(snapshot, use)))
    return step


def reads_range(operation: str, use: Use) -> bool:
    """A SELECT that names a whole key is a lookup, and only then does it say which."""
    if operation == "ExecuteStatement":
        return use.evaluated is not None and not use.keys
    return operation in ("Query", "Scan")


def largest_bytes(snapshot: Snapshot, use: Use) -> int:
    return max(sizes(snapshot, use), default=0)


def sizes(snapshot: Snapshot, use: Use) -> Iterator[int]:
    for key in use.keys:
        yield use.table.size_of(snapshot, use.table.key.pack(key)) or 0


def operation_of(text: str) -> str:
    """An operation by its name, in either spelling: `GetItem`, `get-item`."""
    name = text if text in OPERATIONS else "".join(word.capitalize() for word in text.split("-"))
    if name not in OPERATIONS:
        raise ValidationException(f"Requests of {text} cannot be explained; those of {', '.join(OPERATIONS)} can.")
    return name

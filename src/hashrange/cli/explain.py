"""`hashrange explain`: what a request reads or writes, what it costs and why."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from hashrange.cli.directory import in_words, open_database
from hashrange.cli.options import ConfigurationError
from hashrange.cli.remote_copy import RemoteCopy
from hashrange.engine.scope import scope_of
from hashrange.engine.usage import Unlimited
from hashrange.errors import ClientError
from hashrange.explain.explain import explain, operation_of
from hashrange.explain.explanation import Explanation, Step
from hashrange.explain.words import counted, number

GOES_THROUGH, IS_REFUSED = 0, 1


def run(arguments: argparse.Namespace) -> int:
    try:
        operation = operation_of(arguments.operation)
    except ClientError as error:
        raise ConfigurationError(in_words(error)) from None
    members = request_members(arguments.request)
    look = in_directory if arguments.endpoint is None else through_endpoint
    found = look(arguments, operation, members)
    if arguments.json:
        print(orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2).decode())
    else:
        print("\n".join(lines(found)))
    return GOES_THROUGH if found.error is None else IS_REFUSED


def in_directory(arguments: argparse.Namespace, operation: str, members: dict[str, Any]) -> Explanation:
    db = open_database(arguments)
    try:
        db.ledger = Unlimited()
        return explain(db, scope_of(arguments.account, arguments.region), operation, members)
    finally:
        db.store.close()


def through_endpoint(arguments: argparse.Namespace, operation: str, members: dict[str, Any]) -> Explanation:
    copy = RemoteCopy(arguments)
    try:
        copy.take(operation, members)
    finally:
        copy.close()
    copy.db.ledger = Unlimited()
    found = explain(copy.db, copy.scope, operation, members)
    for step in found.steps:
        if step.whole is not None and not copy.is_complete:
            step.whole = replace(step.whole, is_complete=False)
    return found


def request_members(text: str) -> dict[str, Any]:
    """The members of a request, from the command line itself, a file or the standard input."""
    if not text.lstrip().startswith("{"):
        try:
            text = sys.stdin.read() if text == "-" else Path(text.removeprefix("file://")).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"The request cannot be read: {error}.") from None
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(f"The request is not JSON: {error}.") from None
    if not isinstance(members, dict):
        raise ConfigurationError("The request must be a JSON object, as an SDK sends it.")
    return members


def lines(found: Explanation) -> Iterator[str]:
    if found.error is not None:
        yield f"{found.operation} is refused: {found.error}"
    for step in found.steps:
        yield from step_lines(step)
    if found.steps:
        totals = [(found.units(kind), kind.lower()) for kind in ("Read", "Write")]
        yield "Consumes " + " and ".join(counted(units, f"{kind} unit") for units, kind in totals if units) + "."
    for hint in found.hints:
        yield f"Hint: {hint}"


def step_lines(step: Step) -> Iterator[str]:
    """A heading, then what is evaluated, then the arithmetic."""
    yield f"{step.access.capitalize()}: {step.what}" + ("" if step.items_evaluated is not None else f" in {step.table}")
    if step.items_evaluated is not None:
        yield (
            f"  evaluates {counted(step.items_evaluated, 'item')}, {counted(step.bytes_evaluated or 0, 'byte')}; "
            f"returns {number(step.items_returned or 0)}"
        )
    for line in step.arithmetic:
        yield f"  {line}"
    whole = step.whole
    if whole is not None:
        least = "" if whole.is_complete else "more than "
        yield (
            f"  to the end it would be {least}{counted(whole.items, 'item')}, {counted(whole.size_bytes, 'byte')}, in "
            f"{counted(whole.pages, 'page')}: {counted(whole.units, 'unit')}"
        )

"""`hashrange triggers`: have functions called with the changes of a stream."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from hashrange.cli.functions import open_existing
from hashrange.cli.options import ConfigurationError
from hashrange.engine.clock_offset import database_clock
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.lifecycle import existing_table
from hashrange.engine.scope import Scope, scope_of
from hashrange.errors import ClientError
from hashrange.operations.lambda_.create_event_source_mapping import create_event_source_mapping
from hashrange.operations.lambda_.delete_event_source_mapping import delete_event_source_mapping
from hashrange.operations.lambda_.list_event_source_mappings import list_event_source_mappings
from hashrange.operations.lambda_.update_event_source_mapping import update_event_source_mapping
from hashrange.operations.operation import Request
from hashrange.storage import LmdbStore, write_and_wait
from hashrange.triggers.settings import REPORT_FAILURES
from hashrange.triggers.target import is_url

NUMBERS = {
    "batch_size": "BatchSize",
    "batching_window": "MaximumBatchingWindowInSeconds",
    "parallelization": "ParallelizationFactor",
    "retries": "MaximumRetryAttempts",
    "max_record_age": "MaximumRecordAgeInSeconds",
    "bisect": "BisectBatchOnFunctionError",
    "enabled": "Enabled",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.action in ("update", "delete") and arguments.uuid is None:
        raise ConfigurationError(f"Which trigger? hashrange triggers {arguments.action} UUID; `list` shows them.")
    with closing(open_existing(arguments.data, writes=arguments.action != "list")) as store:
        with store.read() as snapshot:
            db = Database(store, database_clock(snapshot))
        try:
            show(act(db, store, arguments), as_json=arguments.json)
        except ClientError as error:
            raise ConfigurationError(error.message or error.code) from None
    return 0


def act(db: Database, store: LmdbStore, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The triggers that the command is about, as they are afterwards."""
    scope = scope_of(arguments.account, arguments.region)
    if arguments.action == "list":
        return every(db, scope)
    members = {} if arguments.action == "delete" else settings_of(arguments)
    if arguments.uuid is not None:
        members["UUID"] = arguments.uuid
    if arguments.action == "delete":
        write = delete_event_source_mapping(db, Request(members, scope))
    elif arguments.action == "update":
        write = update_event_source_mapping(db, Request(members, scope), trusted=True)
    else:
        members["EventSourceArn"] = stream_of(db, scope, arguments)
        members["StartingPosition"] = arguments.starting_position
        write = create_event_source_mapping(db, Request(members, scope), trusted=True)
    return [write_and_wait(store, write.plan)]


def every(db: Database, scope: Scope) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    members: dict[str, Any] = {}
    while True:
        page = list_event_source_mappings(db, Request(members, scope))
        found += page["EventSourceMappings"]
        if "NextMarker" not in page:
            return found
        members = {"Marker": page["NextMarker"]}


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The command's options as members of a request."""
    given = {wire: getattr(arguments, name) for name, wire in NUMBERS.items()}
    members = {name: value for name, value in given.items() if value is not None}
    if arguments.function is not None:
        members["FunctionName"] = arguments.function
    if arguments.report_failures is not None:
        members["FunctionResponseTypes"] = [REPORT_FAILURES] if arguments.report_failures else []
    if arguments.filter is not None:
        members["FilterCriteria"] = {"Filters": [{"Pattern": pattern} for pattern in arguments.filter]}
    if arguments.on_failure is not None:
        place = arguments.on_failure
        chosen = place if is_url(place) or not place else str(Path(place).absolute())
        members["DestinationConfig"] = {"OnFailure": {"Destination": chosen}}
    return members


def stream_of(db: Database, scope: Scope, arguments: argparse.Namespace) -> str:
    if arguments.function is None or (arguments.stream is None and arguments.table is None):
        raise ConfigurationError("A trigger needs --function, and --stream or --table.")
    if arguments.stream is not None:
        stream: str = arguments.stream
        return stream
    with db.read() as snapshot:
        table: TableDefinition = existing_table(db, snapshot, scope, arguments.table).definition
    if table.stream_view is None:
        raise ConfigurationError(f"Table {table.name} has no stream. UpdateTable with a StreamSpecification makes one.")
    return f"{table.arn}/stream/{table.stream_label}"


def show(triggers: list[dict[str, Any]], *, as_json: bool) -> None:
    for trigger in triggers:
        if as_json:
            print(json.dumps(trigger))
        else:
            print(
                f"{trigger['UUID']}  {trigger['State']:<9}  {trigger['LastProcessingResult']}\n"
                f"    {trigger['EventSourceArn']}\n    {trigger['FunctionArn']}"
            )

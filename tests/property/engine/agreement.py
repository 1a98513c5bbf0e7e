"""Carries writes out on the database and on the model, and compares all that either of them can tell."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.errors import (
    ClientError,
    ConditionalCheckFailedException,
    IdempotentParameterMismatchException,
    TransactionCanceledException,
    ValidationException,
)
from property.engine.client import Client
from property.engine.expressions_model import Refused, Text, Tree
from property.engine.table_model import (
    KEY_NAMES,
    PARTITION_NAME,
    SORT_NAME,
    ConditionFailed,
    Index,
    TableModel,
    Units,
    partitions,
)
from property.engine.values_model import Attributes, comparable, item_size, normal_attributes, read_units

TABLE = "story"
ERRORS: dict[type[Exception], type[ClientError]] = {
    Refused: ValidationException,
    ConditionFailed: ConditionalCheckFailedException,
}
CODES = {Refused: "ValidationError", ConditionFailed: "ConditionalCheckFailed", None: "None"}
NAMES = {"put": "PutItem", "update": "UpdateItem", "delete": "DeleteItem"}
PARTS = {"put": "Put", "update": "Update", "delete": "Delete", "check": "ConditionCheck"}


def key_of(attributes: Attributes) -> Attributes:
    return {name: attributes[name] for name in KEY_NAMES}


def request_of(command: Tree) -> dict[str, Any]:
    """The members that a single write has as an operation and as a part of a transaction."""
    text = Text()
    members: dict[str, Any] = {"TableName": TABLE}
    members["Item" if command[0] == "put" else "Key"] = command[1]
    if command[0] == "update" and command[2]:
        members["UpdateExpression"] = text.update(command[2])
    if command[-1] is not None:
        members["ConditionExpression"] = text.condition(command[-1])
    return members | text.members()


class Agreement:
    """A table in the database and its model, side by side."""

    def __init__(self, client: Client, model: TableModel, *, counts_units: bool = True) -> None:
        self.client = client
        self.model = model
        self.counts_units = counts_units
        self.remembered: dict[str, Any] = {}  # transactions by their tokens

    # --- Writing ---------------------------------------------------------------------------------------------------

    def write(self, command: Tree) -> None:
        match command[0]:
            case "batch":
                self._batch(command[1])
            case "transact":
                self._transact(*command[1:])
            case _:
                self._single(command)

    def _single(self, command: Tree) -> None:
        old = self.model.get(command[1])
        wanted = "ALL_NEW" if command[0] == "update" else "ALL_OLD"
        members = request_of(command) | {"ReturnValues": wanted, "ReturnConsumedCapacity": "INDEXES"}
        try:
            new = self.model.outcome(command)
        except (Refused, ConditionFailed) as error:
            self._must_fail(ERRORS[type(error)], NAMES[command[0]], **members)
            return
        answer = self.client.call(NAMES[command[0]], **members)
        assert answer.get("Attributes") == (new if command[0] == "update" else old)
        self._agree_on_units(answer["ConsumedCapacity"], self.model.write(command[1], new))
        assert self.client.call("GetItem", TableName=TABLE, Key=key_of(command[1])).get("Item") == new

    def _must_fail(self, kind: type[ClientError], operation: str, **members: Any) -> ClientError:
        with pytest.raises(ClientError) as raised:
            self.client.call(operation, **members)
        assert isinstance(raised.value, kind), raised.value
        return raised.value

    def _batch(self, commands: list[Tree]) -> None:
        commands = list({self.model.key_of(command[1]): command for command in commands}.values())
        elements = [
            {"PutRequest": {"Item": command[1]}} if command[0] == "put" else {"DeleteRequest": {"Key": command[1]}}
            for command in commands
        ]
        members = {"RequestItems": {TABLE: elements}, "ReturnConsumedCapacity": "INDEXES"}
        try:
            outcomes = [self.model.outcome(command) for command in commands]
        except Refused:
            self._must_fail(ValidationException, "BatchWriteItem", **members)
            return
        answer = self.client.call("BatchWriteItem", **members)
        assert answer["UnprocessedItems"] == {}
        units = Units()
        for command, new in zip(commands, outcomes, strict=True):
            units.add(self.model.write(command[1], new))
        [consumed] = answer["ConsumedCapacity"]
        self._agree_on_units(consumed, units)

    def _transact(self, commands: list[Tree], token: str | None) -> None:
        commands = list({self.model.key_of(command[1]): command for command in commands}.values())
        parts = [{PARTS[command[0]]: request_of(command)} for command in commands]
        members: dict[str, Any] = {"TransactItems": parts, "ReturnConsumedCapacity": "INDEXES"}
        if token is not None:
            members["ClientRequestToken"] = token
            if token in self.remembered:
                self._repeat(token, members)
                return
        codes = self._codes(commands)
        if set(codes) != {"None"}:
            error = self._must_fail(TransactionCanceledException, "TransactWriteItems", **members)
            assert [reason["Code"] for reason in error.members["CancellationReasons"]] == codes
            return
        [consumed] = self.client.call("TransactWriteItems", **members)["ConsumedCapacity"]
        units = Units()
        for command in commands:
            units.add(self.model.write(command[1], self.model.outcome(command)), factor=2)
        self._agree_on_units(consumed, units)
        if token is not None:
            self.remembered[token] = parts

    def _repeat(self, token: str, members: dict[str, Any]) -> None:
        """A transaction sent again does nothing; another one under its token is refused."""
        other = members["TransactItems"]
        first = self.remembered[token]
        if other != first:
            self._must_fail(IdempotentParameterMismatchException, "TransactWriteItems", **members)
        try:
            self.client.call("TransactWriteItems", TransactItems=first, ClientRequestToken=token)
        except ValidationException:
            assert not self.counts_units, "only a new index can make a repeated transaction invalid"

    def _codes(self, commands: list[Tree]) -> list[str]:
        """Why a transaction is cancelled. Items that no index can hold are met before any condition is tested."""
        misfits = [command[0] == "put" and self._is_misfit(command[1]) for command in commands]
        if any(misfits):
            first = misfits.index(True)
            return ["ValidationError" if position == first else "None" for position in range(len(misfits))]
        codes = []
        for command in commands:
            try:
                self.model.outcome(command)
                codes.append("None")
            except (Refused, ConditionFailed) as error:
                code = CODES[type(error)]
                codes.append("None" if code == "ValidationError" and code in codes else code)
        return codes

    def _is_misfit(self, item: Attributes) -> bool:
        try:
            self.model.check_index_keys(item)
        except Refused:
            return True
        return False

    def _agree_on_units(self, consumed: dict[str, Any], units: Units) -> None:
        if not self.counts_units:
            return
        arms = {**consumed.get("LocalSecondaryIndexes", {}), **consumed.get("GlobalSecondaryIndexes", {})}
        assert {name: arm["CapacityUnits"] for name, arm in arms.items()} == units.indexes
        assert consumed["Table"]["CapacityUnits"] == units.table
        assert consumed["CapacityUnits"] == units.table + sum(units.indexes.values())

    # --- Comparing -------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Everything the database shows of the table is what the model says."""
        assert self.client.problems() == []
        self._compare_counts()
        for index in (None, *self.model.indexes):
            source = {"TableName": TABLE} | ({} if index is None else {"IndexName": index.name})
            everything = self.model.entries(index)
            self._compare_scans(source, everything, index)
            names = (PARTITION_NAME,), (SORT_NAME,)
            if index is not None:
                names = index.partition, index.sort
            for entries in partitions(everything, *names).values():
                self._compare_queries(source, entries, *names, index)

    def _compare_counts(self) -> None:
        table = self.client.call("DescribeTable", TableName=TABLE)["Table"]
        described = [(None, table["ItemCount"], table["TableSizeBytes"])]
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            described += [(d["IndexName"], d["ItemCount"], d["IndexSizeBytes"]) for d in table.get(member, [])]
        expected = []
        for index in (None, *self.model.indexes):
            entries = self.model.entries(index)
            expected.append((index.name if index else None, len(entries), sum(map(item_size, entries))))
        assert sorted(described, key=str) == sorted(expected, key=str)

    def _compare_scans(self, source: dict[str, Any], everything: list[Attributes], index: Index | None) -> None:
        whole = self.client.items("Scan", **source)
        assert by_key(whole) == by_key(everything)
        assert len(whole) == len(everything)
        for page_size in {1, 2, 3, len(whole) or 1, len(whole) + 1}:
            assert self.client.items("Scan", **source, Limit=page_size) == whole
        for total in range(1, 6):
            pieces = [
                self.client.items("Scan", **source, Limit=2, Segment=segment, TotalSegments=total)
                for segment in range(total)
            ]
            assert [item for piece in pieces for item in piece] == whole
        page = self.client.call("Scan", **source, ReturnConsumedCapacity="INDEXES", Select="COUNT")
        assert (page["Count"], page["ScannedCount"]) == (len(whole), len(whole))
        units = read_units(sum(map(item_size, everything)), consistent=False)
        self._agree_on_read(page["ConsumedCapacity"], index, units)

    def _compare_queries(
        self,
        source: dict[str, Any],
        entries: list[Attributes],
        partition: tuple[str, ...],
        sort: tuple[str, ...],
        index: Index | None,
    ) -> None:
        """Read one partition forwards, backwards and in pages of every size."""
        text = Text()
        conditions = [text.condition(("compare", "=", (name,), entries[0][name])) for name in partition]
        query = source | {"KeyConditionExpression": " AND ".join(conditions)} | text.members()
        forward = self.client.items("Query", **query)
        assert by_key(forward) == by_key(entries)
        assert sort_keys(forward, sort) == sort_keys(entries, sort)
        for page_size in range(1, min(len(entries), 6) + 2):
            assert self.client.items("Query", **query, Limit=page_size) == forward
            assert self.client.items("Query", **query, Limit=page_size, ScanIndexForward=False) == forward[::-1]
        self._compare_query_units(query, entries, index)

    def _compare_query_units(self, query: dict[str, Any], entries: list[Attributes], index: Index | None) -> None:
        size_bytes = sum(map(item_size, entries))
        consistent = index is None or index.is_local
        members = query | {"ConsistentRead": consistent, "ReturnConsumedCapacity": "INDEXES"}
        page = self.client.call("Query", **members)
        units = read_units(size_bytes, consistent=consistent)
        self._agree_on_read(page["ConsumedCapacity"], index, units)
        if index is not None and index.is_local and index.shown is not None:
            page = self.client.call("Query", **members, Select="ALL_ATTRIBUTES")
            whole = [self.model.get(entry) or {} for entry in entries]
            assert by_key(page["Items"]) == by_key(whole)
            fetched = sum(read_units(item_size(item), consistent=True) for item in whole)
            self._agree_on_read(page["ConsumedCapacity"], index, units, fetched)

    def _agree_on_read(self, consumed: dict[str, Any], index: Index | None, units: float, fetched: float = 0.0) -> None:
        assert consumed["CapacityUnits"] == units + fetched
        if index is None:
            assert consumed["Table"]["CapacityUnits"] == units
            return
        member = "LocalSecondaryIndexes" if index.is_local else "GlobalSecondaryIndexes"
        assert consumed[member] == {index.name: {"CapacityUnits": units}}
        assert consumed["Table"]["CapacityUnits"] == fetched


def by_key(items: list[Attributes]) -> dict[Any, Attributes]:
    return {tuple(comparable(item[name]) for name in KEY_NAMES): normal_attributes(item) for item in items}


def sort_keys(items: list[Attributes], names: tuple[str, ...]) -> list[list[Any]]:
    return [[comparable(item[name]) for name in names] for item in items]

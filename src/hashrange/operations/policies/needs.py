"""What a request needs to be allowed: which actions, on which resources.

Most requests need the action of their own name on the resource that they name. Batches need it on each table, and
transactions and statements need the actions that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hashrange.auth.policy.context import Values
from hashrange.engine.database import Database
from hashrange.errors import ResourceNotFoundException, ValidationException
from hashrange.operations.operation import Operation, Request
from hashrange.operations.policies.access import Access, ItemsRead, ItemsWritten, ItemWritten, Queried, Scanned
from hashrange.operations.policies.places import EVERYTHING, Place, arn_place, named_place, table_place
from hashrange.operations.policies.statements import ACTIONS, Stated, prepared_statement
from hashrange.storage.interface import Snapshot

PREFIXES = {"dynamodbstreams": "dynamodb"}
"""What the actions of a service begin with, where that is not the name of the service."""

PLACE_MEMBERS = (
    "TableArn",
    "SourceTableName",
    "SourceTableArn",
    "TargetTableName",
    "ResourceArn",
    "StreamArn",
    "BackupArn",
    "ExportArn",
    "ImportArn",
    "BulkOperationArn",
)
"""Members that name the resources of a request that has no TableName. What others name beside it, such as the stream of
Kinesis that changes go to, is not ours."""

ACCOUNT_WIDE = frozenset(
    {
        "DescribeEndpoints",
        "DescribeLimits",
        "ListBackups",
        "ListBulkOperations",
        "ListContributorInsights",
        "ListExports",
        "ListGlobalTables",
        "ListImports",
        "ListStreams",
    }
)
ON_THE_TABLE = frozenset({"TagResource", "UntagResource", "ListTagsOfResource"})
"""Operations on a table even where they are given the ARN of one of its streams."""

TO_RESTORE = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")
"""What a restore needs on the new table (developer guide, "Using IAM with DynamoDB backup and restore")."""

PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")
READ = ("ProjectionExpression", "AttributesToGet", *PLACEHOLDERS)
WRITE = (
    "ConditionExpression",
    "Expected",
    "ReturnValues",
    "ReturnValuesOnConditionCheckFailure",
    *PLACEHOLDERS,
)
MEMBERS = {
    "GetItem": ("Key", *READ),
    "BatchGetItem": ("Keys", *READ),
    "PutItem": ("Item", *WRITE),
    "UpdateItem": ("Key", "UpdateExpression", "AttributeUpdates", *WRITE),
    "DeleteItem": ("Key", *WRITE),
    "ConditionCheckItem": ("Key", *WRITE),
    "Query": (
        "KeyConditionExpression",
        "KeyConditions",
        "FilterExpression",
        "QueryFilter",
        "ExclusiveStartKey",
        "Select",
        *READ,
    ),
    "Scan": ("FilterExpression", "ScanFilter", "ExclusiveStartKey", "Select", *READ),
}
"""The members that an operation looks at. Others are ignored by it, so they must not count here either."""

KINDS: dict[str, type[Access]] = {
    "GetItem": ItemsRead,
    "PutItem": ItemWritten,
    "UpdateItem": ItemWritten,
    "DeleteItem": ItemWritten,
    "Query": Queried,
    "Scan": Scanned,
}
ACTION_OF_ELEMENT = {
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


@dataclass(slots=True)
class Need:
    """One action on one resource. `element` is the part of the request that needs it, where parts are told apart."""

    action: str
    place: Place
    make_access: Callable[[], Access] | None = None
    element: int | None = None
    _access: Access | None = field(default=None, init=False)

    def find(self, key: str) -> Values | None:
        """The values of a condition key of DynamoDB."""
        if self._access is None:
            if self.make_access is None:
                return None
            self._access = self.make_access()
        return self._access.find(key)


class Needs:
    """Finds what one request needs. The snapshot must stay open while conditions are asked for their values."""

    def __init__(self, db: Database, snapshot: Snapshot, operation: Operation, request: Request) -> None:
        self._db = db
        self._snapshot = snapshot
        self._name = operation.name
        self._service = operation.service
        self._request = request
        self._consumed: str = request.get("ReturnConsumedCapacity") or "NONE"

    def all(self) -> Iterator[Need]:
        special = SPECIAL.get(self._name) if self._service.startswith("dynamodb") else None
        if special is not None:
            yield from special(self)
        elif self._name in KINDS:
            place = table_place(self._request.scope, self._request["TableName"], self._request.get("IndexName"))
            yield self._need(self._name, place, self._request.members)
        else:
            action = f"{PREFIXES.get(self._service, self._service)}:{self._name}"
            for place in self._places():
                yield Need(action, place)
            yield from self._fed_function()

    def _fed_function(self) -> Iterator[Need]:
        """Whoever has a function called with the records of a stream must be allowed to read them."""
        source = self._request.get("EventSourceArn")
        if self._name == "CreateEventSourceMapping" and isinstance(source, str):
            yield Need("dynamodb:GetRecords", arn_place(source))

    def _places(self) -> list[Place]:
        request = self._request
        if not self._service.startswith("dynamodb"):
            return [EVERYTHING]
        if request.get("IndexName") is not None:
            return [table_place(request.scope, request["TableName"], request["IndexName"])]
        members = ("TableName",) if "TableName" in request else PLACE_MEMBERS
        named = [request[member] for member in members if request.get(member) is not None]
        if self._name in ON_THE_TABLE:
            named = [text.partition("/stream/")[0] for text in named]
        places = [named_place(request.scope, text) for text in named]
        if self._name in ACCOUNT_WIDE:  # but the account may be another one
            return [EVERYTHING, *(place for place in places if place.account != request.scope.account)]
        return places or [EVERYTHING]

    def _need(
        self,
        name: str,
        place: Place,
        members: dict[str, Any],
        *,
        kind: type[Access] | None = None,
        element: int | None = None,
    ) -> Need:
        """The need of an action on items, as the members of a request describe it."""
        enclosing = None if element is None else self._name
        make = partial(self._access, kind or KINDS[name], place, MEMBERS[name], members, enclosing)
        return Need(f"dynamodb:{name}", place, make, element)

    def _access(
        self,
        kind: type[Access],
        place: Place,
        known: tuple[str, ...],
        members: dict[str, Any],
        enclosing: str | None,
    ) -> Access:
        used = {name: members[name] for name in known if members.get(name) is not None}
        return kind(self._db, self._snapshot, place, used, consumed=self._consumed, enclosing=enclosing)

    def list_tables(self) -> Iterator[Need]:
        scope = self._request.scope
        yield Need("dynamodb:ListTables", Place(scope.table_arn("*"), scope.account))

    def create_table(self) -> Iterator[Need]:
        """A policy and tags of a new table need what they would need later."""
        place = table_place(self._request.scope, self._request["TableName"])
        yield Need("dynamodb:CreateTable", place)
        for member, action in (("ResourcePolicy", "PutResourcePolicy"), ("Tags", "TagResource")):
            if self._request.get(member):
                yield Need(f"dynamodb:{action}", place)

    def restore(self) -> Iterator[Need]:
        """Whoever has a table filled must be allowed to fill it and to read it."""
        for place in self._places():
            yield Need(f"dynamodb:{self._name}", place)
        target = table_place(self._request.scope, self._request["TargetTableName"])
        yield from (Need(f"dynamodb:{name}", target) for name in TO_RESTORE)

    def import_table(self) -> Iterator[Need]:
        name = self._request["TableCreationParameters"]["TableName"]
        yield Need("dynamodb:ImportTable", table_place(self._request.scope, name))

    def get_records(self) -> Iterator[Need]:
        yield Need("dynamodb:GetRecords", arn_place(self._request["ShardIterator"].partition("|")[0]))

    def global_table(self) -> Iterator[Need]:
        arn = f"arn:aws:dynamodb::{self._request.scope.account}:global-table/{self._request['GlobalTableName']}"
        yield Need(f"dynamodb:{self._name}", Place(arn, self._request.scope.account))

    def batch_get_item(self) -> Iterator[Need]:
        for name, wanted in self._request["RequestItems"].items():
            yield self._need("BatchGetItem", table_place(self._request.scope, name), wanted, kind=ItemsRead)

    def batch_write_item(self) -> Iterator[Need]:
        for name, elements in self._request["RequestItems"].items():
            place = table_place(self._request.scope, name)
            make = partial(ItemsWritten, self._db, self._snapshot, place, elements, consumed=self._consumed)
            yield Need("dynamodb:BatchWriteItem", place, make)

    def transaction(self) -> Iterator[Need]:
        for number, element in enumerate(self._request["TransactItems"]):
            for kind, members in element.items():
                if kind in ACTION_OF_ELEMENT and members is not None:
                    name = ACTION_OF_ELEMENT[kind]
                    place = table_place(self._request.scope, members["TableName"])
                    access = ItemsRead if kind == "Get" else ItemWritten
                    yield self._need(name, place, members, kind=access, element=number)

    def statement(self) -> Iterator[Need]:
        yield self._stated(self._request.members, None)

    def statements(self) -> Iterator[Need]:
        """A statement of a batch that cannot be read needs nothing: it will fail, and only it."""
        for number, members in enumerate(self._request["Statements"]):
            try:
                need = self._stated(members, number)
            except (ValidationException, ResourceNotFoundException):
                continue
            yield need

    def transact_statements(self) -> Iterator[Need]:
        for number, members in enumerate(self._request["TransactStatements"]):
            yield self._stated(members, number, enclosing=self._name)

    def _stated(self, members: dict[str, Any], element: int | None, *, enclosing: str | None = None) -> Need:
        prepared = prepared_statement(members)
        table = prepared.body.table
        place = table_place(self._request.scope, table.name, table.index)

        def make() -> Access:
            access = Stated(self._db, self._snapshot, place, members, consumed=self._consumed, enclosing=enclosing)
            return access.prepare_with(prepared)

        return Need(ACTIONS[type(prepared.body)], place, make, element)


SPECIAL: dict[str, Callable[[Needs], Iterator[Need]]] = {
    "ListTables": Needs.list_tables,
    "CreateTable": Needs.create_table,
    "ImportTable": Needs.import_table,
    "RestoreTableFromBackup": Needs.restore,
    "RestoreTableToPointInTime": Needs.restore,
    "GetRecords": Needs.get_records,
    "DescribeGlobalTable": Needs.global_table,
    "DescribeGlobalTableSettings": Needs.global_table,
    "UpdateGlobalTable": Needs.global_table,
    "UpdateGlobalTableSettings": Needs.global_table,
    "CreateGlobalTable": Needs.global_table,
    "BatchGetItem": Needs.batch_get_item,
    "BatchWriteItem": Needs.batch_write_item,
    "TransactGetItems": Needs.transaction,
    "TransactWriteItems": Needs.transaction,
    "ExecuteStatement": Needs.statement,
    "BatchExecuteStatement": Needs.statements,
    "ExecuteTransaction": Needs.transact_statements,
}

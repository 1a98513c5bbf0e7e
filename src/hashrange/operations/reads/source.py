"""Finding what a Query or Scan reads, and where it goes on."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.engine.source import Source
from hashrange.errors import InvalidContent, ResourceNotFoundException, ValidationException
from hashrange.operations.operation import Request
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.types import Attributes

INVALID_START = "The provided starting key is invalid"


def check_start_key_values(request: Request) -> None:
    """Check the values of ExclusiveStartKey; what is wrong with them is said of the starting key."""
    start: Attributes | None = request.get("ExclusiveStartKey")
    if start is None:
        return
    try:
        check_attributes(start)
    except InvalidContent:
        raise
    except ValidationException as error:
        raise ValidationException(f"{INVALID_START}: {error.message}") from None


def find_source(db: Database, snapshot: Snapshot, request: Request) -> Source:
    """The table or index that the request names, if it can be read as the request wants."""
    table = db.table(snapshot, request.scope, request.members["TableName"])
    name = request.get("IndexName")
    if name is None:
        return Source.of(table, None)
    index = table.index(name)
    if index is None:
        raise ValidationException(f"The table does not have the specified index: {name}")
    if index.is_global and request.get("ConsistentRead"):
        raise ValidationException("Consistent reads are not supported on global secondary indexes")
    if not index.is_readable:
        raise ValidationException(f"Cannot read from backfilling global secondary index: {name}")
    return Source.of(table, index)


def require_same(now: Source, before: Source) -> None:
    """Between two parts of a page a table may be deleted, and another one made in its name."""
    if now.prefix != before.prefix:
        raise ResourceNotFoundException()

"""ListTagsOfResource: the tags of a table, ten at a time."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.errors import ValidationException
from hashrange.limits import TAGS_PAGE, TAGS_PER_RESOURCE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.tags.rules import read_tags, tagged_table

# A token is the number of tags before its page.
PAGES = {str(start): start for start in range(TAGS_PAGE, TAGS_PER_RESOURCE_MAX, TAGS_PAGE)}


def list_tags_of_resource(db: Database, request: Request) -> dict[str, Any]:
    start = position(request.get("NextToken"))
    with db.read() as snapshot:
        table = tagged_table(db, snapshot, request.scope, request["ResourceArn"])
        tags = list(read_tags(snapshot, table).items())
    answer: dict[str, Any] = {"Tags": [{"Key": key, "Value": value} for key, value in tags[start : start + TAGS_PAGE]]}
    if start + TAGS_PAGE < len(tags):
        answer["NextToken"] = str(start + TAGS_PAGE)
    return answer


def position(token: str | None) -> int:
    """Where a page starts."""
    if token is None:
        return 0
    if token not in PAGES:
        raise ValidationException(f"{INVALID}NextToken is invalid")
    return PAGES[token]


OPERATION = Operation(name="ListTagsOfResource", run=list_tags_of_resource)

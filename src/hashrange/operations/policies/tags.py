"""Tags, as conditions ask about them: `aws:ResourceTag/team`, `aws:RequestTag/team` and `aws:TagKeys`.

Condition keys do not tell capital letters from small ones, so neither do the names of tags here.
"""

from __future__ import annotations

from collections.abc import Iterable

from hashrange.auth.policy.context import Values
from hashrange.engine.database import Database
from hashrange.operations.operation import Request
from hashrange.operations.policies.places import Place
from hashrange.operations.tags.rules import read_tags
from hashrange.storage.interface import Snapshot

RESOURCE_TAG = "aws:resourcetag/"
REQUEST_TAG = "aws:requesttag/"
TAG_KEYS = "aws:tagkeys"


class Tags:
    """The tags that a table has, and those that a request brings or takes away."""

    __slots__ = ("_db", "_request", "_snapshot")

    def __init__(self, db: Database, snapshot: Snapshot, request: Request) -> None:
        self._db = db
        self._snapshot = snapshot
        self._request = request

    def find(self, key: str, place: Place) -> Values | None:
        """The values of a condition key; None for one that is not about tags, or a tag that is not there."""
        if key.startswith(RESOURCE_TAG):
            table = place.table(self._db, self._snapshot)
            tags = {} if table is None else read_tags(self._snapshot, table.definition)
            return _values(tags.items(), key.removeprefix(RESOURCE_TAG))
        if key.startswith(REQUEST_TAG):
            return _values(self._brought(), key.removeprefix(REQUEST_TAG))
        if key == TAG_KEYS:
            return (*(name for name, _ in self._brought()), *(self._request.get("TagKeys") or ()))
        return None

    def _brought(self) -> list[tuple[str, str]]:
        return [(tag["Key"], tag["Value"]) for tag in self._request.get("Tags") or ()]


def _values(tags: Iterable[tuple[str, str]], name: str) -> Values | None:
    return tuple(value for key, value in tags if key.lower() == name) or None

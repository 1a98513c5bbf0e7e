"""What requests do to items, and what policies may ask about it: the condition keys of DynamoDB.

An access finds the values of a key only when a policy asks for it. It has to see a request as the operation will: names
are replaced, numbers are in their one spelling, and what is not said has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hashrange.auth.policy.context import Values
from hashrange.engine.database import Database
from hashrange.engine.source import Source
from hashrange.errors import ValidationException
from hashrange.expressions import KeyClause
from hashrange.expressions.checks import constant_of
from hashrange.expressions.placeholders import checked_names
from hashrange.expressions.request import KEY_CONDITIONS
from hashrange.operations.policies.attributes import attributes_of
from hashrange.operations.policies.places import Place
from hashrange.storage.interface import Snapshot
from hashrange.values import number
from hashrange.values.attribute import MalformedValue

SPECIFIC, EVERY, PROJECTED = "SPECIFIC_ATTRIBUTES", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"
KEY_TYPES = ("S", "N", "B")


class Access:
    """One use of the items of a table or index. The kinds of access differ in where they find keys and names."""

    def __init__(
        self,
        db: Database,
        snapshot: Snapshot,
        place: Place,
        members: Mapping[str, Any],
        *,
        consumed: str = "NONE",
        enclosing: str | None = None,
    ) -> None:
        """`members` is the part of the request that is about this; `consumed` is its ReturnConsumedCapacity."""
        self._db = db
        self._snapshot = snapshot
        self._place = place
        self._members = members
        self._consumed = consumed
        self._enclosing = enclosing

    def find(self, key: str) -> Values | None:
        """The values of a condition key; None for one that this access does not have."""
        find = CONDITION_KEYS.get(key)
        return None if find is None else find(self)

    def source(self) -> Source | None:
        """The table or index, if there is such a one."""
        table = self._place.table(self._db, self._snapshot)
        if table is None or self._place.index_name is None:
            return None if table is None else Source.of(table, None)
        index = table.index(self._place.index_name)
        return None if index is None else Source.of(table, index)

    def partition_values(self, number: int) -> Values | None:
        """The values that the access names for one attribute of the partition key."""
        source = self.source()
        if source is None or number >= len(source.partition):
            return None
        return tuple(dict.fromkeys(self._values_of(source.partition[number][0])))

    def attributes(self) -> Values:
        return tuple(dict.fromkeys(self._names()))

    def select(self) -> Values | None:
        return None

    def return_values(self) -> Values | None:
        return None

    def is_full_scan(self) -> Values | None:
        return None

    def consumed(self) -> Values:
        return (self._consumed,)

    def enclosing(self) -> Values | None:
        return None if self._enclosing is None else (self._enclosing,)

    def _values_of(self, attribute: str) -> Iterator[str]:
        return iter(())

    def _names(self) -> Iterator[str]:
        return attributes_of(self._members)

    def _projected(self) -> Values:
        is_specific = "ProjectionExpression" in self._members or "AttributesToGet" in self._members
        return (SPECIFIC if is_specific else EVERY,)


CONDITION_KEYS: dict[str, Callable[[Access], Values | None]] = {
    "dynamodb:leadingkeys": lambda access: access.partition_values(0),
    "dynamodb:firstpartitionkeyvalues": lambda access: access.partition_values(0),
    "dynamodb:secondpartitionkeyvalues": lambda access: access.partition_values(1),
    "dynamodb:thirdpartitionkeyvalues": lambda access: access.partition_values(2),
    "dynamodb:fourthpartitionkeyvalues": lambda access: access.partition_values(3),
    "dynamodb:attributes": Access.attributes,
    "dynamodb:select": lambda access: access.select(),
    "dynamodb:returnvalues": lambda access: access.return_values(),
    "dynamodb:returnconsumedcapacity": Access.consumed,
    "dynamodb:enclosingoperation": Access.enclosing,
    "dynamodb:fulltablescan": lambda access: access.is_full_scan(),
}


class ItemsRead(Access):
    """Items read by their keys: a GetItem, or the part of a batch or transaction that is about one table."""

    def _keys(self) -> Iterable[Mapping[str, Any]]:
        keys: Iterable[Mapping[str, Any]] = self._members.get("Keys") or (self._members["Key"],)
        return keys

    def _values_of(self, attribute: str) -> Iterator[str]:
        return (text for key in self._keys() for text in texts_of(key.get(attribute)))

    def _names(self) -> Iterator[str]:
        yield from (name for key in self._keys() for name in key)
        yield from attributes_of(self._members)

    def select(self) -> Values:
        return self._projected()


class ItemWritten(Access):
    """One item put, updated, deleted or checked."""

    def _values_of(self, attribute: str) -> Iterator[str]:
        whole = self._members.get("Item") or self._members.get("Key") or {}
        return texts_of(whole.get(attribute))

    def return_values(self) -> Values:
        """An item that is shown when a condition fails is shown whole."""
        shown = self._members.get("ReturnValuesOnConditionCheckFailure", "NONE")
        return (self._members.get("ReturnValues", "NONE") if shown == "NONE" else shown,)


class ItemsWritten(Access):
    """The part of a BatchWriteItem that is about one table; its `elements` are puts and deletions."""

    def __init__(
        self, db: Database, snapshot: Snapshot, place: Place, elements: Sequence[Mapping[str, Any]], *, consumed: str
    ) -> None:
        super().__init__(db, snapshot, place, {}, consumed=consumed)
        self._elements = elements

    def _items(self) -> Iterator[Mapping[str, Any]]:
        for element in self._elements:
            put, deletion = element.get("PutRequest"), element.get("DeleteRequest")
            yield {} if put is None else put["Item"]
            yield {} if deletion is None else deletion["Key"]

    def _values_of(self, attribute: str) -> Iterator[str]:
        return (text for item in self._items() for text in texts_of(item.get(attribute)))

    def _names(self) -> Iterator[str]:
        return (name for item in self._items() for name in item)


class Scanned(Access):
    """A table or index read from end to end."""

    def select(self) -> Values:
        wanted = self._members.get("Select")
        if wanted is not None:
            return (wanted,)
        [projected] = self._projected()
        return (PROJECTED if projected == EVERY and self._place.index_name is not None else projected,)


class Queried(Scanned):
    """One partition read."""

    def _values_of(self, attribute: str) -> Iterator[str]:
        if "KeyConditions" in self._members:
            condition = self._members["KeyConditions"].get(attribute) or {}
            for value in condition.get("AttributeValueList") or ():
                yield from texts_of(value)
            return
        values = self._members.get("ExpressionAttributeValues") or {}
        for clause in self._clauses():
            if clause.attribute == attribute:
                for operand in clause.operands:
                    constant = constant_of(operand)
                    assert constant is not None
                    with suppress(KeyError):  # one that is not defined makes the request fail
                        yield from texts_of(constant(values))

    def _clauses(self) -> tuple[KeyClause, ...]:
        expression = self._members.get("KeyConditionExpression")
        if expression is None:
            return ()
        given = self._members.get("ExpressionAttributeNames")
        names = {} if given is None else checked_names(given)
        compiled = KEY_CONDITIONS.bind(expression, names).compiled
        return () if compiled is None else compiled.clauses


def texts_of(value: Any) -> Iterator[str]:
    """A key's value as policies compare it: a number in its one spelling, a binary as base64 text."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise MalformedValue
    for kind in KEY_TYPES:
        content = value.get(kind)
        if isinstance(content, str):
            yield spelled(content) if kind == "N" else content


def spelled(text: str) -> str:
    try:
        return number.normalise(text)
    except ValidationException:  # no item has such a key
        return text

"""What a statement says, once it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hashrange.expressions.checks import Values
from hashrange.partiql.alteration import Alteration
from hashrange.partiql.literals import Literal
from hashrange.partiql.projection import FlatProjection
from hashrange.partiql.where import Where


@dataclass(frozen=True, slots=True)
class TableName:
    """What FROM, INTO or UPDATE names: a table, or an index of it."""

    name: str
    index: str | None


@dataclass(frozen=True, slots=True)
class OrderKey:
    name: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Select:
    """`projection` None is `*`."""

    table: TableName
    projection: FlatProjection | None
    where: Where
    order: tuple[OrderKey, ...] = ()

    def check(self, values: Values) -> None:
        self.where.check(values)


@dataclass(frozen=True, slots=True)
class Insert:
    """`item` is a map, or a parameter that has to be one."""

    table: TableName
    item: Literal

    def check(self, values: Values) -> None:
        """An item has no rules beyond those of its values."""


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """`returning` is the ReturnValues of UpdateItem that means the same."""

    table: TableName
    alteration: Alteration
    where: Where
    returning: str = "NONE"

    def check(self, values: Values) -> None:
        self.alteration.check(values)
        self.where.check(values)


@dataclass(frozen=True, slots=True)
class Delete:
    table: TableName
    where: Where
    returning: str = "NONE"

    def check(self, values: Values) -> None:
        self.where.check(values)


@dataclass(frozen=True, slots=True)
class Exists:
    """`refusal` is what is said of it outside of a transaction."""

    select: Select
    refusal: str

    @property
    def table(self) -> TableName:
        return self.select.table

    def check(self, values: Values) -> None:
        self.select.check(values)


Body = Select | Insert | UpdateStatement | Delete | Exists


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as its text alone decides it: good for every request that sends the same text."""

    body: Body
    parameter_count: int
    templates: Mapping[str, Literal]  # literals that hold parameters, by their placeholder

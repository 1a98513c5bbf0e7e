"""What a table is: its keys, its indexes, its settings. Immutable values, kept in the catalog as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from hashrange.limits import RECOVERY_DAYS_MAX

GLOBAL = "GLOBAL"
LOCAL = "LOCAL"

ALL = "ALL"
INCLUDE = "INCLUDE"

PROVISIONED = "PROVISIONED"
PAY_PER_REQUEST = "PAY_PER_REQUEST"


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The attributes that make a key. Only global secondary indexes may have several of either."""

    partition: tuple[str, ...]
    sort: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.partition + self.sort

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> KeySchema:
        return cls(tuple(data["partition"]), tuple(data["sort"]))


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned capacity, and what DescribeTable tells about its changes."""

    read: int = 0
    write: int = 0
    last_increase_micros: int | None = None
    last_decrease_micros: int | None = None
    decreases_today: int = 0
    decreases_day: int = 0  # the UTC day that `decreases_today` counts, in days since the epoch
    highest_read: int = 0  # that was provisioned before
    highest_write: int = 0

    def with_units(self, read: int, write: int) -> Throughput:
        """Other units from now on; those of before are remembered as what the table once had."""
        highest_read, highest_write = max(self.highest_read, self.read), max(self.highest_write, self.write)
        return replace(self, read=read, write=write, highest_read=highest_read, highest_write=highest_write)


@dataclass(frozen=True, slots=True)
class Insights:
    """Whether the keys that are used most are being watched. A change shows as under way until it settles."""

    mode: str | None  # as ContributorInsightsMode; None: they are not
    updated_at_micros: int
    settles_at_micros: int

    @classmethod
    def load(cls, data: dict[str, Any] | None) -> Insights | None:
        return None if data is None else cls(**data)


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """A secondary index. `number` names it in keys and is never used twice within a table."""

    name: str
    number: int
    kind: str
    key: KeySchema
    projection: str
    non_key_attributes: tuple[str, ...] = ()
    throughput: Throughput = field(default_factory=Throughput)
    status: str = "ACTIVE"
    backfilling: bool = False
    on_demand: Mapping[str, int] | None = None
    warm: Mapping[str, int] | None = None
    insights: Insights | None = None

    @classmethod
    def load(cls, data: dict[str, Any]) -> IndexDefinition:
        return cls(
            **{
                **data,
                "insights": Insights.load(data.get("insights")),
                "key": KeySchema.load(data["key"]),
                "non_key_attributes": tuple(data["non_key_attributes"]),
                "throughput": Throughput(**data["throughput"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """What a table is restored from: another one as it was at a moment, perhaps by way of a backup."""

    table_arn: str
    at_micros: int
    backup_arn: str | None = None


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """Everything about a table but its items and tags."""

    id: int
    uuid: str
    account: str
    region: str
    name: str
    key: KeySchema
    attribute_types: Mapping[str, str]
    created_at_micros: int
    status: str = "ACTIVE"
    indexes: tuple[IndexDefinition, ...] = ()
    last_index_number: int = 0
    billing_mode: str = PROVISIONED
    on_demand_since_micros: int | None = None
    throughput: Throughput = field(default_factory=Throughput)
    on_demand: Mapping[str, int] | None = None
    warm: Mapping[str, int] | None = None  # units per second that it takes at once: asked for, grown to, or once had
    on_demand_switches_micros: tuple[int, ...] = ()  # the latest changes from provisioned to on demand
    partition_splits: tuple[str, ...] = ()  # stored keys (in hexadecimal) at which hot partitions were split
    table_class: str | None = None
    table_class_changes_micros: tuple[int, ...] = ()
    deletion_protected: bool = False
    ttl_attribute: str | None = None
    stream_view: str | None = None  # what the enabled stream shows of changes; None while there is none
    stream_label: str | None = None  # of the latest stream, enabled or not
    log_slices: int = 1  # how many parts the change log of the table has; never changes
    log_readers: tuple[str, ...] = ()  # who reads the change log besides the stream; see `engine.log_readers`
    recovery_since_micros: int | None = None  # how far back point-in-time recovery may go at most; None: it is off
    recovery_days: int = RECOVERY_DAYS_MAX
    restored_from: Origin | None = None  # what the table is being filled from, while it is
    insights: Insights | None = None

    @property
    def arn(self) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{self.name}"

    @property
    def local_indexes(self) -> tuple[IndexDefinition, ...]:
        return tuple(index for index in self.indexes if index.kind == LOCAL)

    @property
    def global_indexes(self) -> tuple[IndexDefinition, ...]:
        return tuple(index for index in self.indexes if index.kind == GLOBAL)

    def index(self, name: str) -> IndexDefinition | None:
        return next((index for index in self.indexes if index.name == name), None)

    @property
    def is_logged(self) -> bool:
        """Whether somebody reads the table's change log."""
        return self.stream_view is not None or bool(self.log_readers)

    @property
    def is_watched(self) -> bool:
        """Whether the most used keys of the table or of one of its indexes are to be noted."""
        watched = (self.insights, *(index.insights for index in self.indexes))
        return any(insights is not None and insights.mode is not None for insights in watched)

    @property
    def keeps_old_images(self) -> bool:
        return self.stream_view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") or bool(self.log_readers)

    @property
    def keeps_new_images(self) -> bool:
        return self.stream_view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES") or bool(self.log_readers)

    def with_index(self, index: IndexDefinition) -> TableDefinition:
        """The definition with that index in the place of the one with its name."""
        return replace(self, indexes=tuple(index if each.name == index.name else each for each in self.indexes))

    @classmethod
    def load(cls, data: dict[str, Any]) -> TableDefinition:
        origin = data.get("restored_from")
        return cls(
            **{
                **data,
                "key": KeySchema.load(data["key"]),
                "indexes": tuple(IndexDefinition.load(index) for index in data["indexes"]),
                "throughput": Throughput(**data["throughput"]),
                "table_class_changes_micros": tuple(data["table_class_changes_micros"]),
                "on_demand_switches_micros": tuple(data.get("on_demand_switches_micros", ())),
                "partition_splits": tuple(data.get("partition_splits", ())),
                "log_readers": tuple(data.get("log_readers", ())),
                "restored_from": None if origin is None else Origin(**origin),
                "insights": Insights.load(data.get("insights")),
            }
        )


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What the catalog keeps of a table: how it is now, and how it will be from a moment on.

    A change that takes time (CREATING, UPDATING, DELETING) is written once, with its outcome. Nobody has to come
    back and finish it: whoever reads the record after `settles_at_micros` sees the outcome.
    """

    now: TableDefinition
    outcome: TableDefinition | None  # None: by then the table is gone
    settles_at_micros: int

    def at(self, micros: int) -> TableDefinition | None:
        """The table as it is at that time; None if it does not exist any more."""
        return self.now if micros < self.settles_at_micros else self.outcome

    def everywhere(self, change: Callable[[TableDefinition], TableDefinition]) -> TableRecord:
        """The record with a change that takes effect at once, also while another one is under way."""
        outcome = None if self.outcome is None else change(self.outcome)
        return replace(self, now=change(self.now), outcome=outcome)

    def dump(self) -> bytes:
        return orjson.dumps(self)

    @classmethod
    def load(cls, data: bytes) -> TableRecord:
        fields = orjson.loads(data)
        outcome = fields["outcome"]
        return cls(
            now=TableDefinition.load(fields["now"]),
            outcome=None if outcome is None else TableDefinition.load(outcome),
            settles_at_micros=fields["settles_at_micros"],
        )

    @classmethod
    def settled(cls, definition: TableDefinition) -> TableRecord:
        return cls(now=definition, outcome=definition, settles_at_micros=0)

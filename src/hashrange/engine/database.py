"""The database: a store with a catalog, a clock and its settings. Operations are handed one of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hashrange.clock import Clock
from hashrange.engine.catalog import Catalog
from hashrange.engine.table import MaintainerFactory
from hashrange.engine.usage import Ledger, Recorder, Unlimited, Unrecorded, Usage, Use
from hashrange.limits import ITEM_COLLECTION_BYTES_MAX
from hashrange.storage.interface import Store


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """What an operator may choose about how the database behaves."""

    table_delay_micros: int = 0  # how long tables stay CREATING, UPDATING and DELETING
    index_delay_micros: int = 0  # how much later than to tables writes come to global secondary indexes
    stream_shards: int = 1  # how many open shards the streams of new tables have
    stream_shard_micros: int = 4 * 3600 * 1_000_000  # after this long a shard is followed by its child
    item_collection_bytes_max: int = ITEM_COLLECTION_BYTES_MAX
    on_demand_switches_max: int = 4  # how often in a day a table may change from provisioned to on demand
    functions: Mapping[str, str] = field(default_factory=dict)  # targets that triggers may call, by name
    kinesis_endpoint: str | None = None  # where the records of Kinesis destinations go
    buckets: str | None = None  # the directory whose folders are the buckets of exports and imports
    s3_endpoint: str | None = None  # where the buckets are instead, if they are behind an S3 endpoint


class Database:
    """Tables and items on a store."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: DatabaseSettings | None = None,
        factories: Sequence[MaintainerFactory] = (),
    ) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings or DatabaseSettings()
        self.catalog = Catalog(clock, factories)
        self.read = store.read
        self.table = self.catalog.table  # one that is ready to serve
        self.ledger: Ledger = Unlimited()
        self.recorder: Recorder = Unrecorded()

    def spend(self, usage: Usage, use: Use) -> None:
        """Use capacity, or be throttled."""
        table = use.table
        if table.allowance is not None or not table.allowance_is_known:  # most tables have no limits, and it is known
            self.ledger.admit(use, usage)
        usage.uses.append(use)

"""What we ask of each system: a table with its first items, a kind of request, and checks that it was really done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import checks
import items
from client import Client, Json
from items import ITEMS, MILLION, PARTITION_ITEMS

WARM_UP = 100  # requests sent and checked before each measurement
PUTS_PER_SECOND_MAX = 30_000
DELETES_PER_SECOND_MAX = 22_000  # for one second: every one of them has to be put there first
FAMILIES_PER_SECOND_MAX = 3_000
SMALL_ORDERS = (ITEMS - items.LARGE_PARTITIONS * items.LARGE_PARTITION_ITEMS) // PARTITION_ITEMS
LARGE_ORDERS = MILLION // PARTITION_ITEMS


@dataclass(frozen=True)
class Dataset:
    """A table and the items it starts with."""

    name: str
    table: Json
    items: Callable[[], Iterable[Json]] = tuple
    large: bool = False
    calls: tuple[tuple[str, Json], ...] = ()  # that set the table up further


INDEXES = {"owner": "S", "city": "S", "score": "N"}
STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
EMPTY = Dataset("empty", items.table("pk"))
EMPTY_INDEXED = Dataset("empty with 3 indexes", items.table("pk", indexes=INDEXES))
EMPTY_STREAMED = Dataset("empty with a stream", items.table("pk") | STREAM)
EMPTY_RECOVERY = replace(EMPTY_STREAMED, name="recovery", calls=(("UpdateContinuousBackups", items.recovery()),))
USERS = Dataset("10,000 x 1 KB", items.table("pk"), partial(items.items_of, ITEMS))
NESTED = Dataset("10,000 nested", items.table("pk"), partial(items.items_of, ITEMS, items.item_nested))
INDEXED = Dataset("10,000 with 3 indexes", items.table("pk", indexes=INDEXES), partial(items.items_of, ITEMS))
ORDERS = Dataset("10,000 x 250 B", items.table("pk", "sk"), partial(items.orders, SMALL_ORDERS))
USERS_MILLION = Dataset("1,000,000 x 1 KB", items.table("pk"), partial(items.items_of, MILLION), large=True)
ORDERS_MILLION = Dataset("1,000,000 x 250 B", items.table("pk", "sk"), partial(items.orders, LARGE_ORDERS), large=True)


@dataclass(frozen=True)
class Workload:
    """`keys` says which key numbers requests are made from: any of `key_count`, evenly or as Zipf has it, each once, or
    each twice, in turns of one kind and of the other.

    `state` says whether servers can be kept for the next measurement: those that are read from, and those where writes
    leave as many items of the same size; a `fresh` one starts with new files each time.
    """

    name: str
    title: str
    operation: str
    members: Callable[[int], Json]
    expect: Callable[[Json, int], bool]
    dataset: Dataset
    state: Literal["read", "steady", "fresh"] = "read"
    keys: Literal["even", "zipf", "once", "twice"] = "even"
    key_count: int = ITEMS
    answer_bytes_min: int = 0
    seconds_max: int = 600
    reads_percent: int = 0  # this share is GetItem instead
    counts: bool = False  # every request adds one to a counter
    verify: Callable[[Client, range], str | None] = checks.nothing

    @property
    def writes(self) -> bool:
        return self.state != "read"

    def request(self, key: int, turn: int) -> items.Request:
        """The request of a key; reads are spread evenly over the turns of a mixed workload."""
        if turn * self.reads_percent % 100 + self.reads_percent >= 100:
            return "GetItem", items.get(key)
        members = self.members(key)
        return self.operation, items.rewritten(members, turn) if self.keys == "twice" else members


def all_workloads(seconds: int) -> tuple[Workload, ...]:
    """Every workload, for measurements of so many seconds."""
    return (*reads(), *queries(), *steady_writes(), *fresh_writes(seconds), *million())


def reads() -> tuple[Workload, ...]:
    get = Workload("get", "GetItem 1 KB", "GetItem", items.get, checks.is_item, USERS, answer_bytes_min=1_000)
    scan = replace(get, name="scan", title="Scan, a page of 1 MB", operation="Scan", members=items.scan)
    batch = replace(get, name="batch-get", title="BatchGetItem 100", operation="BatchGetItem", members=items.batch_get)
    missing = replace(get, name="get-missing", title="GetItem, missing", members=items.get_missing, answer_bytes_min=0)
    return (
        get,
        replace(get, name="get-consistent", title="GetItem 1 KB, consistent", members=items.get_consistent),
        replace(missing, expect=checks.is_empty),
        replace(batch, expect=checks.is_batch, answer_bytes_min=100_000),
        replace(scan, expect=checks.is_megabyte, answer_bytes_min=800_000),
        replace(get, name="get-nested", title="GetItem 1 KB, nested", dataset=NESTED, expect=checks.is_nested),
    )


def queries() -> tuple[Workload, ...]:
    whole, even = range(PARTITION_ITEMS), range(0, PARTITION_ITEMS, 2)
    large, large_even = range(items.LARGE_PARTITION_ITEMS), range(0, items.LARGE_PARTITION_ITEMS, 2)
    query = Workload("query", "Query 50 x 250 B", "Query", items.query, checks.IsPage(whole), ORDERS)
    query = replace(query, key_count=SMALL_ORDERS, answer_bytes_min=50 * 250)

    def variant(name: str, title: str, members: Callable[[int], Json], page: checks.IsPage) -> Workload:
        shown = len(page.sorts or "1") * (25 if page.attributes else 250)
        return replace(query, name=name, title=title, members=members, expect=page, answer_bytes_min=shown)

    few = ("sk", "total")
    return (
        query,
        variant("query-1", "Query 1 item", items.query_one, checks.IsPage(None)),
        variant("query-filter", "Query 50, filter", lambda k: items.filtered(items.query(k)), checks.IsPage(even)),
        variant(
            "query-few", "Query 50, projection", lambda k: items.projected(items.query(k)), checks.IsPage(whole, few)
        ),
        variant("query-1000", "Query 1,000 x 250 B", items.query_large, checks.IsPage(large)),
        variant(
            "query-1000-filter",
            "Query 1,000, filter",
            lambda k: items.filtered(items.query_large(k)),
            checks.IsPage(large_even),
        ),
        variant(
            "query-1000-few",
            "Query 1,000, projection",
            lambda k: items.projected(items.query_large(k)),
            checks.IsPage(large, few),
        ),
        Workload(
            "query-gsi",
            "Query 50 x 1 KB of a GSI",
            "Query",
            items.query_index,
            checks.is_city,
            INDEXED,
            answer_bytes_min=50_000,
        ),
    )


def steady_writes() -> tuple[Workload, ...]:
    over = Workload("put-over", "PutItem 1 KB, overwrite", "PutItem", items.put, checks.is_empty, USERS, "steady")
    over = replace(over, verify=checks.still_whole, keys="twice")
    ycsb = replace(over, operation="UpdateItem", members=items.set_text, expect=checks.is_read_or_done, keys="zipf")
    return (
        over,
        Workload(
            "update",
            "UpdateItem, condition + ADD",
            "UpdateItem",
            items.update,
            checks.is_counted,
            USERS,
            "steady",
            counts=True,
        ),
        replace(ycsb, name="ycsb-a", title="YCSB A: 50 % reads", reads_percent=50),
        replace(ycsb, name="ycsb-b", title="YCSB B: 95 % reads", reads_percent=95),
    )


def fresh_writes(seconds: int) -> tuple[Workload, ...]:
    """Workloads that write or delete what was not written or deleted before."""
    puts = WARM_UP + seconds * PUTS_PER_SECOND_MAX
    put = Workload("put", "PutItem 1 KB, new", "PutItem", items.put, checks.is_empty, EMPTY, "fresh", "once", puts)
    put = replace(put, verify=checks.all_there)
    deletes = WARM_UP + DELETES_PER_SECOND_MAX
    deleted = Dataset("to delete", EMPTY.table, partial(items.items_of, deletes))
    transact = replace(put, name="transact", title="TransactWriteItems 2", operation="TransactWriteItems")
    batch = replace(put, name="batch-write", title="BatchWriteItem 25", operation="BatchWriteItem")
    families = WARM_UP + seconds * FAMILIES_PER_SECOND_MAX
    return (
        put,
        replace(put, name="put-gsi", title="PutItem 1 KB, 3 GSIs", dataset=EMPTY_INDEXED, verify=checks.all_indexed),
        replace(put, name="put-stream", title="PutItem 1 KB, stream", dataset=EMPTY_STREAMED),
        replace(put, name="put-recovery", title="PutItem 1 KB, stream + PITR", dataset=EMPTY_RECOVERY),
        replace(
            put,
            name="delete",
            title="DeleteItem",
            operation="DeleteItem",
            members=items.get,
            dataset=deleted,
            key_count=deletes,
            seconds_max=1,
            verify=checks.all_gone,
        ),
        replace(transact, members=items.transact, verify=partial(checks.families_there, count=2)),
        replace(
            transact,
            name="transact-25",
            title="TransactWriteItems 25",
            members=partial(items.transact, count=25),
            key_count=families,
            verify=checks.families_there,
        ),
        replace(
            batch,
            members=items.batch_write,
            expect=checks.is_all_processed,
            key_count=families,
            verify=checks.families_there,
        ),
    )


def million() -> tuple[Workload, ...]:
    """The same on a table of a million items."""
    small = {each.name: each for each in (*reads(), *queries(), *steady_writes())}
    large = []
    for name in ("get", "query", "put-over", "update", "ycsb-a", "ycsb-b"):
        workload = small[name]
        dataset, count = (ORDERS_MILLION, LARGE_ORDERS) if name == "query" else (USERS_MILLION, MILLION)
        title = f"{workload.title}, of 1,000,000"
        # Counters are not added up: that would read the whole table twice for each measurement.
        workload = replace(workload, name=f"{name}-million", title=title, dataset=dataset, key_count=count)
        large.append(replace(workload, counts=False))
    return tuple(large)


# The short run: at how many connections each of these is measured. -------------------------------------------------

HEADLINE = {
    "get": (16, 64),
    "query": (16,),
    "query-1000": (16,),
    "scan": (16,),
    "batch-get": (16,),
    "update": (16, 64),
    "ycsb-b": (64,),
    "put": (16, 64),
    "delete": (16, 64),
    "transact": (16,),
    "batch-write": (16,),
}
SOME = ("get", "query", "put")
HEADLINE_SOME = {  # systems that take part in some workloads of it, at the first number of connections only
    "hashrange-memory": ("put",),
    "hashrange-unsynced": (),
    "hashrange-verify": ("get", "put"),
    "extenddb-memory": ("put",),
    "dynalite": SOME,
    "dynalite-memory": SOME,
    "ministack": SOME,
    "moto": SOME,
}
HEADLINE_UNSYNCED = ("put",)  # the others take part in these writes also if they do not sync

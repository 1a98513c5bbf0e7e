"""What we ask of each system: a table, its first items, one kind of request, and checks that it was really done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import checks
import items
from client import Client, Json

WARM_UP = 200  # requests sent and checked before each measurement
DELETES_PER_SECOND_MAX = 25_000
MILLION = 1_000_000


@dataclass(frozen=True)
class Workload:
    """`keys` is "random" (any of `key_count`) or "count" (0, 1, 2, ..., none twice, at most `key_count` if given)."""

    name: str
    title: str
    operation: str
    request: Callable[[str, int], Json]
    expect: Callable[[Json], bool]
    table: Json
    settings: tuple[tuple[str, Json], ...] = ()  # calls that set the table up further
    first_items: Callable[[], Iterable[Json]] = tuple
    keys: str = "random"
    key_count: int = items.ITEMS
    writes: bool = True
    answer_bytes_min: int = 0
    seconds_max: int = 600
    verify: Callable[[Client, range], str | None] = checks.nothing
    only_in_full: bool = False


def all_workloads(seconds: int) -> tuple[Workload, ...]:
    """Every workload, for measurements of so many seconds."""
    thousand = partial(items.items_1k, items.ITEMS)
    delete_seconds = min(seconds, 2)
    delete_count = WARM_UP + delete_seconds * DELETES_PER_SECOND_MAX
    plain = items.table("pk")
    streamed = {**plain, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
    indexed = items.table("pk", indexes={"owner": "S", "city": "S", "score": "N"})

    read = Workload("get", "GetItem 1 KB", "GetItem", items.get, checks.is_item_1k, plain, thousand, writes=False)
    read = replace(read, answer_bytes_min=1_000)
    put = Workload("put", "PutItem 1 KB, new", "PutItem", items.put, checks.is_empty, plain, keys="count", key_count=0)
    put = replace(put, verify=checks.all_there)
    return (
        read,
        replace(
            read,
            name="get-nested",
            title="GetItem 1 KB, nested",
            first_items=partial(items.items_1k, items.ITEMS, items.item_nested),
            expect=checks.is_item_nested,
        ),
        replace(
            read,
            name="get-missing",
            title="GetItem, missing",
            request=items.get_missing,
            expect=checks.is_empty,
            answer_bytes_min=0,
        ),
        Workload(
            "query",
            "Query 50 x 250 B",
            "Query",
            items.query,
            checks.is_page,
            items.table("pk", "sk"),
            first_items=partial(items.items_250, items.PARTITIONS),
            key_count=items.PARTITIONS,
            writes=False,
            answer_bytes_min=50 * 250,
        ),
        put,
        replace(
            put,
            name="put-over",
            title="PutItem 1 KB, overwrite",
            first_items=thousand,
            keys="random",
            key_count=items.ITEMS,
            verify=checks.nothing,
        ),
        replace(put, name="put-gsi", title="PutItem 1 KB, 3 GSIs", table=indexed, verify=checks.all_indexed),
        replace(put, name="put-stream", title="PutItem 1 KB, stream", table=streamed),
        replace(
            put,
            name="put-recovery",
            title="PutItem 1 KB, stream + PITR",
            table=streamed,
            settings=(("UpdateContinuousBackups", items.recovery()),),
        ),
        Workload(
            "update",
            "UpdateItem, condition + ADD",
            "UpdateItem",
            items.update,
            checks.is_counted,
            plain,
            first_items=thousand,
            verify=checks.counters_add_up,
        ),
        Workload(
            "delete",
            "DeleteItem",
            "DeleteItem",
            items.get,
            checks.is_empty,
            plain,
            first_items=partial(items.items_1k, delete_count),
            keys="count",
            key_count=delete_count,
            seconds_max=delete_seconds,
            verify=checks.all_gone,
        ),
        replace(
            put,
            name="transact",
            title="TransactWriteItems 2 puts",
            operation="TransactWriteItems",
            request=items.transact_two,
            verify=checks.twins_there,
        ),
        replace(
            read,
            name="get-million",
            title="GetItem 1 KB of 1,000,000",
            first_items=partial(items.items_1k, MILLION),
            key_count=MILLION,
            only_in_full=True,
        ),
    )

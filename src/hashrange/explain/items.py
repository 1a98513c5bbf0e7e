"""Reads and writes of items that are named by their keys: what each costs, and why.

What a request pays is already known (it is its `Use`); the sizes it is made of are looked up again, so every line of
arithmetic ends in the number that is charged.
"""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.engine.index import Index
from hashrange.engine.units import read_units, write_units
from hashrange.engine.usage import WRITE, Use
from hashrange.explain.explanation import LOOKUP, WRITE_ITEM, Step
from hashrange.explain.words import counted, key_text, read_arithmetic, units, write_arithmetic
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.item import stored_size

TRANSACTION_FACTOR = 2.0

Size = int | None
"""The bytes of an item or index entry; None where there is none."""


def item_step(snapshot: Snapshot, use: Use, plan: Plan | None) -> Step:
    """What one use of named items did. `plan` is what would be written, unless the request fails."""
    table = use.table
    step = Step(
        table=table.name,
        index=None,
        access=WRITE_ITEM if use.kind == WRITE else LOOKUP,
        what=keys_text(use),
        kind=use.kind,
        consumed=use.consumed,
    )
    if use.kind == WRITE:
        step.arithmetic = list(write_lines(snapshot, use, {} if plan is None else dict(plan.mutations)))
    else:
        step.arithmetic = list(read_lines(snapshot, use))
    return step


def keys_text(use: Use) -> str:
    names = use.table.key.names
    first = key_text(use.keys[0], names)
    return first if len(use.keys) == 1 else f"{first} and {counted(len(use.keys) - 1, 'other key')}"


def read_lines(snapshot: Snapshot, use: Use) -> Iterator[str]:
    table = use.table
    sizes = [table.size_of(snapshot, table.key.pack(key)) for key in use.keys]
    plain = sum(read_units(size or 0, consistent=True) for size in sizes)
    factor = use.consumed.table / plain
    for key, size in zip(use.keys, sizes, strict=True):
        start = f"{key_text(key, table.key.names)}: " if len(sizes) > 1 else ""
        yield start + read_arithmetic(size, factor)


def write_lines(snapshot: Snapshot, use: Use, mutations: dict[bytes, bytes | None]) -> Iterator[str]:
    table = use.table
    key = table.item_prefix + use.base_key
    old = table.size_of(snapshot, use.base_key)
    new = _size(mutations[key]) if key in mutations else old
    larger = max(old or 0, new or 0)
    factor = use.consumed.table / write_units(larger)
    if key not in mutations and factor > TRANSACTION_FACTOR:
        yield f"table {table.name}: what it would have written counts, though nothing is: {units(use.consumed.table)}"
        return
    change = _change_text(old, new) if key in mutations else "the item stays as it is"
    yield f"table {table.name}: {change}: {write_arithmetic(larger or None, factor)}"
    if key not in mutations:
        return
    for index in table.indexes:
        charged = {**use.consumed.local_indexes, **use.consumed.global_indexes}.get(index.name, 0.0)
        yield from index_lines(snapshot, index, use.base_key, mutations, charged)


def _change_text(old: Size, new: Size) -> str:
    if old is None:
        return f"no item before, {counted(new or 0, 'byte')} after"
    if new is None:
        return f"{counted(old, 'byte')} before, deleted after"
    if old == new:
        return f"{counted(old, 'byte')} before and after"
    return f"{counted(old, 'byte')} before, {counted(new, 'byte')} after; the larger counts"


def index_lines(
    snapshot: Snapshot, index: Index, base_key: bytes, mutations: dict[bytes, bytes | None], charged: float
) -> Iterator[str]:
    """What becomes of the item's entry in an index. An entry's key ends with that of its item."""
    kind = "global" if index.is_global else "local"
    written = {
        key: value for key, value in mutations.items() if key.startswith(index.prefix) and key.endswith(base_key)
    }
    if not written:
        yield f"{kind} index {index.name}: its entry, if there is one, does not change: 0 units"
        return
    removed = [_size(snapshot.get(key)) or 0 for key, value in written.items() if value is None]
    put = {key: _size(value) or 0 for key, value in written.items() if value is not None}
    for size in removed:
        yield f"{kind} index {index.name}: an entry goes: {write_arithmetic(size)}"
    for key, size in put.items():
        before = _size(snapshot.get(key))
        what = "an entry comes" if before is None else "its entry is replaced; the larger counts"
        yield f"{kind} index {index.name}: {what}: {write_arithmetic(max(size, before or 0))}"
    if removed and put:
        yield f"{kind} index {index.name}: the key in it changes, which is a deletion and a put: {units(charged)}"


def _size(stored: bytes | None) -> Size:
    return None if stored is None else stored_size(stored)

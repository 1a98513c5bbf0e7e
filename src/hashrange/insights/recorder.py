"""Counts the keys that requests use, in the tables and indexes that are watched.

Each process counts for itself and hands over what it has counted now and then, as a plan that merges it into the
minutes in the store; so the numbers are right with any number of processes. What a process has not handed over when
it is killed is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from hashrange.clock import Clock
from hashrange.engine import keyspace
from hashrange.engine.table import Table
from hashrange.engine.usage import WRITE, Throttle, Use
from hashrange.insights.window import MINUTE_MICROS, Window, minute_of
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.values.types import Attributes

if TYPE_CHECKING:
    from hashrange.insights.rules import Resource

WRITE_WEIGHT = 3.0  # a write unit counts as much as three read units (observed)

Slot = tuple[int, int, int, int]
"""Minute, table id, index number and rule: what a window is of."""

Names = tuple[tuple[str, str], ...]
"""Key attributes with their types."""


class Watch:
    """What is counted of one table or index, since the last time that anybody looked."""

    __slots__ = ("accessed", "index_name", "throttled", "windows")

    def __init__(self, resource: Resource, minute: int) -> None:
        table, key = resource.table, resource.key
        self.index_name = None if resource.index is None else resource.index.name
        self.windows: list[tuple[Slot, Window]] = []
        self.accessed: list[tuple[Names, Window]] = []
        self.throttled: list[tuple[Names, Window]] = []
        for rule in resource.rules:
            window = Window()
            names = key.names if rule.by_sort_key else key.partition
            typed = tuple((name, table.attribute_types[name]) for name in names)
            (self.throttled if rule.counts_throttles else self.accessed).append((typed, window))
            self.windows.append(((minute, table.id, resource.index_number, rule.number), window))

    def units(self, use: Use) -> float:
        """What a use cost this table or index. Local indexes live on the table's capacity."""
        consumed = use.consumed
        if self.index_name is not None:
            return consumed.global_indexes.get(self.index_name, 0.0)
        if consumed.local_indexes:
            return consumed.table + sum(consumed.local_indexes.values())
        return consumed.table


class KeyRecorder:
    """Counts the keys of uses and throttles of tables for which `table.is_watched`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begins = self._ends = 0  # the minute that is being counted
        self._watches: dict[int, tuple[Table, tuple[Watch, ...]]] = {}  # by table id
        self._counted: list[tuple[Slot, Window]] = []

    def record(self, use: Use) -> None:
        """Something was used. The units of several keys that were used together are shared among them."""
        keys = use.keys
        if not keys:
            return
        for watch in self._watches_of(use.table):
            units = watch.units(use)
            if units:
                weight = units * WRITE_WEIGHT if use.kind == WRITE else units
                _count(watch.accessed, keys, weight / len(keys))

    def record_throttle(self, throttle: Throttle) -> None:
        """Something was refused. It counts for the table or index whose capacity was missing."""
        for watch in self._watches_of(throttle.use.table):
            if watch.index_name == throttle.index:
                _count(watch.throttled, throttle.use.keys, 1.0)

    def _watches_of(self, table: Table) -> tuple[Watch, ...]:
        now = self._clock.micros()
        if not self._begins <= now < self._ends:
            self._turn()
            self._begins = now - now % MINUTE_MICROS
            self._ends = self._begins + MINUTE_MICROS
        known = self._watches.get(table.definition.id)
        if known is not None and known[0] is table:
            return known[1]
        if known is not None:  # a table whose definition has changed is another object
            self._close(known[1])
        from hashrange.insights.rules import resources  # servers that watch nothing start without it

        minute = minute_of(now)
        watches = tuple(Watch(each, minute) for each in resources(table.definition) if each.rules)
        self._watches[table.definition.id] = table, watches
        return watches

    def _turn(self) -> None:
        """Put aside what was counted, and begin anew."""
        for _, watches in self._watches.values():
            self._close(watches)
        self._watches = {}

    def _close(self, watches: Sequence[Watch]) -> None:
        for watch in watches:
            self._counted += [(slot, window) for slot, window in watch.windows if window.observations]

    def handover(self) -> Planner | None:
        """A plan that adds what was counted since the last one to the store; None if that is nothing."""
        self._turn()
        if not self._counted:
            return None
        counted, self._counted = self._counted, []
        return lambda snapshot: merge_into(snapshot, counted)


def _count(counting: Sequence[tuple[Names, Window]], keys: Sequence[Attributes], weight: float) -> None:
    for names, window in counting:
        for attributes in keys:
            try:
                contents = [attributes[name][kind] for name, kind in names]
            except KeyError:  # not all of it is known, as of the sort key in a query
                continue
            window.add(orjson.dumps(contents).decode(), weight)


def merge_into(snapshot: Snapshot, counted: Sequence[tuple[Slot, Window]]) -> Plan:
    windows: dict[bytes, Window] = {}
    for slot, window in counted:
        key = keyspace.hot_keys_key(*slot)
        if key not in windows:
            stored = snapshot.get(key)
            windows[key] = Window() if stored is None else Window.load(stored)
        windows[key].merge(window)
    return Plan([(key, window.dump()) for key, window in windows.items()])

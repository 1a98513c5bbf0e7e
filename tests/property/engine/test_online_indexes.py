"""Indexes come and go while writes go on, and in the end they hold what they should and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.engine import keyspace
from hashrange.engine.database import DatabaseSettings
from hashrange.errors import LimitExceededException, ResourceInUseException
from hashrange.jobs import fill_indexes, propagate_indexes, remove_deleted
from hashrange.jobs.runner import JOBS
from property.engine.agreement import TABLE, Agreement
from property.engine.client import Client, examples, in_memory, on_disk
from property.engine.expressions_model import Tree
from property.engine.stories import LOCAL, NARROW, WIDE, Schema, definitions, stories
from property.engine.table_model import KEY_NAMES, Index

STATUSES_MAX = 10_000_000  # microseconds: longer than any delay that is drawn

Story = tuple[Schema, DatabaseSettings, list[Tree]]


@pytest.fixture(autouse=True, scope="module")
def small_steps() -> Iterator[None]:
    """Jobs that take a few entries at a time, so that writes come between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill_indexes, "ITEMS_PER_STEP", 2)
        patch.setattr(remove_deleted, "ENTRIES_PER_STEP", 3)
        patch.setattr(propagate_indexes, "WRITES_PER_STEP", 2)
        yield


@st.composite
def told(draw: st.DrawFn) -> Story:
    """A table with or without a local index, and a story in which global ones are created and deleted."""
    sort_type, local_type = draw(st.sampled_from("SNB")), draw(st.sampled_from("SNB"))
    drawn = stories(sort_type, local_type, misfits=10)
    schema = Schema(drawn.types, draw(st.sampled_from([(), (LOCAL[1],), (LOCAL[0],)])))
    delays = DatabaseSettings(
        table_delay_micros=draw(st.sampled_from([0, 0, 2_000_000])),
        index_delay_micros=draw(st.sampled_from([0, 0, 1_000_000])),
    )
    events = st.one_of(
        drawn.writes,
        drawn.writes,
        st.tuples(st.just("create"), st.sampled_from([*NARROW, *WIDE])),
        st.tuples(st.just("drop"), st.sampled_from(["narrow", "wide"])),
        st.tuples(st.just("step"), st.integers(0, len(JOBS) - 1)),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 1.0, 3.0])),
        st.tuples(st.just("describe")),
    )
    first = draw(st.lists(st.tuples(st.just("put"), drawn.items, st.none()), max_size=5))
    creation = ("create", draw(st.sampled_from([*NARROW, *WIDE])))
    return schema, delays, [*first, creation, *draw(st.lists(events, max_size=20))]


class Teller:
    """Tells a story, keeping in mind which indexes writes have to respect."""

    def __init__(self, client: Client, schema: Schema) -> None:
        self.client = client
        self.schema = schema
        self.both = Agreement(client, schema.model(), counts_units=False)
        self.leaving: dict[str, int] = {}  # indexes that are being deleted, and when they are gone

    def tell(self, events: list[Tree]) -> None:
        for event in events:
            match event:
                case ("create", index):
                    self._create(index)
                case ("drop", name):
                    self._drop(name)
                case ("step", number):
                    self.client.step(number)
                case ("wait", seconds):
                    self._wait(seconds)
                case ("describe",):
                    self.client.call("DescribeTable", TableName=TABLE)
                case _:
                    self.both.write(event)
            assert self.client.problems() == []

    def _indexes(self) -> dict[str, Index]:
        return {index.name: index for index in self.both.model.indexes}

    def _create(self, index: Index) -> None:
        types = definitions(self.schema.types, {*KEY_NAMES, *index.key_names})
        if index.name in self._indexes() or not self._update(types, {"Create": index.wire()}):
            return
        self.both.model.indexes = (*self.both.model.indexes, index)

    def _drop(self, name: str) -> None:
        if name in self._indexes() and self._update([], {"Delete": {"IndexName": name}}):
            self.leaving[name] = self.client.clock.micros() + self.client.db.settings.table_delay_micros
            self._wait(0)

    def _update(self, types: list[dict[str, str]], update: dict[str, Any]) -> bool:
        """Whether the change was taken; another one may be under way."""
        members: dict[str, Any] = {"AttributeDefinitions": types} if types else {}
        try:
            self.client.call("UpdateTable", TableName=TABLE, GlobalSecondaryIndexUpdates=[update], **members)
        except (ResourceInUseException, LimitExceededException):
            return False
        return True

    def _wait(self, seconds: float) -> None:
        self.client.clock.advance(seconds)
        now = self.client.clock.micros()
        gone = {name for name, at in self.leaving.items() if at <= now}
        self.both.model.indexes = tuple(index for index in self.both.model.indexes if index.name not in gone)
        self.leaving = {name: at for name, at in self.leaving.items() if name not in gone}

    def settle(self) -> None:
        """Let everything under way come to its end."""
        for _ in range(4):
            self._wait(STATUSES_MAX / 1_000_000)
            self.client.run_jobs()

    def delete_table(self) -> None:
        self.client.call("DeleteTable", TableName=TABLE)
        self._wait(self.client.db.settings.table_delay_micros / 1_000_000)

    def create_again(self, writes: list[Tree]) -> None:
        """A new table of the same name, while the old one's items are being removed."""
        self.client.call("CreateTable", **self.schema.creation())
        self._wait(self.client.db.settings.table_delay_micros / 1_000_000)
        remembered = self.both.remembered
        self.both = Agreement(self.client, self.schema.model(), counts_units=False)
        self.both.remembered = remembered
        for write in writes:
            self.client.step(0)
            self.both.write(write)

    def end(self, writes: list[Tree]) -> None:
        self.settle()
        self.both.compare()
        self.delete_table()
        self.create_again(writes)
        self.settle()
        self.both.compare()
        self.delete_table()
        self.settle()
        self._wait(1_000)  # tokens of transactions are forgotten
        self.client.run_jobs()
        kept = (keyspace.META, keyspace.METRIC)
        assert [key for key in self.client.stored_keys() if not key.startswith(kept)] == []


def play(story: Story, client: Client) -> None:
    schema, delays, events = story
    client.call("CreateTable", **schema.creation())
    teller = Teller(client, schema)
    teller._wait(delays.table_delay_micros / 1_000_000)
    teller.tell(events)
    teller.end([event for event in events if event[0] in ("put", "update", "delete", "batch")])


@examples(120)
@given(told())
def test_indexes_come_and_go_beside_writes(story: Story) -> None:
    with in_memory(story[1]) as client:
        play(story, client)


@examples(15)
@given(told())
def test_indexes_come_and_go_beside_writes_on_disk(story: Story) -> None:
    with on_disk(story[1]) as client:
        play(story, client)

"""Whatever is written, by whichever operation, the database shows what a dict of items would hold."""

from __future__ import annotations

from contextlib import AbstractContextManager

from hypothesis import given
from hypothesis import strategies as st

from property.engine.agreement import Agreement
from property.engine.client import Client, examples, in_memory, on_disk
from property.engine.expressions_model import Tree
from property.engine.stories import SCHEMAS, Schema

Story = tuple[Schema, list[Tree]]

STORIES = SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema), st.lists(schema.writes(), max_size=12)))


def tell(story: Story, opened: AbstractContextManager[Client]) -> None:
    schema, writes = story
    with opened as client:
        client.call("CreateTable", **schema.creation())
        both = Agreement(client, schema.model())
        for write in writes:
            both.write(write)
        both.compare()


@examples(120)
@given(STORIES)
def test_the_database_shows_what_was_written(story: Story) -> None:
    tell(story, in_memory())


@examples(20)
@given(STORIES)
def test_the_database_on_disk_shows_what_was_written(story: Story) -> None:
    tell(story, on_disk())

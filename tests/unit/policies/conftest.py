"""A guarded server with a table and an index."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unit.policies.guarded import Guarded


@pytest.fixture
def engine() -> Iterator[Guarded]:
    engine = Guarded()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "day")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-day",
                "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    yield engine
    assert engine.problems() == []

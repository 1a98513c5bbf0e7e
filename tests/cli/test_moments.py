"""Times, durations and keys as people type them."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.cli.keys import parse_key
from hashrange.cli.moments import moment_text, parse_duration, parse_moment
from hashrange.cli.options import ConfigurationError
from hashrange.cli.tools import joined
from hashrange.engine.definition import KeySchema, TableDefinition
from hashrange.engine.table import Table

NOW = 1_800_000_000_000_000


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("0.5", 0.5), ("15m", 900), ("1h30m", 5400), ("1.5h", 5400), ("2d", 172_800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds * 1_000_000


@pytest.mark.parametrize("text", ["", "soon", "1x", "m", "-1h", "1h 30m", "1e3", "٣m"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("now", NOW),
        ("-15m", NOW - 900_000_000),
        ("+1h", NOW + 3_600_000_000),
        ("1767607200", 1_767_607_200_000_000),
        ("1767607200.25", 1_767_607_200_250_000),
        ("2026-01-05T10:00:00Z", 1_767_607_200_000_000),
        ("2026-01-05T10:00:00", 1_767_607_200_000_000),
        ("2026-01-05T11:00:00+01:00", 1_767_607_200_000_000),
        ("2026-01-05 10:00", 1_767_607_200_000_000),
    ],
)
def test_moments(text: str, micros: int) -> None:
    assert parse_moment(text, NOW) == micros


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "--1h", "-", "nan", "inf"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_moment(text, NOW)


def test_moments_are_told_in_utc() -> None:
    assert moment_text(1_767_607_200_000_000) == "2026-01-05T10:00:00Z"
    assert moment_text(1_767_607_200_250_000) == "2026-01-05T10:00:00.25Z"


def test_a_time_ago_is_not_taken_for_an_option() -> None:
    assert joined(["get", "t", "{}", "--as-of", "-15m"]) == ["get", "t", "{}", "--as-of=-15m"]
    assert joined(["scan", "t", "--as-of", "--json"]) == ["scan", "t", "--as-of", "--json"]


def table(sort_type: str) -> Table:
    key = KeySchema(("pk",), ("sk",))
    types = {"pk": "S", "sk": sort_type}
    return Table(TableDefinition(1, "", "000000000000", "us-east-1", "orders", key, types, created_at_micros=0))


@pytest.mark.parametrize(
    ("kind", "text", "sort"),
    [
        ("N", '{"pk": "a", "sk": 1}', {"N": "1"}),
        ("N", '{"sk": 1.0, "pk": {"S": "a"}}', {"N": "1"}),
        ("N", '{"pk": "a", "sk": "1"}', {"N": "1"}),
        (
            "N",
            '{"pk": "a", "sk": 12345678901234567890123456789012345678}',
            {"N": "12345678901234567890123456789012345678"},
        ),
        ("S", '{"pk": "a", "sk": "1"}', {"S": "1"}),
        ("B", '{"pk": "a", "sk": {"B": "AQI="}}', {"B": "AQI="}),
    ],
)
def test_keys(kind: str, text: str, sort: dict[str, Any]) -> None:
    assert parse_key(table(kind), text) == {"pk": {"S": "a"}, "sk": sort}


@pytest.mark.parametrize(
    "text",
    [
        "a",
        '"a"',
        "[]",
        '{"pk": "a"}',
        '{"pk": "a", "sk": 1, "more": 1}',
        '{"pk": 1, "sk": 1}',
        '{"pk": "a", "sk": "one"}',
        '{"pk": "a", "sk": {"S": "1"}}',
        '{"pk": "a", "sk": null}',
        '{"pk": "a", "sk": true}',
        '{"pk": "", "sk": 1}',
        '{"pk": {}, "sk": 1}',
    ],
)
def test_what_is_no_key_is_answered_with_what_one_looks_like(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r'The key of orders looks like \{"pk": "text", "sk": 1\}, not'):
        parse_key(table("N"), text)

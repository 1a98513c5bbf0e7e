"""`--as-of TIME`: which position of the change log a command reads at."""

from __future__ import annotations

from hashrange.cli.moments import moment_text, parse_moment
from hashrange.cli.options import ConfigurationError
from hashrange.engine.change_log import position_at
from hashrange.engine.table import Table
from hashrange.history.coverage import known_since
from hashrange.storage import Snapshot

KEEPING = "Enable a stream of NEW_AND_OLD_IMAGES or point-in-time recovery to keep it from then on."


def position_of(snapshot: Snapshot, table: Table, text: str, now_micros: int) -> int:
    """The first position after the moment that the text names, if the table's log reaches back to it."""
    at_micros = parse_moment(text, now_micros)
    if at_micros > now_micros:
        raise ConfigurationError(f"{moment_text(at_micros)} lies in the future.")
    since = known_since(snapshot, table.definition, now_micros)
    if since is None:
        raise ConfigurationError(f"The past of table {table.name} is not kept. {KEEPING}")
    if at_micros < since:
        raise ConfigurationError(
            f"Table {table.name} is known from {moment_text(since)} on; {moment_text(at_micros)} lies before."
        )
    return position_at(at_micros + 1)

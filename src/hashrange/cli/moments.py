"""Moments and durations as people write them: `2026-01-05T10:00:00Z`, `1767607200`, `-15m`, `1h30m`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hashrange.cli.options import ConfigurationError

MICROS = 1_000_000
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
MOMENT_HELP = "an ISO time (UTC unless it says otherwise), epoch seconds, or a while ago: -15m, -1h30m, -2d"

_ONE_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhdw])")
_DURATION = re.compile(rf"(?:{_ONE_PART.pattern})+")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse_duration(text: str) -> int:
    """How many microseconds `90`, `15m` or `1h30m` are."""
    if _SECONDS.fullmatch(text):
        return round(float(text) * MICROS)
    if not _DURATION.fullmatch(text):
        raise ConfigurationError(f"{text!r} is not a duration such as 90s, 15m, 1h30m or 2d.")
    return round(sum(float(count) * UNIT_SECONDS[unit] for count, unit in _ONE_PART.findall(text)) * MICROS)


def parse_moment(text: str, now_micros: int) -> int:
    """The moment that a text names, in microseconds since the epoch."""
    if text == "now":
        return now_micros
    if text.startswith(("-", "+")):
        distance = parse_duration(text[1:])
        return now_micros + (distance if text[0] == "+" else -distance)
    if _SECONDS.fullmatch(text):
        return round(float(text) * MICROS)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * MICROS)
    except (ValueError, OverflowError):
        raise ConfigurationError(f"{text!r} is not a time: give {MOMENT_HELP}.") from None


def moment_text(micros: int) -> str:
    """A moment in UTC, as short as it can be exact to the microsecond."""
    try:
        text = datetime.fromtimestamp(micros // MICROS, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{micros / MICROS:.0f}"
    fraction = f".{micros % MICROS:06d}".rstrip("0").rstrip(".")
    return f"{text}{fraction}Z"

"""A progress bar for people at a terminal; nothing at all for anybody else."""

from __future__ import annotations

import sys

from hashrange.clock import Clock, SystemClock

BAR_COLUMNS = 30
REDRAW_SECONDS = 0.1


class Progress:
    """Counts items. `share` is how much of the work is done, from 0 to 1, if that is known."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._shows = sys.stderr.isatty()
        self._started = self._drawn = self._clock.seconds()

    def show(self, items: int, share: float | None) -> None:
        if not self._shows:
            return
        now = self._clock.seconds()
        if now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        rate = items / max(now - self._started, REDRAW_SECONDS)
        print(f"\r{_bar(share)}{items:,} items, {rate:,.0f}/s\033[K", end="", file=sys.stderr, flush=True)

    def hide(self) -> None:
        if self._shows:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _bar(share: float | None) -> str:
    if share is None:
        return ""
    full = round(min(max(share, 0.0), 1.0) * BAR_COLUMNS)
    return f"[{'#' * full}{'-' * (BAR_COLUMNS - full)}] {share:4.0%}  "

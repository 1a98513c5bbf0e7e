"""Draws how many times as fast as the best peer we are, as SVG that can be read on light and on dark pages."""

from __future__ import annotations

from math import ceil
from xml.sax.saxutils import escape

from figures import rows_of, title_of
from results import Cell, Results

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 960, 330, 170, 34, 24, 14
INK, GRID, AHEAD, BEHIND = "#808890", "#80889055", "#3f8fd2", "#d9822b"


def plot(results: Results) -> str:
    pairs = [(ours, rival) for ours in rows_of(results) if ours.samples and (rival := results.best_rival(ours))]
    longest = max((max(ours.speeds) / rival.speed for ours, rival in pairs), default=1.0)
    limit = max(2, ceil(longest))
    height = TOP + ROW * len(pairs) + 10
    step = max(1, ceil(limit / 10))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        "<title>Requests a second beside the best peer of equal durability</title>",
        *(gridline(times, limit, height) for times in range(0, limit + 1, step)),
        gridline(1, limit, height, strong=True),
        words(LEFT - 28, TOP - 12, "requests a second, ours / the best peer's", "end"),
        *(row(number, ours, rival, limit) for number, (ours, rival) in enumerate(pairs)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def across(times: float, limit: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * times / limit


def gridline(times: int, limit: int, height: int, *, strong: bool = False) -> str:
    x = across(times, limit)
    line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 6}" stroke="{INK if strong else GRID}"/>'
    return line if strong else line + words(x, TOP - 12, f"{times}×" if times != 1 else "best peer", "middle")


def row(number: int, ours: Cell, rival: Cell, limit: int) -> str:
    """A bar to the median, and a thin line from the slowest to the fastest round."""
    y = TOP + ROW * number
    middle = y + BAR / 2
    times = ours.speed / rival.speed
    low, high = (across(pick(ours.speeds) / rival.speed, limit) for pick in (min, max))
    color = AHEAD if times >= 1 else BEHIND
    label = f"{title_of(ours)}, {ours.connections} conn."
    figures = f"{ours.speed:,.0f} / {rival.speed:,.0f} {rival.system}"
    return "\n".join(
        [
            words(LEFT - 8, middle + 4, label, "end"),
            f'<rect x="{LEFT}" y="{y}" width="{across(times, limit) - LEFT:.1f}" height="{BAR}" fill="{color}"/>',
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{INK}" stroke-width="2"/>',
            words(max(high, across(times, limit)) + 6, middle + 4, f"{times:.1f}×  {figures}", "start", size=10),
        ]
    )


def words(x: float, y: float, text: str, anchor: str, size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}" font-size="{size}">{escape(text)}</text>'

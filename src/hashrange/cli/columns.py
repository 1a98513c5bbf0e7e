"""Rows as text in columns, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

GAP = "  "


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """Lines of aligned cells: the first `left` columns to the left, numbers to the right."""
    table = [header, *rows]
    widths = [max(len(row[number]) for row in table) for number in range(len(header))]
    for row in table:
        cells = (
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield GAP.join(cells).rstrip()

"""AttributesToGet: the names of the attributes that a read shows."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.expressions.legacy.comparisons import invalid
from hashrange.expressions.projection import Projection


def parse_attributes_to_get(names: Sequence[str]) -> Projection:
    """The projection to these attributes, each of which may be named once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise invalid(f"Duplicate value in attribute name: {name}")
        seen.add(name)
    return Projection.of_names(names)

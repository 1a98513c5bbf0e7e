"""What every store asks of a plan before it does what the plan wants."""

from __future__ import annotations

from hashrange.storage.interface import Plan

OWN = 0xFF  # the first byte of the keys that stores keep for themselves


def checked_size_bytes(plan: Plan) -> int:
    """The bytes that the plan writes. A key that breaks the interface's rule is a mistake of ours, found here,
    where it costs the plan that made it and no other."""
    size_bytes = 0
    for key, value in plan.mutations:
        assert key[0] != OWN
        size_bytes += len(key) if value is None else len(key) + len(value)
    for key, _ in plan.adds:
        assert key[0] != OWN
    return size_bytes

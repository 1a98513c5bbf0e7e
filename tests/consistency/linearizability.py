"""Is there an order in which these operations could have happened one after the other?

Each operation must take its place between the moment it was sent and the moment it was answered, and each answer must
be right for that place. The search is Wing and Gong's with Lowe's memory of dead ends: a configuration is the set of
operations that have been placed and the state they leave, and none is tried twice. An operation that was never
answered may be placed at any time after it was sent, or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from consistency.history import Operation

IMPOSSIBLE = object()
Step = Callable[[Hashable, Operation], Hashable]
"""The state after an operation, or IMPOSSIBLE if its result cannot come from this state."""


def is_linearizable(operations: Sequence[Operation], step: Step, initial: Hashable = None) -> bool:
    """Whether the operations of one item can be put in order."""
    known = sorted((each for each in operations if each.is_known), key=lambda each: each.invoked)
    unknown = sorted((each for each in operations if not each.is_known), key=lambda each: each.invoked)
    # How many known operations are placed without a gap, which later ones are placed, which unknown ones, the state.
    stack: list[tuple[int, int, int, Hashable]] = [(0, 0, 0, initial)]
    seen = set(stack)
    while stack:
        low, placed, used, state = stack.pop()
        if low == len(known):
            return True
        candidates, deadline = next_candidates(known, low, placed)
        following: list[tuple[int, int, int, Hashable]] = []
        for number, operation in enumerate(unknown):  # these go to the bottom: they are tried when nothing else helps
            if not used >> number & 1 and operation.invoked <= deadline:
                after = step(state, operation)
                if after is not IMPOSSIBLE:
                    following.append((low, placed, used | 1 << number, after))
        for number in candidates:
            after = step(state, known[number])
            if after is not IMPOSSIBLE:
                following.append((*place(low, placed, number), used, after))
        for configuration in following:
            if configuration not in seen:
                seen.add(configuration)
                stack.append(configuration)
    return False


def next_candidates(known: Sequence[Operation], low: int, placed: int) -> tuple[list[int], float]:
    """The operations that may come next: those sent before any other that is not placed was answered."""
    deadline = known[low].returned
    found: list[int] = []
    number = low
    while number < len(known) and known[number].invoked <= deadline:
        if not placed >> (number - low) & 1:
            deadline = min(deadline, known[number].returned)
            found.append(number)
        number += 1
    return [number for number in found if known[number].invoked <= deadline], deadline


def place(low: int, placed: int, number: int) -> tuple[int, int]:
    placed |= 1 << (number - low)
    while placed & 1:
        low, placed = low + 1, placed >> 1
    return low, placed


def register(state: Hashable, operation: Operation) -> Hashable:
    """An item with one value, which is None when it is not there."""
    kind, result = operation.kind, operation.result
    if kind == "get":
        return state if result == state else IMPOSSIBLE
    value: Hashable = operation.arguments[-1]
    if kind == "put":
        return value
    if kind == "replace":  # the old value is returned
        return value if not operation.is_known or result == state else IMPOSSIBLE
    assert kind == "compare-and-set"
    expected = operation.arguments[0]
    holds = state == expected
    if not operation.is_known:
        return value if holds else state
    if result != holds:
        return IMPOSSIBLE
    return value if holds else state

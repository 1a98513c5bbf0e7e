"""What is known about a request when policies are held against it: the values of condition keys, by their names.

Some values cost more to find than a whole GetItem, and most policies ask for none of them. So a context is a function
that finds values, called when a policy first asks for a key.
"""

from __future__ import annotations

from collections.abc import Callable

Values = tuple[str, ...]
Find = Callable[[str], Values | None]


class Context:
    """The values of condition keys. Names of keys are lower case; a key without values is as good as absent."""

    __slots__ = ("_find", "_known")

    def __init__(self, find: Find) -> None:
        self._find = find
        self._known: dict[str, Values | None] = {}

    def get(self, key: str) -> Values | None:
        """The values of a key, or None if the request has none."""
        if key not in self._known:
            self._known[key] = self._find(key) or None
        return self._known[key]

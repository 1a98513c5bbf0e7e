"""Words that cannot be written as attribute names in an expression.

The list is the appendix "Reserved words in DynamoDB" of the developer guide.
"""

from __future__ import annotations

import pkgutil
from functools import cache


@cache
def reserved_words() -> frozenset[str]:
    """All of them, in upper case."""
    data = pkgutil.get_data(__package__ or "hashrange.expressions", "reserved-words.txt")
    assert data is not None
    return frozenset(data.decode("ascii").split())


def is_reserved(name: str) -> bool:
    return name.upper() in reserved_words()

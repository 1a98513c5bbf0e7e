"""What is said of a statement that cannot be understood."""

from __future__ import annotations

from hashrange.errors import ValidationException

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed"

UNEXPECTED_TERM = "Unexpected term"
UNEXPECTED_KEYWORD = "Unexpected keyword"
UNEXPECTED_AFTER_END = "Unexpected token after expression"
EXPECTED_MANIPULATION = "Expected data manipulation"
INVALID_DOT_COMPONENT = "Invalid path dot component"


def not_well_formed(detail: str | None = None) -> ValidationException:
    return ValidationException(NOT_WELL_FORMED if detail is None else f"{NOT_WELL_FORMED}: {detail}")

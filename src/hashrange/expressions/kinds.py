"""The kinds of expression, and how each begins its complaints."""

from __future__ import annotations

from enum import StrEnum

from hashrange.errors import ValidationException


class Kind(StrEnum):
    """The value is the name of the request parameter."""

    UPDATE = "UpdateExpression"
    CONDITION = "ConditionExpression"
    KEY_CONDITION = "KeyConditionExpression"
    FILTER = "FilterExpression"
    PROJECTION = "ProjectionExpression"
    STATEMENT = ""  # a tree that does not come from an expression parameter: complaints have no prefix

    def error(self, detail: str, *, enveloped: bool = True) -> ValidationException:
        """The refusal of an expression of this kind."""
        return ValidationException(f"Invalid {self}: {detail}" if self else detail, enveloped=enveloped)

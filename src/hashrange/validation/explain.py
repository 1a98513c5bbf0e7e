"""What exactly is wrong with a request, or what it should have been: see `shape`."""

from __future__ import annotations

from typing import Any

from hashrange.errors import ValidationException
from hashrange.validation import wording
from hashrange.validation.coercion import coerced_structure
from hashrange.validation.constraints import violations
from hashrange.validation.message import constraint_error
from hashrange.validation.schema import Schema


def explain(schema: Schema, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """The request cleaned and converted, or the error that the service answers it with."""
    structure = schema.input_of(operation)
    cleaned = coerced_structure(schema, structure, request)
    for (name, member), text in wording.WHEN_MISSING.items():
        if name == operation and member not in cleaned:
            raise ValidationException(text)
    found = list(violations(schema, structure, cleaned))
    if found:
        raise constraint_error(schema, operation, found)
    return cleaned

"""The names of all operations that each service's model knows, for the generated table of operations."""

from __future__ import annotations

from hashrange.validation.schema import SERVICES, schema_of


def operation_names(service: str) -> tuple[str, ...]:
    """All operations of one service, in alphabetical order."""
    return tuple(schema_of(service).operations)


def all_operation_names() -> dict[str, tuple[str, ...]]:
    """All operations of every service."""
    return {service: operation_names(service) for service in SERVICES}

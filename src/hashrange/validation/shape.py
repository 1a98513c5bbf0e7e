"""The input of an operation: is a request plausible, and if not, what exactly is wrong with it?

    shape = load("dynamodb")["GetItem"]
    if not shape.plausible(request):
        request = shape.explain(request)

`plausible` is quick and says yes only to requests that need no change at all. `explain` takes its time: it raises what
the service would, or returns the request without nulls and unknown members and with convertible values converted.
Neither looks for bad numbers, empty sets and the like inside attribute values; when `values` finds a wrong JSON type
there, `explain` phrases it.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from hashrange.validation.plausible import Check, Compiler
from hashrange.validation.schema import Schema, schema_of


class InputShape:
    """The input of one operation. Nothing is built before it is first used."""

    def __init__(self, schema: Schema, compiler: Compiler, operation: str) -> None:
        self._schema = schema
        self._compiler = compiler
        self.operation = operation

    @cached_property
    def plausible(self) -> Check:
        """Says whether every member is of its ordinary JSON type, present if required, and within its constraints."""
        return self._compiler.check_of(self._schema.input_of(self.operation))

    def explain(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request cleaned and converted, or the error that the service answers it with."""
        from hashrange.validation.explain import explain  # servers do not wait for the first who needs it

        return explain(self._schema, self.operation, request)


@lru_cache
def load(service: str) -> dict[str, InputShape]:
    """The inputs of all operations of a service, by the operation's name."""
    schema = schema_of(service)
    compiler = Compiler(schema)
    return {operation: InputShape(schema, compiler, operation) for operation in schema.operations}

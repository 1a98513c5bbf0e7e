"""What a Query or Scan shows of the items it finds: Select, projections and the limits that indexes set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hashrange.engine.keys import INVALID
from hashrange.engine.source import Source
from hashrange.errors import ValidationException
from hashrange.expressions import Projection
from hashrange.operations.operation import Request


class Selection(NamedTuple):
    """`projection` None shows everything there is; `fetching` gets whole items for a local index."""

    projection: Projection | None
    counting: bool
    fetching: bool


def check_select(request: Request) -> None:
    """The rules of Select that need no table."""
    select = request.get("Select")
    if select is None:
        return
    given = next((name for name in ("ProjectionExpression", "AttributesToGet") if name in request), None)
    if select == "SPECIFIC_ATTRIBUTES" and given is None:
        raise _refused(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if given is not None and select != "SPECIFIC_ATTRIBUTES":
        raise _refused(f"Cannot specify the {given} when choosing to get {select}")
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in request:
        raise _refused("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")


def _refused(text: str) -> ValidationException:
    """Of the request errors of Query and Scan, only those about Select have moved into the newer envelope."""
    return ValidationException(text, newer=ValidationException.ENVELOPE + text)


def select(request: Request, source: Source, projection: Projection | None) -> Selection:
    """What to show, once it is known what is read."""
    wanted = request.get("Select")
    index = source.index
    counting = wanted == "COUNT"
    if index is None or index.projected is None:
        return Selection(projection, counting, fetching=False)
    if wanted == "ALL_ATTRIBUTES":
        if index.is_global:
            raise ValidationException(
                f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index {index.name} "
                "because its projection type is not ALL"
            )
        return Selection(None, counting, fetching=True)
    if projection is None:
        return Selection(None, counting, fetching=False)
    missing = _unprojected(source, projection.top_level_names)
    if missing and index.is_global:
        raise ValidationException(
            f"{INVALID}Global secondary index {index.name} does not project [{', '.join(missing)}]"
        )
    return Selection(projection, counting, fetching=bool(missing))


def check_filter_names(source: Source, names: Iterable[str]) -> None:
    """A query's filter may use only what the index shows."""
    missing = _unprojected(source, names)
    if missing and source.index is not None:
        raise ValidationException(
            f"{INVALID}Secondary index {source.index.name} does not project one or more filter attributes: "
            f"[{', '.join(missing)}]"
        )


def _unprojected(source: Source, names: Iterable[str]) -> list[str]:
    index = source.index
    return [] if index is None else [name for name in dict.fromkeys(names) if not index.projects(name)]

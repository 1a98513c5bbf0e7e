"""What the requests of Application Auto Scaling are about, and its way of answering in pages."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar

from hashrange.errors import InvalidNextTokenException, ObjectNotFoundException, ValidationException
from hashrange.limits import SCALING_PAGE_MAX
from hashrange.operations.operation import Request
from hashrange.scaling.resource import NAMESPACE, Resource, parse_resource
from hashrange.scaling.target import ScalableTarget, find_target
from hashrange.storage.interface import Snapshot

SERVICE = "application-autoscaling"
T = TypeVar("T")


def resource_of(request: Request) -> Resource:
    """The resource that is to become scalable."""
    found = parse_resource(request["ServiceNamespace"], request["ResourceId"], request["ScalableDimension"])
    if found is None:
        raise ValidationException("Unsupported service namespace, resource type or scalable dimension")
    return found


def registered_target(snapshot: Snapshot, request: Request) -> ScalableTarget:
    """The target that a request is about, which must have been registered."""
    resource = parse_resource(request["ServiceNamespace"], request["ResourceId"], request["ScalableDimension"])
    found = None if resource is None else find_target(snapshot, request.scope, resource)
    if found is None:
        raise ObjectNotFoundException(f"No scalable target registered for {named(request)}")
    return found


def named(request: Request) -> str:
    """How errors speak of a resource."""
    return (
        f"service namespace: {request['ServiceNamespace']}, resource ID: {request['ResourceId']}, "
        f"scalable dimension: {request['ScalableDimension']}"
    )


def is_asked_for(request: Request, resource: Resource) -> bool:
    """Whether a list that may be narrowed to a resource, or a dimension, includes this one."""
    asked = (request["ServiceNamespace"], request.get("ResourceId"), request.get("ScalableDimension"))
    is_of = (NAMESPACE, resource.id, resource.dimension)
    return all(wanted in (None, part) for wanted, part in zip(asked, is_of, strict=True))


def page(request: Request, found: Iterable[tuple[bytes, T]]) -> tuple[list[T], str | None]:
    """The next page of what has sortable keys, and the token that leads to the one after it."""
    limit = request.get("MaxResults", SCALING_PAGE_MAX)
    if not 1 <= limit <= SCALING_PAGE_MAX:
        raise ValidationException(f"MaxResults must be between 1 and {SCALING_PAGE_MAX}")
    taken = list(islice(found, limit + 1))
    token = base64.urlsafe_b64encode(taken[limit - 1][0]).decode() if len(taken) > limit else None
    return [each for _, each in taken[:limit]], token


def after_token(request: Request) -> bytes | None:
    """The key of the last thing on the page before."""
    token = request.get("NextToken")
    if token is None:
        return None
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidNextTokenException("Invalid token") from None


def answered(name: str, described: Sequence[dict[str, Any]], token: str | None) -> dict[str, Any]:
    return {name: described} if token is None else {name: described, "NextToken": token}


def seconds(micros: int) -> float:
    return micros / 1_000_000

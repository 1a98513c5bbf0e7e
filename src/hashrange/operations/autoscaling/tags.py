"""Tags of scalable targets, which are named by their ARN."""

from __future__ import annotations

from hashrange.errors import ResourceNotFoundException, TooManyTagsException
from hashrange.limits import TAGS_PER_RESOURCE_MAX
from hashrange.operations.operation import Request
from hashrange.scaling.target import ScalableTarget, targets
from hashrange.storage.interface import Snapshot


def tagged_target(snapshot: Snapshot, request: Request) -> ScalableTarget:
    arn = request["ResourceARN"]
    found = next((target for target in targets(snapshot, request.scope) if target.arn == arn), None)
    if found is None:
        raise ResourceNotFoundException(f"No scalable target found for ARN: {arn}")
    return found


def check_tags(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > TAGS_PER_RESOURCE_MAX:
        raise TooManyTagsException(f"A scalable target can have {TAGS_PER_RESOURCE_MAX} tags at most")
    return tags

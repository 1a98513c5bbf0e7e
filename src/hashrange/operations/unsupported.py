"""Members of requests that this server does not honour yet. They are refused, never quietly ignored.

`docs/differences.md` lists them for people.
"""

from __future__ import annotations

from typing import Any

from hashrange.errors import ValidationException
from hashrange.operations.operation import Request


def _enabled(name: str) -> Any:
    """A specification that asks for nothing when it says that the feature is off."""
    return lambda given: bool(given.get(name))


ASKED_FOR = {
    "SSESpecification": _enabled("Enabled"),
    "SSESpecificationOverride": _enabled("Enabled"),
    "VectorIndexes": bool,
    "VectorIndexUpdates": bool,
    "VectorIndexOverride": bool,
    "FilterSpecification": bool,
    "S3SseAlgorithm": lambda given: given == "KMS",
    "ReplicaUpdates": bool,
    "GlobalTableWitnessUpdates": bool,
    "MultiRegionConsistency": bool,
    "GlobalTableSourceArn": bool,
    "GlobalTableSettingsReplicationMode": bool,
    "DisassociationProtectionEnabled": bool,
}


def refuse_unsupported(request: Request) -> None:
    for name, asks in ASKED_FOR.items():
        if name in request and asks(request[name]):
            raise ValidationException(f"{name} is not supported by this server")

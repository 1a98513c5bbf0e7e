"""What can be scaled: the read or the write capacity of a table or of a global secondary index."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hashrange.engine.usage import READ, WRITE

NAMESPACE = "dynamodb"
TABLE = re.compile(r"table/([a-zA-Z0-9_.-]{3,255})")
INDEX = re.compile(r"table/([a-zA-Z0-9_.-]{3,255})/index/([a-zA-Z0-9_.-]{3,255})")


@dataclass(frozen=True, slots=True)
class Resource:
    """One capacity of one table or index, by the names that Application Auto Scaling has for it."""

    table: str
    index: str | None
    kind: str  # READ or WRITE

    @property
    def id(self) -> str:
        return f"table/{self.table}" if self.index is None else f"table/{self.table}/index/{self.index}"

    @property
    def dimension(self) -> str:
        return f"dynamodb:{'table' if self.index is None else 'index'}:{self.kind}CapacityUnits"

    @property
    def units(self) -> str:
        """How activities speak of it."""
        return f"{self.kind.lower()} capacity units"

    @property
    def utilization(self) -> str:
        """The predefined metric that a policy for it follows."""
        return f"DynamoDB{self.kind}CapacityUtilization"

    @property
    def metric_dimensions(self) -> dict[str, str]:
        """The dimensions of its metrics."""
        names = {"TableName": self.table}
        return names if self.index is None else {**names, "GlobalSecondaryIndexName": self.index}


def parse_resource(namespace: str, resource_id: str, dimension: str) -> Resource | None:
    """The resource of a resource id and a scalable dimension, if they belong together."""
    for kind in (READ, WRITE):
        table, index = TABLE.fullmatch(resource_id), INDEX.fullmatch(resource_id)
        found = Resource(table[1], None, kind) if table else Resource(index[1], index[2], kind) if index else None
        if found is not None and (namespace, dimension) == (NAMESPACE, found.dimension):
            return found
    return None

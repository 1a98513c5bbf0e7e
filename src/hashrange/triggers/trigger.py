"""A trigger: a stream, a function, and how the one is fed to the other. Lambda calls it an event source mapping."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import orjson

from hashrange.engine import keyspace

NO_RECORDS = "No records processed"
OK = "OK"
PROBLEM = "PROBLEM: Function call failed"

UNLIMITED = -1  # retries or age: until the stream itself forgets the record


@dataclass(frozen=True, slots=True)
class Trigger:
    """One trigger. The names are ours; `settings` knows what each is called on the wire."""

    uuid: str
    account: str
    region: str
    stream_arn: str
    stream_key: str  # where the record of its stream is, in hexadecimal
    function: str  # as it was given: a target, or the name of a registered function
    starting_position: str
    start: int  # the first log position that the function is called for
    modified_at_micros: int
    enabled: bool = True
    batch_size: int = 100
    window_seconds: int = 0
    lanes: int = 1  # how many batches of one shard may be under way
    retries_max: int = UNLIMITED
    age_seconds_max: int = UNLIMITED
    bisects: bool = False
    reports_failures: bool = False
    on_failure: str | None = None
    filters: tuple[str, ...] = ()
    last_result: str = NO_RECORDS

    @property
    def stored_key(self) -> bytes:
        return keyspace.trigger_key(keyspace.scope_prefix(self.account, self.region), self.uuid)

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{self.region}:{self.account}:event-source-mapping:{self.uuid}"

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Trigger:
        fields: dict[str, Any] = orjson.loads(stored)
        return cls(**{**fields, "filters": tuple(fields["filters"])})

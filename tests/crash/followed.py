"""The streams of both tables, followed over all crashes: their records are exactly the changes that happened."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from crash.client import Client, Refused
from crash.owner import ABSENT, Name, Report, name_of

UNKNOWN = -1
SERVICE = "dynamodb.amazonaws.com"


class Follower:
    """Follows the stream of one table, and remembers the last sequence number that it saw in each shard."""

    def __init__(self, table: str, arn: str) -> None:
        self.records = 0
        self._table = table
        self._arn = arn
        self._seen: dict[str, str] = {}  # shard -> sequence number
        self._versions: dict[Name, int] = {}
        self._mayflies: dict[Name, list[int]] = defaultdict(list)

    def check(self, client: Client, report: Report, *, day_passed: bool = False) -> None:
        """Read what is new. Nothing is being written meanwhile, but items may expire: those that did so just before a
        day passed have left no record."""
        if day_passed:
            self._versions.update(dict.fromkeys(report.mayflies, UNKNOWN))
        changes: dict[Name, list[int]] = defaultdict(list)
        for record in self._new_records(client):
            name = name_of(self._table, record["dynamodb"]["Keys"])
            before, after = versions_of(record)
            assert self._versions.get(name, ABSENT) in (before, UNKNOWN), (
                f"{name} was {self._versions.get(name)}, not {before}"
            )
            self._versions[name] = after
            if name in report.mayflies:
                self._follow_mayfly(name, record, after)
            else:
                assert "userIdentity" not in record
                changes[name].append(after)
        expected = {name: history for name, history in report.histories.items() if history and name[0] == self._table}
        assert {name: found for name, found in changes.items() if name in report.histories} == expected
        for name, (acknowledged, unknown) in report.mayflies.items():
            if name[0] == self._table:
                seen = self._mayflies[name]
                assert [version for version in seen if version not in unknown] == acknowledged
                assert seen == sorted(set(seen))

    def _follow_mayfly(self, name: Name, record: dict[str, Any], after: int) -> None:
        if after == ABSENT:
            assert record["userIdentity"]["PrincipalId"] == SERVICE
        else:
            self._mayflies[name].append(after)

    def _new_records(self, client: Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for shard in client("DescribeStream", StreamArn=self._arn)["StreamDescription"]["Shards"]:
            iterator: str | None = self._iterator(client, shard["ShardId"])
            while iterator is not None:
                page = client("GetRecords", ShardIterator=iterator)
                for record in page["Records"]:
                    found.append(record)
                    self._seen[shard["ShardId"]] = record["dynamodb"]["SequenceNumber"]
                iterator = page.get("NextShardIterator") if page["Records"] else None
        self.records += len(found)
        return found

    def _iterator(self, client: Client, shard_id: str) -> str:
        shard = {"StreamArn": self._arn, "ShardId": shard_id}
        if shard_id in self._seen:
            after = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self._seen[shard_id]}
            try:
                return str(client("GetShardIterator", **shard, **after)["ShardIterator"])
            except Refused as refused:
                if refused.code != "TrimmedDataAccessException":
                    raise
                # What was seen last has been trimmed, and all that is left in the shard is newer.
        return str(client("GetShardIterator", **shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"])


def versions_of(record: dict[str, Any]) -> tuple[int, int]:
    """The version before and after a change, which its event must fit."""
    images = [record["dynamodb"].get(image) for image in ("OldImage", "NewImage")]
    before, after = (ABSENT if image is None else int(image["version"]["N"]) for image in images)
    event = "INSERT" if before == ABSENT else "REMOVE" if after == ABSENT else "MODIFY"
    assert record["eventName"] == event
    return before, after

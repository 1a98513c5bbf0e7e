"""A consumer that remembers where it was sees every change once and in order, whenever the server is killed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash.client import Client, Lost
from crash.server import Server, check_is_clean

ROUNDS = 4
WRITES_PER_ROUND = 250
KEYS = 12
TABLE: dict[str, Any] = {
    "TableName": "followed",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


@dataclass
class Consumer:
    """Follows every shard, and remembers the last sequence number of each: all it would keep over its own death."""

    arn: str
    checkpoints: dict[str, str] = field(default_factory=dict)
    seen: list[dict[str, Any]] = field(default_factory=list)

    def catch_up(self, client: Client) -> None:
        for shard in client("DescribeStream", StreamArn=self.arn)["StreamDescription"]["Shards"]:
            iterator = self._iterator(client, shard["ShardId"])
            while iterator is not None:
                page = client("GetRecords", ShardIterator=iterator, Limit=100)
                for record in page["Records"]:
                    self.seen.append(record)
                    self.checkpoints[shard["ShardId"]] = record["dynamodb"]["SequenceNumber"]
                iterator = page.get("NextShardIterator") if page["Records"] else None

    def _iterator(self, client: Client, shard_id: str) -> str | None:
        wanted: dict[str, str] = {"StreamArn": self.arn, "ShardId": shard_id, "ShardIteratorType": "TRIM_HORIZON"}
        if shard_id in self.checkpoints:
            wanted["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
            wanted["SequenceNumber"] = self.checkpoints[shard_id]
        iterator: str = client("GetShardIterator", **wanted)["ShardIterator"]
        return iterator


@dataclass
class Writer:
    """Counts every key up, and knows the last count that was acknowledged."""

    port: int
    counts: dict[str, int]
    acknowledged: dict[str, int]

    def run(self) -> None:
        with Client(self.port) as client:
            for number in range(WRITES_PER_ROUND * 20):
                key = str(number % KEYS)
                self.counts[key] += 1
                try:
                    item = {"pk": {"S": key}, "count": {"N": str(self.counts[key])}}
                    client("PutItem", TableName="followed", Item=item)
                except Lost:
                    return
                self.acknowledged[key] = self.counts[key]


def test_a_consumer_with_checkpoints_sees_every_change_once_and_in_order(tmp_path: Path) -> None:
    counts = {str(key): 0 for key in range(KEYS)}
    acknowledged = dict(counts)
    consumer: Consumer | None = None
    for round_number in range(ROUNDS):
        with Server(tmp_path / "data", "--stream-shards", 3, workers=1 + round_number % 2) as server:
            with Client(server.port) as client:
                if consumer is None:
                    description = client("CreateTable", **TABLE)["TableDescription"]
                    consumer = Consumer(description["LatestStreamArn"])
                consumer.catch_up(client)
                writer = Writer(server.port, counts, acknowledged)
                thread = threading.Thread(target=writer.run)
                before = sum(acknowledged.values())
                thread.start()
                while sum(acknowledged.values()) - before < WRITES_PER_ROUND:
                    consumer.catch_up(client)
            server.kill()
            thread.join()
    assert consumer is not None
    with Server(tmp_path / "data") as server, Client(server.port) as client:
        consumer.catch_up(client)
        items = client("Scan", TableName="followed")["Items"]
    check_is_clean(tmp_path / "data")
    follow(consumer.seen, {item["pk"]["S"]: int(item["count"]["N"]) for item in items}, acknowledged)


def follow(records: list[dict[str, Any]], stored: dict[str, int], acknowledged: dict[str, int]) -> None:
    """Each record continues where the one before it for the same key ended, and the last is what is stored."""
    last: dict[str, dict[str, Any]] = {}
    for record in records:
        change = record["dynamodb"]
        key = change["Keys"]["pk"]["S"]
        assert change.get("OldImage") == last.get(key)
        last[key] = change["NewImage"]
    counted = {key: int(image["count"]["N"]) for key, image in last.items()}
    assert counted == stored
    assert all(stored[key] >= count for key, count in acknowledged.items())
    numbers = [record["eventID"] for record in records]
    assert len(set(numbers)) == len(numbers)

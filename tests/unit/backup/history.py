"""What the tests of backups share: a table with indexes, and shorthands for what is done to it."""

from __future__ import annotations

from typing import Any

from harness import Engine
from hashrange.jobs import fill_copies
from hashrange.jobs.job import IoStep
from hashrange.storage import write_and_wait

Items = dict[str, Any]  # whole items by their sort key; all tests use one partition key

BY_OWNER = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
BY_PLACE = {
    "IndexName": "by-place",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "place", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}


def create(engine: Engine, name: str = "table", **members: Any) -> Any:
    return engine.create_table(
        name,
        **{
            "AttributeDefinitions": [
                {"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "owner", "place")
            ],
            "GlobalSecondaryIndexes": [BY_OWNER],
            "LocalSecondaryIndexes": [BY_PLACE],
            **members,
        },
    )


def recovery(engine: Engine, enabled: bool = True, name: str = "table", **members: Any) -> Any:
    answer = engine.call(
        "UpdateContinuousBackups",
        TableName=name,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": enabled, **members},
    )
    return answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]


def put(engine: Engine, sk: str, value: str = "x", name: str = "table") -> None:
    item = {"pk": {"S": f"p{len(sk) % 3}"}, "sk": {"S": sk}, "owner": {"S": value}, "place": {"S": value * 2}}
    engine.call("PutItem", TableName=name, Item=item)


def delete(engine: Engine, sk: str, name: str = "table") -> None:
    engine.call("DeleteItem", TableName=name, Key={"pk": {"S": f"p{len(sk) % 3}"}, "sk": {"S": sk}})


def items(engine: Engine, name: str = "table") -> Items:
    found: Items = {}
    start: dict[str, Any] = {}
    while True:
        page = engine.call("Scan", TableName=name, **start)
        found |= {item["sk"]["S"]: item for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def back_up(engine: Engine, name: str = "table", backup: str = "nightly") -> str:
    arn: str = engine.call("CreateBackup", TableName=name, BackupName=backup)["BackupDetails"]["BackupArn"]
    return arn


def restore(engine: Engine, arn: str, target: str = "restored", **members: Any) -> Any:
    answer = engine.call("RestoreTableFromBackup", BackupArn=arn, TargetTableName=target, **members)
    return answer["TableDescription"]


def restore_to(engine: Engine, seconds: float | None, target: str = "restored", **members: Any) -> Any:
    when = {"UseLatestRestorableTime": True} if seconds is None else {"RestoreDateTime": seconds}
    source = {} if "SourceTableArn" in members else {"SourceTableName": "table"}
    answer = engine.call("RestoreTableToPointInTime", TargetTableName=target, **when, **source, **members)
    return answer["TableDescription"]


def restored(engine: Engine, name: str = "restored") -> Items:
    """The items of a table once it is restored, with everything derived from them found right."""
    engine.run_jobs()
    description = engine.call("DescribeTable", TableName=name)["Table"]
    assert description["TableStatus"] == "ACTIVE"
    assert "RestoreSummary" not in description
    assert engine.problems() == []
    found = items(engine, name)
    assert description["ItemCount"] == len(found)
    return found


def fill_step(engine: Engine) -> bool:
    """One step of the job that fills backups and restored tables; whether there was one."""
    step = fill_copies.next_step(engine.db)
    if step is None:
        return False
    assert not isinstance(step, IoStep)
    write_and_wait(engine.store, step)
    return True


def leftovers(engine: Engine) -> list[bytes]:
    """Keys of fillings, of their marks and of readers of logs."""
    with engine.store.read() as snapshot:
        return [key for kind in (b"f", b"v", b"w") for key, _ in snapshot.scan(kind, bytes((kind[0] + 1,)))]

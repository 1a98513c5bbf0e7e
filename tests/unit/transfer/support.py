"""A server with buckets in a directory, and the few calls that these tests make over and over."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson

from harness import Engine
from hashrange.engine.database import DatabaseSettings
from hashrange.storage import Store

BUCKET = "bucket"
KEYS = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def engine_with(buckets: Path, store: Store | None = None, **settings: Any) -> Engine:
    (buckets / BUCKET).mkdir(exist_ok=True)
    return Engine(store, settings=DatabaseSettings(buckets=str(buckets), **settings))


def enable_recovery(engine: Engine, name: str = "table") -> None:
    engine.call(
        "UpdateContinuousBackups",
        TableName=name,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )


def put(engine: Engine, pk: str, sk: str = "1", table: str = "table", **attributes: Any) -> None:
    engine.call("PutItem", TableName=table, Item={"pk": {"S": pk}, "sk": {"S": sk}, **attributes})


def scan(engine: Engine, table: str = "table", **members: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    while True:
        page = engine.call("Scan", TableName=table, **members)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        members["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def arn(name: str = "table") -> str:
    return f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}"


def export(engine: Engine, **members: Any) -> Any:
    answer = engine.call("ExportTableToPointInTime", **{"TableArn": arn(), "S3Bucket": BUCKET, **members})
    return answer["ExportDescription"]


def exported(engine: Engine, **members: Any) -> Any:
    """An export that was waited for."""
    started = export(engine, **members)
    engine.run_jobs()
    return engine.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]


def start_import(engine: Engine, name: str = "copy", **members: Any) -> Any:
    parameters = {"TableName": name, **KEYS, **members.pop("parameters", {})}
    defaults = {"S3BucketSource": {"S3Bucket": BUCKET}, "InputFormat": "DYNAMODB_JSON"}
    request = {**defaults, **members, "TableCreationParameters": parameters}
    return engine.call("ImportTable", **request)["ImportTableDescription"]


def imported(engine: Engine, name: str = "copy", **members: Any) -> Any:
    """An import that was waited for."""
    started = start_import(engine, name, **members)
    engine.run_jobs()
    assert engine.problems() == []
    return engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]


def write(buckets: Path, key: str, content: bytes | str) -> None:
    path = buckets / BUCKET / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def line(pk: str, sk: str = "1", **attributes: Any) -> str:
    return orjson.dumps({"Item": {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}}).decode() + "\n"


def data_lines(buckets: Path, prefix: str = "") -> list[bytes]:
    """Every line of every data file below a prefix."""
    files = sorted((buckets / BUCKET / prefix).rglob("data/*.gz"))
    return [each for file in files for each in gzip.decompress(file.read_bytes()).splitlines()]

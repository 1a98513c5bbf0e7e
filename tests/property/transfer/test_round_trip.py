"""An export imports back to an equal table, whatever is in it, whenever it was, and however it is cut into files."""

from __future__ import annotations

import base64
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hashrange.jobs import export_tables
from hashrange.transfer import batch
from unit.transfer.support import BUCKET, KEYS, arn, enable_recovery, engine_with, export, start_import

INDEXED: dict[str, Any] = {
    **KEYS,
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "owner", "AttributeType": "B"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-owner",
            "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}

texts = st.text(max_size=8)
numbers = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=Decimal("-1e30"), max_value=Decimal("1e30"), places=3
)
number_texts = numbers.map(lambda number: format(number, "f"))
binaries = st.binary(max_size=6).map(lambda data: base64.b64encode(data).decode())
scalars = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.builds(lambda text: {"N": text}, number_texts),
    st.builds(lambda text: {"B": text}, binaries),
    st.builds(lambda truth: {"BOOL": truth}, st.booleans()),
    st.just({"NULL": True}),
    st.builds(lambda members: {"SS": members}, st.lists(texts, min_size=1, max_size=3, unique=True)),
    st.builds(
        lambda members: {"NS": [format(each, "f") for each in members]},
        st.lists(numbers.map(lambda number: number + 0), min_size=1, max_size=3, unique=True),
    ),
    st.builds(lambda members: {"BS": members}, st.lists(binaries, min_size=1, max_size=3, unique=True)),
)
names = st.text(min_size=1, max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda elements: {"L": elements}, st.lists(inner, max_size=3)),
        st.builds(lambda members: {"M": members}, st.dictionaries(names, inner, max_size=3)),
    ),
    max_leaves=6,
)
items = st.fixed_dictionaries(
    {
        "pk": st.builds(lambda text: {"S": text}, st.text(min_size=1, max_size=3)),
        "sk": st.builds(lambda number: {"N": str(number)}, st.integers(-3, 3)),
        "more": st.dictionaries(names.filter(lambda name: name not in ("pk", "sk", "owner")), values, max_size=4),
    },
    optional={
        "owner": st.builds(lambda data: {"B": base64.b64encode(data).decode()}, st.binary(min_size=1, max_size=2))
    },
).map(lambda item: {**{name: value for name, value in item.items() if name != "more"}, **item["more"]})


@pytest.mark.parametrize("export_format", ["DYNAMODB_JSON", "ION"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(items, max_size=12), later=st.lists(items, max_size=8), file_bytes=st.sampled_from([1, 300, 10_000])
)
def test_an_export_imports_back_to_an_equal_table(
    monkeypatch: pytest.MonkeyPatch,
    export_format: str,
    before: list[dict[str, Any]],
    later: list[dict[str, Any]],
    file_bytes: int,
) -> None:
    monkeypatch.setattr(export_tables, "FILE_BYTES", file_bytes)
    monkeypatch.setattr(batch, "ITEMS_MAX", 5)
    with tempfile.TemporaryDirectory() as directory:
        engine = engine_with(Path(directory))
        engine.create_table("table", **INDEXED)
        enable_recovery(engine)
        for item in before:
            engine.call("PutItem", TableName="table", Item=item)
        expected = {name: content(engine, "table", name) for name in (None, "by-owner")}
        moment = engine.clock.seconds()
        engine.clock.advance(5)
        for number, item in enumerate(later):
            engine.call("PutItem", TableName="table", Item=item)
            if number % 2 and before:
                key = {name: before[number % len(before)][name] for name in ("pk", "sk")}
                engine.call("DeleteItem", TableName="table", Key=key)
        started = export(engine, TableArn=arn(), ExportTime=moment, ExportFormat=export_format)
        engine.run_jobs()
        done = engine.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]
        prefix = done["ExportManifest"].removesuffix("manifest-summary.json") + "data/"
        start_import(
            engine,
            parameters=INDEXED,
            S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": prefix},
            InputFormat=export_format,
            InputCompressionType="GZIP",
        )
        engine.run_jobs()
        [found] = engine.call("ListImports")["ImportSummaryList"]
        assert found["ImportStatus"] == "COMPLETED"
        assert {name: content(engine, "copy", name) for name in (None, "by-owner")} == expected
        assert done["ItemCount"] == len(expected[None])
        assert engine.problems() == []


def content(engine: Any, table: str, index: str | None) -> list[dict[str, Any]]:
    members = {} if index is None else {"IndexName": index}
    return list(engine.call("Scan", TableName=table, **members)["Items"])

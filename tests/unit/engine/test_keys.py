"""Key attributes are scalars, of the table and of its indexes."""

import pytest

from harness import Engine, expect

SCALAR = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owned")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-owner",
                "KeySchema": [{"AttributeName": "owned", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    return engine


@pytest.mark.parametrize(("path", "what"), [("pk.x", "Key: pk"), ("sk[0]", "Key: sk"), ("owned.x", "IndexKey: owned")])
def test_nothing_looks_inside_a_key(engine: Engine, path: str, what: str) -> None:
    condition = {"ConditionExpression": f"attribute_exists({path})"}
    update = {"UpdateExpression": f"SET {path} = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}}
    for operation, members in (
        ("PutItem", {"Item": KEY, **condition}),
        ("DeleteItem", {"Key": KEY, **condition}),
        ("UpdateItem", {"Key": KEY, **condition}),
        ("UpdateItem", {"Key": KEY, **update}),
    ):
        expect(
            "ValidationException", SCALAR + what, lambda o=operation, m=members: engine.call(o, TableName="table", **m)
        )

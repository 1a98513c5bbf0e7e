"""The rules for keys and indexes of a table, in the order in which the service reports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hashrange.engine.definition import (
    GLOBAL,
    INCLUDE,
    LOCAL,
    PAY_PER_REQUEST,
    PROVISIONED,
    IndexDefinition,
    KeySchema,
    Throughput,
)
from hashrange.engine.keys import INVALID
from hashrange.engine.throughput import check_capacity
from hashrange.errors import ValidationException
from hashrange.limits import (
    GLOBAL_INDEX_KEY_ATTRIBUTES_MAX,
    GLOBAL_INDEXES_MAX,
    LOCAL_INDEXES_MAX,
    PROJECTED_ATTRIBUTES_MAX,
)
from hashrange.operations.tables.on_demand import new_maximum, new_warm

Wire = Mapping[str, Any]

ON_DEMAND_HAS_NO_UNITS = (
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
)


def invalid(text: str) -> ValidationException:
    return ValidationException(INVALID + text)


def printed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def attribute_types(definitions: list[Wire]) -> dict[str, str]:
    """The declared type of each key attribute."""
    types: dict[str, str] = {}
    for definition in definitions:
        name = definition["AttributeName"]
        if name in types:
            raise ValidationException(f"Attribute Name is duplicated: {name}")
        types[name] = definition["AttributeType"]
    return types


def table_key(schema: list[Wire], types: Mapping[str, str]) -> KeySchema:
    """The primary key of a table: a partition key and perhaps a sort key."""
    if any(element["AttributeName"] not in types for element in schema):
        raise ValidationException("Invalid KeySchema: Some index key attribute have no definition")
    return _simple_key(schema)


def _simple_key(schema: list[Wire]) -> KeySchema:
    first = schema[0]
    if first["KeyType"] != "HASH":
        raise ValidationException("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(schema) == 1:
        return KeySchema((first["AttributeName"],), ())
    second = schema[1]
    if second["AttributeName"] == first["AttributeName"]:
        raise ValidationException("Both the Hash Key and the Range Key element in the KeySchema have the same name")
    if second["KeyType"] != "RANGE":
        raise ValidationException("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
    if len(schema) > 2:
        raise invalid("The KeySchema exceeds the maximum allowed number of RANGE key attributes")
    return KeySchema((first["AttributeName"],), (second["AttributeName"],))


def global_key(schema: list[Wire]) -> KeySchema:
    """The key of a global secondary index: one to four partition and up to four sort key attributes."""
    kinds = [element["KeyType"] for element in schema]
    names = [element["AttributeName"] for element in schema]
    if len(schema) <= 2 and kinds != ["HASH", "HASH"]:
        return _simple_key(schema)
    if kinds[0] != "HASH":
        raise ValidationException("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if kinds != sorted(kinds):  # HASH sorts before RANGE
        raise invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema")
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > GLOBAL_INDEX_KEY_ATTRIBUTES_MAX:
            raise invalid(f"The KeySchema exceeds the maximum allowed number of {kind} key attributes")
    if len(set(names)) != len(names):
        raise ValidationException("The KeySchema contains multiple key attributes with the same name")
    hashes = kinds.count("HASH")
    return KeySchema(tuple(names[:hashes]), tuple(names[hashes:]))


def check_definitions_used(types: Mapping[str, str], key: KeySchema, indexes: Iterable[IndexDefinition]) -> None:
    """Every attribute definition must be used by some key. That every key has one was seen when it was made."""
    indexes = tuple(indexes)
    used = dict.fromkeys(name for each in (key, *(index.key for index in indexes)) for name in each.names)
    if len(used) == len(types):
        return
    if not indexes:
        raise invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    raise invalid(
        f"Some AttributeDefinitions are not used. AttributeDefinitions: {printed(types)}, keys used: {printed(used)}"
    )


def _require_defined(key: KeySchema, types: Mapping[str, str]) -> None:
    if any(name not in types for name in key.names):
        raise invalid(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: {printed(key.names)}, AttributeDefinitions: {printed(types)}"
        )


def local_indexes(given: list[Wire] | None, key: KeySchema, types: Mapping[str, str]) -> list[IndexDefinition]:
    """Local secondary indexes: the table's partition key with another sort key."""
    if given is None:
        return []
    if not given:
        raise invalid("List of LocalSecondaryIndexes is empty")
    if not key.sort:
        raise invalid(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )
    indexes = [_local_index(index, number, key, types) for number, index in enumerate(given, start=1)]
    if len(given) > LOCAL_INDEXES_MAX:
        raise invalid(f"Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_INDEXES_MAX}")
    return indexes


def _local_index(index: Wire, number: int, key: KeySchema, types: Mapping[str, str]) -> IndexDefinition:
    name = index["IndexName"]
    schema = _simple_key(index["KeySchema"])
    _require_defined(schema, types)
    if not schema.sort:
        raise invalid(f"Index KeySchema does not have a range key for index: {name}")
    if schema.partition != key.partition:
        raise invalid(
            f"Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. "
            f"index hash key: {schema.partition[0]}, table hash key: {key.partition[0]}"
        )
    projection, non_key_attributes = projection_of(index.get("Projection") or {})
    return IndexDefinition(name, number, LOCAL, schema, projection, non_key_attributes)


def global_indexes(
    given: list[Wire] | None, types: Mapping[str, str], *, provisioned: bool, first_number: int, region: str
) -> list[IndexDefinition]:
    """Global secondary indexes: keys of their own, and throughput of their own when the table's is provisioned."""
    if given is None:
        return []
    if not given:
        raise invalid("List of GlobalSecondaryIndexes is empty")
    indexes = [
        global_index(index, number, types, provisioned=provisioned, region=region)
        for number, index in enumerate(given, start=first_number)
    ]
    if len(given) > GLOBAL_INDEXES_MAX:
        raise invalid(f"GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_INDEXES_MAX}")
    return indexes


def global_index(
    index: Wire, number: int, types: Mapping[str, str], *, provisioned: bool, region: str
) -> IndexDefinition:
    name = index["IndexName"]
    schema = global_key(index["KeySchema"])
    _require_defined(schema, types)
    projection, non_key_attributes = projection_of(index.get("Projection") or {})
    given = index.get("ProvisionedThroughput")
    if provisioned and given is None:
        raise invalid(f"ProvisionedThroughput is not specified for index: {name}")
    if not provisioned and given is not None:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
        )
    throughput = throughput_of(given, region)
    mode = PROVISIONED if provisioned else PAY_PER_REQUEST
    return IndexDefinition(
        name,
        number,
        GLOBAL,
        schema,
        projection,
        non_key_attributes,
        throughput=throughput,
        on_demand=new_maximum(index.get("OnDemandThroughput"), name, region, provisioned=provisioned),
        warm=new_warm(index.get("WarmThroughput"), throughput, name, region, mode),
    )


def projection_of(projection: Wire) -> tuple[str, tuple[str, ...]]:
    """The projection type of an index and the attributes that it names."""
    kind = projection.get("ProjectionType")
    names = projection.get("NonKeyAttributes")
    if kind is None:
        raise invalid("Unknown ProjectionType: null")
    if kind == INCLUDE:
        if not names:
            raise invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
        for position, name in enumerate(names):
            if name in names[:position]:
                raise invalid(f"Duplicate element in NonKeyAttributes: {name}")
        return kind, tuple(names)
    if names is not None:
        raise invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    return kind, ()


def check_index_names(indexes: Iterable[IndexDefinition]) -> None:
    """Index names are unique within a table, and together they project a bounded number of attributes."""
    seen: set[str] = set()
    projected = 0
    for index in indexes:
        if index.name in seen:
            raise invalid(f"Duplicate index name: {index.name}")
        seen.add(index.name)
        projected += len(index.non_key_attributes)
    if projected > PROJECTED_ATTRIBUTES_MAX:
        raise invalid(
            "Number of user-specified projected attributes in all indexes exceeds the "
            f"per-table limit of {PROJECTED_ATTRIBUTES_MAX}"
        )


def throughput_of(given: Wire | None, region: str) -> Throughput:
    """Provisioned throughput within the account's bounds; zero where none is given."""
    if given is None:
        return Throughput()
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        check_capacity(name, given[name], region)
    return Throughput(given["ReadCapacityUnits"], given["WriteCapacityUnits"])

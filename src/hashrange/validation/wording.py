"""What the service says differently from its own model: orders, extra constraints, sentences of its own.

The model (see `generate`) states types and constraints. How and in which order the live service reports them is
known from observation only, and is written down here as data; the modules beside this one only read it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

ATTRIBUTE_VALUE = "AttributeValue"
# Lists that are as long as their values may be.
INSIDE_VALUES = frozenset(
    {
        *("StringSetAttributeValue", "NumberSetAttributeValue", "BinarySetAttributeValue"),
        "ListAttributeValue",
    }
)
VALUE_MAPS = frozenset({"ExpressionAttributeValueMap"})  # of values that do not make up an item

# ---- Shapes --------------------------------------------------------------------------------------------------------

TABLE_NAME = "TableNameOrArn"
TABLE_NAME_PATTERN = "[a-zA-Z0-9_.-]+"
ARN_LENGTH_MAX = 1024

# The model calls a table name a "TableArn" of 1 to 1024 characters; the service still knows the two apart.
SHAPES: dict[str, dict[str, Any]] = {
    TABLE_NAME: {"type": "string", "min": 1, "max": 1024, "pattern": TABLE_NAME_PATTERN, "arn": True},
    "BoundedTableName": {
        "type": "string",
        "min": 1,
        "max": 1024,
        "pattern": TABLE_NAME_PATTERN,
        "arn": True,
        "bounds": (3, 255),  # checked after the constraints, and told by a sentence
    },
    "BatchTableName": {"type": "string", "min": 3, "max": 255, "pattern": TABLE_NAME_PATTERN, "arn": True},
    "AttributeValueList": {
        "type": "list",
        "member": ATTRIBUTE_VALUE,
        "max": 100_000,
    },  # what IN compares with; our limit
    "AttributeNameList": {"type": "list", "member": "AttributeName", "min": 1, "max": 255},
    "ShardsLimit": {"type": "integer", "min": 1, "max": 100},
    "StreamsLimit": {"type": "integer", "min": 1, "max": 100},
    "RecordsLimit": {"type": "integer", "min": 1, "max": 1000},
}

CONTROL_PLANE_INPUTS = (
    "CreateBackupInput",
    "DeleteTableInput",
    "DescribeContinuousBackupsInput",
    "DescribeContributorInsightsInput",
    "DescribeKinesisStreamingDestinationInput",
    "DescribeTableInput",
    "DescribeTableReplicaAutoScalingInput",
    "DescribeTimeToLiveInput",
    "KinesisStreamingDestinationInput",
    "ListBackupsInput",
    "ListContributorInsightsInput",
    "StartBulkPutItemsInput",
    "UpdateContinuousBackupsInput",
    "UpdateContributorInsightsInput",
    "UpdateKinesisStreamingDestinationInput",
    "UpdateTableInput",
    "UpdateTableReplicaAutoScalingInput",
    "UpdateTimeToLiveInput",
)

# (structure, member) -> the shape that is really applied; "key" stands for the keys of a map.
SUBSTITUTES: dict[tuple[str, str], str] = {
    **{(name, "TableName"): "BoundedTableName" for name in CONTROL_PLANE_INPUTS},
    ("CreateTableInput", "TableName"): "TableName",
    ("BatchGetRequestMap", "key"): "BatchTableName",
    ("BatchWriteItemRequestMap", "key"): "BatchTableName",
    ("DescribeStreamInput", "Limit"): "ShardsLimit",
    ("ListStreamsInput", "Limit"): "StreamsLimit",
    ("GetRecordsInput", "Limit"): "RecordsLimit",
}

# Since tables can be created from a replica, the model no longer requires what other tables still need:
# (structure, member) -> the member that makes it optional.
REQUIRED_UNLESS: dict[tuple[str, str], str] = {
    ("CreateTableInput", "AttributeDefinitions"): "GlobalTableSourceArn",
    ("CreateTableInput", "KeySchema"): "GlobalTableSourceArn",
}

# ---- Orders --------------------------------------------------------------------------------------------------------

# Where the printed order differs from the model's.
ENUM_ORDER: dict[str, tuple[str, ...]] = {
    "ReturnConsumedCapacity": ("INDEXES", "TOTAL", "NONE"),
    "ReturnValue": ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
    "ReturnItemCollectionMetrics": ("SIZE", "NONE"),
    "Select": ("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
    "ComparisonOperator": (
        *("IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT"),
        *("NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS"),
    ),
    "ConditionalOperator": ("OR", "AND"),
    "KeyType": ("HASH", "RANGE"),
    "ScalarAttributeType": ("B", "N", "S"),
    "ProjectionType": ("ALL", "INCLUDE", "KEYS_ONLY"),
    "BillingMode": ("PROVISIONED", "PAY_PER_REQUEST"),
}

# Members of a structure come in the order of the model, except here.
MEMBER_ORDER: dict[str, tuple[str, ...]] = {
    "ProvisionedThroughput": ("WriteCapacityUnits", "ReadCapacityUnits"),
}

# Entries of an operation come in this order; what is not named follows in the order of the model.
ENTRY_ORDER: dict[str, tuple[str, ...]] = {
    "PutItem": (
        *("ReturnConsumedCapacity", "TableName", "Item", "ConditionalOperator", "Expected", "ReturnValues"),
        "ReturnItemCollectionMetrics",
    ),
    "UpdateItem": (
        *("ReturnConsumedCapacity", "TableName", "ReturnItemCollectionMetrics", "ReturnValues", "Key"),
        *("ConditionalOperator", "Expected", "AttributeUpdates"),
    ),
    "DeleteItem": (
        *("ReturnConsumedCapacity", "TableName", "ReturnValues", "ReturnItemCollectionMetrics", "Key"),
        *("ConditionalOperator", "Expected"),
    ),
    "GetItem": ("ReturnConsumedCapacity", "AttributesToGet", "TableName", "Key"),
    "Query": (
        *("Select", "IndexName", "ReturnConsumedCapacity", "QueryFilter", "TableName", "ConditionalOperator"),
        *("AttributesToGet", "Limit", "KeyConditions", "ExclusiveStartKey"),
    ),
    "Scan": (
        *("Select", "IndexName", "TotalSegments", "ReturnConsumedCapacity", "TableName", "ConditionalOperator"),
        *("ScanFilter", "Segment", "Limit", "AttributesToGet"),
    ),
    "CreateTable": (
        *("AttributeDefinitions", "TableName", "BillingMode", "ProvisionedThroughput", "KeySchema"),
        # A bad name of a global index is told before anything about local ones, the rest of it after.
        *("GlobalSecondaryIndexes.IndexName", "LocalSecondaryIndexes", "GlobalSecondaryIndexes"),
    ),
}

# ---- Sentences -----------------------------------------------------------------------------------------------------


class Sentence(NamedTuple):
    """A text of its own in place of an entry of the list, told only when the list is empty."""

    text: str
    newer_lists: bool = False  # whether the newer layer reports an ordinary entry instead


# (shape, broken constraint) -> what is said instead of an entry.
SENTENCES: dict[tuple[str, str], Sentence] = {
    ("BatchGetRequestMap", "min"): Sentence(
        "The requestItems parameter is required for BatchGetItem", newer_lists=True
    ),
    ("BatchWriteItemRequestMap", "min"): Sentence("The requestItems parameter is required for BatchWriteItem"),
    ("BoundedTableName", "bounds"): Sentence(
        "TableName must be at least 3 characters long and at most 255 characters long"
    ),
    ("TableClass", "enum"): Sentence(
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
    ),
}

# Members whose absence is told before, and without, anything else.
WHEN_MISSING: dict[tuple[str, str], str] = {
    ("CreateTable", "TableName"): "The parameter 'TableName' is required but was not present in the request",
}

# ---- The newer layer -----------------------------------------------------------------------------------------------

NEWER_OPERATIONS = frozenset({"PutItem", "UpdateItem", "DeleteItem", "GetItem", "BatchGetItem", "Query", "Scan"})

# Broken bounds are told without the value and with the member's own capitals; the rest reads as before.
NEWER_CONSTRAINTS = frozenset({"min", "max"})
UNCHANGED_IN_NEWER = frozenset({(TABLE_NAME, "max")})

# These two say neither value nor member, and print sets of their own (with the service's spelling).
NEWER_ENTRIES: dict[str, str] = {
    "ReturnValue": (
        "Failed to satisfy constraint: Member must satisfy enum value set: "
        "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
    ),
    "ConditionalOperator": "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
}

# (operation, member) whose entry, in the newer layer, is the only one reported.
ALONE_IN_NEWER = frozenset({("UpdateItem", "ReturnValues")})

ENTRIES_MAX = 10

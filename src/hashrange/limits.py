"""Numbers that come from DynamoDB, each with where it was learned.

"Developer guide" is the page "Quotas in Amazon DynamoDB"; "observed" means seen on the live service.
"""

from __future__ import annotations

# Items (developer guide; 409,600 passes and 409,601 does not: observed)
ITEM_SIZE_BYTES_MAX = 400 * 1024
NESTING_LEVELS_MAX = 32  # the attribute itself counts as one (observed)

# Keys (developer guide)
PARTITION_KEY_BYTES_MAX = 2048
SORT_KEY_BYTES_MAX = 1024
ATTRIBUTE_NAME_BYTES_MAX = 65_535

# Numbers (developer guide, "Naming rules and data types")
NUMBER_DIGITS_MAX = 38
NUMBER_EXPONENT_MAX = 125
NUMBER_EXPONENT_MIN = -130

# Expressions (developer guide; operator count and path length observed)
EXPRESSION_BYTES_MAX = 4096
EXPRESSION_OPERATORS_MAX = 300
EXPRESSION_PATH_ELEMENTS_MAX = 32
EXPRESSION_IN_OPERANDS_MAX = 100
PLACEHOLDER_BYTES_MAX = 255
PLACEHOLDERS_TOTAL_BYTES_MAX = 2 * 1024 * 1024  # all names, or all values, of a request
LIST_INDEX_MAX = 2**31 - 1

# Requests (developer guide)
REQUEST_BODY_BYTES_MAX = 16 * 1024 * 1024
REQUEST_HEADER_BYTES_MAX = 16 * 1024
PAGE_BYTES_MAX = 1024 * 1024
BATCH_GET_KEYS_MAX = 100
BATCH_GET_RESPONSE_BYTES_MAX = 16 * 1024 * 1024
BATCH_WRITE_REQUESTS_MAX = 25
TRANSACTION_BYTES_MAX = 4 * 1024 * 1024
TRANSACTION_TOKEN_SECONDS = 600

# Capacity units (developer guide)
READ_UNIT_BYTES = 4096
WRITE_UNIT_BYTES = 1024

# Tables and indexes (developer guide)
TABLES_PER_REGION_MAX = 2500
LOCAL_INDEXES_MAX = 5
GLOBAL_INDEXES_MAX = 20
PROJECTED_ATTRIBUTES_MAX = 100
ITEM_COLLECTION_BYTES_MAX = 10 * 1024**3
GLOBAL_INDEX_KEY_ATTRIBUTES_MAX = 4  # for each of partition and sort key, since November 2025
TABLE_CAPACITY_UNITS_MAX = 40_000
ON_DEMAND_READ_UNITS = 12_000  # what a new on-demand table sustains at once
ON_DEMAND_WRITE_UNITS = 4_000
PARTITION_READ_UNITS = 3_000  # per second, at most
PARTITION_WRITE_UNITS = 1_000
PARTITION_BYTES = 10 * 1024**3
ACCOUNT_CAPACITY_UNITS_MAX = 80_000
CAPACITY_UNITS_BOUND = 10**12  # a requested throughput above this is refused outright (observed)
TAGS_PER_RESOURCE_MAX = 50
TAGS_PAGE = 10  # ListTagsOfResource answers ten at a time (observed)
TABLE_NAMES_PAGE_MAX = 100
RESOURCE_POLICY_BYTES_MAX = 20 * 1024  # with all its white space
DECREASES_PER_DAY_FREE = 4  # further ones need an hour without a decrease before them
TABLE_CLASS_CHANGES_PER_30_DAYS = 2

# Streams (developer guide)
STREAM_RETENTION_SECONDS = 24 * 3600
SHARD_ITERATOR_SECONDS = 15 * 60
RECORDS_PAGE_MAX = 1000
RECORDS_PAGE_BYTES_MAX = 1024 * 1024
STREAMS_PAGE_MAX = 100
SHARDS_PAGE_MAX = 100

# Backups and point-in-time recovery (developer guide)
RECOVERY_DAYS_MAX = 35
DELETED_TABLE_BACKUP_DAYS = 35  # how long the backup of a deleted table with point-in-time recovery is kept
RESTORES_AT_ONCE_MAX = 50
BACKUPS_PAGE_MAX = 100

# Export, import and bulk operations (developer guide)
TRANSFER_TOKEN_SECONDS = 8 * 3600  # how long a client token names the same export, import or bulk operation
TRANSFER_KEPT_DAYS = 90  # how long a finished one is listed and described
TRANSFERS_PAGE_MAX = 25
BULK_OPERATIONS_PAGE = 10  # what ListBulkOperations answers when it is not told
INCREMENTAL_EXPORT_SECONDS_MIN = 15 * 60
INCREMENTAL_EXPORT_SECONDS_MAX = 24 * 3600
IMPORTS_AT_ONCE_MAX = 50
EXPORTS_AT_ONCE_MAX = 300
IMPORT_OBJECTS_MAX = 50_000

# Triggers (Lambda developer guide, "Using Lambda with DynamoDB" and its quotas)
TRIGGER_EVENT_BYTES_MAX = 6 * 1024 * 1024
FUNCTION_SECONDS_MAX = 900  # after this long a call has failed
FILTER_PATTERNS_MAX = 5
FILTER_PATTERN_CHARACTERS_MAX = 4096
TRIGGERS_PAGE = 100

# Kinesis destinations (Kinesis developer guide, PutRecords; retention and lingering observed)
KINESIS_RECORDS_MAX = 500
KINESIS_REQUEST_BYTES_MAX = 5 * 1024 * 1024
KINESIS_RETENTION_SECONDS = 24 * 3600
KINESIS_DISABLED_SECONDS = 300  # how long a disabled destination is still shown

# Contributor Insights (API reference)
INSIGHTS_PAGE_MAX = 100

# Auto scaling (Application Auto Scaling user guide, "Quotas", and API reference)
SCALABLE_TARGETS_MAX = 5000  # for DynamoDB, in an account and region
SCHEDULED_ACTIONS_MAX = 200  # for each scalable target
SCALING_ACTIVITIES_KEPT_DAYS = 42
SCALING_PAGE_MAX = 50

# Time to live (developer guide: items that expired more than five years ago are kept)
TTL_AGE_SECONDS_MAX = 5 * 365 * 24 * 3600

# PartiQL (developer guide)
PARTIQL_IN_VALUES_MAX = 100  # one more than an expression allows
PARTIQL_PARTITION_VALUES_MAX = 50
PARTIQL_PARTITION_VALUES_PAGE = 10

# Signatures (observed, in the texts of errors; lifetimes: IAM user guide, Signature Version 4)
SIGNATURE_SKEW_SECONDS_MAX = 5 * 60
PRESIGNED_SECONDS_MAX = 7 * 24 * 3600

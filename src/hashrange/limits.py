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
ACCOUNT_CAPACITY_UNITS_MAX = 80_000
CAPACITY_UNITS_BOUND = 10**12  # a requested throughput above this is refused outright (observed)
TAGS_PER_RESOURCE_MAX = 50
TAGS_PAGE = 10  # ListTagsOfResource answers ten at a time (observed)
TABLE_NAMES_PAGE_MAX = 100
DECREASES_PER_DAY_FREE = 4  # further ones need an hour without a decrease before them
TABLE_CLASS_CHANGES_PER_30_DAYS = 2

# Streams (developer guide)
STREAM_RETENTION_SECONDS = 24 * 3600
SHARD_ITERATOR_SECONDS = 15 * 60
RECORDS_PAGE_MAX = 1000
RECORDS_PAGE_BYTES_MAX = 1024 * 1024
STREAMS_PAGE_MAX = 100
SHARDS_PAGE_MAX = 100

# Time to live (developer guide: items that expired more than five years ago are kept)
TTL_AGE_SECONDS_MAX = 5 * 365 * 24 * 3600

# PartiQL (developer guide)
PARTIQL_IN_VALUES_MAX = 100  # one more than an expression allows
PARTIQL_PARTITION_VALUES_MAX = 50
PARTIQL_PARTITION_VALUES_PAGE = 10

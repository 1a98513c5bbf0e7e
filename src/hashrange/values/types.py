"""The ten types of an attribute value, and the shape a value has everywhere in this program.

A value is the plain dict of DynamoDB's JSON, with exactly one member, named after its type:

    {"S": "text"}   {"N": "1.5"}   {"B": "AQI="}   {"BOOL": true}   {"NULL": true}
    {"SS": ["a", "b"]}   {"NS": ["1", "2"]}   {"BS": ["AQI="]}   {"L": [value, ...]}   {"M": {name: value, ...}}

A value that has been through `values.attribute` is normalised: numbers have one spelling and sets are sorted, so
two values are equal exactly when the dicts are.
"""

from __future__ import annotations

from typing import Any

AttributeValue = dict[str, Any]
Attributes = dict[str, AttributeValue]

STRING = "S"
NUMBER = "N"
BINARY = "B"
BOOLEAN = "BOOL"
NULL = "NULL"
STRING_SET = "SS"
NUMBER_SET = "NS"
BINARY_SET = "BS"
LIST = "L"
MAP = "M"

KEY_TYPES = frozenset({STRING, NUMBER, BINARY})
SET_TYPES = frozenset({STRING_SET, NUMBER_SET, BINARY_SET})

LONG_NAMES = {
    STRING: "STRING",
    NUMBER: "NUMBER",
    BINARY: "BINARY",
    BOOLEAN: "BOOLEAN",
    NULL: "NULL",
    STRING_SET: "STRING_SET",
    NUMBER_SET: "NUMBER_SET",
    BINARY_SET: "BINARY_SET",
    LIST: "LIST",
    MAP: "MAP",
}

TYPE_CODES = frozenset(LONG_NAMES)

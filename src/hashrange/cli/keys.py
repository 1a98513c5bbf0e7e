"""Primary keys as people type them: DynamoDB JSON, or plain JSON where the table's schema says what is meant."""

from __future__ import annotations

import json
from typing import Any

from hashrange.cli.options import ConfigurationError
from hashrange.engine.keys import PrimaryKey
from hashrange.engine.table import Table
from hashrange.errors import ClientError
from hashrange.values.attribute import MalformedValue, check_attributes
from hashrange.values.types import Attributes, AttributeValue


class NumberText(str):
    """A JSON number as it was written, since floats do not hold 38 digits."""


def parse_key(table: Table, text: str) -> Attributes:
    """The normalised key attributes that a text names."""
    try:
        members = json.loads(text, parse_int=NumberText, parse_float=NumberText)
    except ValueError:
        members = None
    wanted = example_of(table.key)
    if not isinstance(members, dict) or set(members) != set(table.key.names):
        raise ConfigurationError(f"The key of {table.name} looks like {wanted}, not {text}.")
    try:
        key = {name: value_of(table.key.types[name], members[name]) for name in table.key.names}
        check_attributes(key)
        table.key.of_key(key)
    except (ClientError, MalformedValue) as error:
        why = f" ({error})" if isinstance(error, ClientError) else ""
        raise ConfigurationError(f"The key of {table.name} looks like {wanted}, not {text}{why}.") from None
    return key


def value_of(kind: str, given: Any) -> AttributeValue:
    """A key attribute of a type; strings and numbers need not say which they are."""
    if isinstance(given, dict):
        return given
    if isinstance(given, NumberText):
        return {"N": str(given)}
    return {"N" if kind == "N" else "S": given}


def example_of(key: PrimaryKey) -> str:
    examples = {"S": '"text"', "N": "1", "B": '{"B": "AQI="}'}
    return "{" + ", ".join(f'"{name}": {examples[kind]}' for name, kind in key.types.items()) + "}"

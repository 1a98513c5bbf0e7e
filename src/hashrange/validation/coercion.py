"""The types of a request's members: what converts is converted, what does not is a SerializationException.

Members that are null or unknown are dropped. The first member of a wrong type, in the order of the request's body,
ends the walk. Attribute values are walked too, to any depth that an item may have.
"""

from __future__ import annotations

import math
from typing import Any

from hashrange.errors import SerializationException
from hashrange.limits import NESTING_LEVELS_MAX
from hashrange.validation import wording
from hashrange.validation.schema import Schema, Shape
from hashrange.values import binary

JAVA_PACKAGE = "com.amazonaws.dynamodb.v20120810"
JAVA_CLASSES = {
    "string": "java.lang.String",
    "boolean": "java.lang.Boolean",
    "integer": "java.lang.Integer",
    "long": "java.lang.Long",
    "double": "java.lang.Double",
    "timestamp": "java.util.Date",
    "blob": "java.nio.ByteBuffer",
}
TRUE_TEXTS = frozenset({"true", "1", "yes"})
FALSE_TEXTS = frozenset({"false", "0", "no"})
STRUCTURE_UNEXPECTED = "Start of structure or map found where not expected"

CONTENT_TYPES: dict[str, type] = {
    "S": str,
    "N": str,
    "BOOL": bool,
    "NULL": bool,
    "SS": list,
    "NS": list,
    "BS": list,
    "M": dict,
    "L": list,
}


def coerced_structure(schema: Schema, shape: Shape, given: dict[str, Any], level: int = 0) -> dict[str, Any]:
    """A copy of the structure with its known members, each in the type that the model gives it."""
    if shape.name == wording.ATTRIBUTE_VALUE:
        level += 1
        if level > NESTING_LEVELS_MAX + 1:  # `values` refuses it for its depth; no need to follow it down
            return given
    cleaned = {}
    for name, value in given.items():
        member = shape.members.get(name)
        if member is not None and value is not None:
            cleaned[name] = coerced(schema, schema.shape(member), value, level)
    return cleaned


def coerced(schema: Schema, shape: Shape, given: Any, level: int, *, element: bool = False) -> Any:
    """One value in the type of its shape; `element` tells that it is one of a list or map."""
    if shape.kind == "structure":
        if shape.name == wording.ATTRIBUTE_VALUE and is_plain_value(given, level + 1):
            return given
        if isinstance(given, dict):
            return coerced_structure(schema, shape, given, level)
        scalar_error = "Unexpected value type in payload" if element else "Unexpected field type"
    elif shape.kind == "map":
        if isinstance(given, dict):
            return _coerced_map(schema, shape, given, level)
        scalar_error = "Unexpected field type"
    elif shape.kind == "list":
        if isinstance(given, list):
            return _coerced_list(schema, shape, given, level)
        scalar_error = "Unexpected field type"
    elif not isinstance(given, dict | list):
        return _coerced_scalar(shape.kind, given)
    if isinstance(given, dict):
        raise SerializationException(STRUCTURE_UNEXPECTED)
    if isinstance(given, list):
        raise SerializationException(f"Unrecognized collection type {java_type(schema, shape)}")
    raise SerializationException(scalar_error)


def is_plain_value(given: Any, level: int) -> bool:
    """Whether an attribute value needs no change: most are of the right type, and copying them all would take long."""
    if type(given) is not dict or len(given) != 1 or level > NESTING_LEVELS_MAX:
        return False
    [(kind, content)] = given.items()
    if not isinstance(content, CONTENT_TYPES.get(kind, ())):
        return False
    if isinstance(content, dict):
        return all(is_plain_value(element, level + 1) for element in content.values())
    if isinstance(content, list):
        if kind == "L":
            return all(is_plain_value(element, level + 1) for element in content)
        return kind != "BS" and all(isinstance(member, str) for member in content)
    return True


def _coerced_list(schema: Schema, shape: Shape, given: list[Any], level: int) -> list[Any]:
    if shape.is_hopeless(len(given)):
        return given
    element = _element(schema, shape)
    values = [_instead_of_null(element) if value is None else value for value in given]
    return [coerced(schema, element, value, level, element=True) for value in values if value is not None]


def _coerced_map(schema: Schema, shape: Shape, given: dict[str, Any], level: int) -> dict[str, Any]:
    if shape.is_hopeless(len(given)):
        return given
    element = _element(schema, shape)
    values = {key: _instead_of_null(element) if value is None else value for key, value in given.items()}
    return {
        key: coerced(schema, element, value, level, element=True) for key, value in values.items() if value is not None
    }


def _instead_of_null(element: Shape) -> dict[str, Any] | None:
    """A null among elements is a structure without members, so that what it lacks can be told; never a silent loss."""
    return {} if element.kind == "structure" else None


def _element(schema: Schema, shape: Shape) -> Shape:
    assert shape.element is not None
    return schema.shape(shape.element)


def _coerced_scalar(kind: str, given: Any) -> Any:
    if kind == "string" and isinstance(given, str):
        return given
    if kind == "boolean" and isinstance(given, bool | str):
        return given if isinstance(given, bool) else _boolean(given)
    if kind == "blob":
        return _blob(given)
    if kind in ("integer", "long") and isinstance(given, int | float) and not isinstance(given, bool):
        if abs(given) < 2**63:
            return math.floor(given)
        raise SerializationException(f"{json_token(given)} cannot be converted to Long")  # which has 64 bits
    if kind in ("double", "timestamp") and isinstance(given, int | float) and not isinstance(given, bool):
        return given
    target = JAVA_CLASSES[kind].rpartition(".")[2]
    raise SerializationException(f"{json_token(given)} cannot be converted to {target}")


def _boolean(given: str) -> bool:
    text = given.lower()
    if text in TRUE_TEXTS or text in FALSE_TEXTS:
        return text in TRUE_TEXTS
    raise SerializationException("Unexpected token received from parser")


def _blob(given: Any) -> str:
    if not isinstance(given, str):
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
    binary.decode(given)
    return given


def json_token(given: Any) -> str:
    """What the service's JSON parser calls a scalar."""
    if given is True:
        return "TRUE_VALUE"
    if given is False:
        return "FALSE_VALUE"
    if isinstance(given, str):
        return "STRING_VALUE"
    return "NUMBER_VALUE" if isinstance(given, int) else "DECIMAL_VALUE"


def java_type(schema: Schema, shape: Shape) -> str:
    """A shape as Java prints its type: a class, or a parameterised collection."""
    name = _java_name(schema, shape)
    return name if shape.kind in ("map", "list") else f"class {name}"


def _java_name(schema: Schema, shape: Shape) -> str:
    if shape.kind == "map":
        return f"java.util.Map<java.lang.String, {_java_name(schema, _element(schema, shape))}>"
    if shape.kind == "list":
        return f"java.util.List<{_java_name(schema, _element(schema, shape))}>"
    return JAVA_CLASSES.get(shape.kind, f"{JAVA_PACKAGE}.{shape.name}")

"""The books that a request keeps on its placeholders: ExpressionAttributeNames and ExpressionAttributeValues."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hashrange.errors import Oversized, ValidationException
from hashrange.limits import PLACEHOLDER_BYTES_MAX, PLACEHOLDERS_TOTAL_BYTES_MAX
from hashrange.values.attribute import MalformedValue, check_value

NAMES = "ExpressionAttributeNames"
VALUES = "ExpressionAttributeValues"

_KEY = re.compile(r"[#:][A-Za-z0-9_]+")


@lru_cache(maxsize=4096)
def _is_placeholder(key: str, sigil: str) -> bool:
    return key.startswith(sigil) and len(key) <= PLACEHOLDER_BYTES_MAX and _KEY.fullmatch(key) is not None


def checked_names(names: object) -> dict[str, str]:
    """The names, which must be well-formed."""
    if not isinstance(names, dict):
        raise MalformedValue
    _check_keys(names, NAMES, "#")
    total_bytes = 0
    for key, name in names.items():
        if not isinstance(name, str):
            raise MalformedValue
        if not name:
            raise _invalid(f"{NAMES} contains invalid value: Empty attribute name for key {key}")
        total_bytes += len(key) + len(name)
    _check_total(total_bytes, NAMES)
    return names


def checked_values(values: object) -> dict[str, Any]:
    """The values, checked and normalised in place."""
    if not isinstance(values, dict):
        raise MalformedValue
    _check_keys(values, VALUES, ":")
    total_bytes = 0
    for key, value in values.items():
        try:
            total_bytes += len(key) + check_value(value)
        except Oversized:
            raise
        except ValidationException as error:
            raise ValidationException(
                f"{VALUES} contains invalid value: {error.message} for key {key}",
                newer=error.newer,
                enveloped=error.enveloped,
            ) from None
    _check_total(total_bytes, VALUES)
    return values


def _check_keys(placeholders: dict[str, Any], parameter: str, sigil: str) -> None:
    if not placeholders:
        raise _invalid(f"{parameter} must not be empty")
    for key in placeholders:
        if not _is_placeholder(key, sigil):
            raise _invalid(f'{parameter} contains invalid key: Syntax error; key: "{key}"')


def _check_total(size_bytes: int, parameter: str) -> None:
    if size_bytes > PLACEHOLDERS_TOTAL_BYTES_MAX:
        raise Oversized(f"{parameter} exceeds max size", enveloped=True)


def names_without_expression() -> ValidationException:
    return _invalid(f"{NAMES} can only be specified when using expressions")


def values_without_expression(value_expressions: tuple[str, ...]) -> ValidationException:
    """`value_expressions` are the parameters of the operation that could have used values."""
    text = f"{VALUES} can only be specified when using expressions"
    verb = "is" if len(value_expressions) == 1 else "are"
    return ValidationException(f"{text}: {' and '.join(value_expressions)} {verb} null", newer=text, enveloped=True)


def unused(parameter: str, keys: Iterable[str]) -> ValidationException:
    return _invalid(f"Value provided in {parameter} unused in expressions: keys: {{{', '.join(keys)}}}")


def _invalid(text: str) -> ValidationException:
    return ValidationException(text, enveloped=True)

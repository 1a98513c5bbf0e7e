"""Requests that are far too long are refused quickly, whatever is in them."""

import time
from typing import Any

import pytest

from hashrange.errors import ValidationException
from hashrange.validation.shape import load

TOO_LONG: list[tuple[str, dict[str, Any], str]] = [
    ("TransactWriteItems", {"TransactItems": [{}] * 1_000_000}, "transactItems"),
    ("TransactWriteItems", {"TransactItems": [1] * 1_000_000}, "transactItems"),
    ("TransactGetItems", {"TransactItems": [[]] * 1_000_000}, "transactItems"),
    ("BatchGetItem", {"RequestItems": {f"table{number}": 1 for number in range(200_000)}}, "requestItems"),
    ("BatchWriteItem", {"RequestItems": {f"table{number}": {} for number in range(200_000)}}, "requestItems"),
]


@pytest.mark.parametrize(("operation", "request_", "member"), TOO_LONG)
def test_a_hopeless_request_is_refused_at_once(operation: str, request_: dict[str, Any], member: str) -> None:
    started = time.process_time()
    with pytest.raises(ValidationException, match=f"'{member}' failed to satisfy constraint: Member must have length"):
        load("dynamodb")[operation].explain(request_)
    assert time.process_time() - started < 0.5

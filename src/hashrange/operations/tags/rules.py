"""What tags may look like, and whose they are."""

from __future__ import annotations

import re
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.keys import INVALID
from hashrange.engine.scope import Scope, scope_of
from hashrange.errors import ResourceNotFoundException, ValidationException
from hashrange.limits import TAGS_PER_RESOURCE_MAX
from hashrange.storage.interface import Snapshot

TAG_TEXT = re.compile(r"[\w\s+\-=.:/@]*", re.UNICODE)
TABLE_ARN = re.compile(r"table/([a-zA-Z0-9_.-]+)(/stream/[^/]+)?")


def check_tags(tags: list[dict[str, Any]]) -> dict[str, str]:
    """Tags given in a request, by key."""
    checked: dict[str, str] = {}
    for tag in tags:
        key, value = tag["Key"], tag["Value"]
        if not TAG_TEXT.fullmatch(key):
            raise ValidationException(f"{INVALID}The Tag Key provided is invalid, Key: {key}")
        if not TAG_TEXT.fullmatch(value):
            raise ValidationException(f"{INVALID}The Tag Value provided is invalid, Value: {value}")
        if key.startswith("aws:"):
            raise ValidationException(f"{INVALID}Tag Key cannot be prefixed with aws:, Key: {key}")
        if key in checked:
            raise ValidationException(f"{INVALID}Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        checked[key] = value
    check_tag_count(checked)
    return checked


def check_tag_count(tags: dict[str, str]) -> None:
    if len(tags) > TAGS_PER_RESOURCE_MAX:
        raise ValidationException(f"{INVALID}Number of Tags exceed the current limit for the provided ResourceArn")


def tagged_table(db: Database, snapshot: Snapshot, scope: Scope, arn: str) -> TableDefinition:
    """The table that a resource ARN names."""
    account, name = parse_resource_arn(arn, scope)
    table = db.catalog.find(snapshot, scope_of(account, scope.region), name)
    if table is None:
        raise ResourceNotFoundException(f"Requested resource not found: ResourceArn: {arn} not found")
    return table.definition


def parse_resource_arn(arn: str, scope: Scope) -> tuple[str, str]:
    if not arn.startswith("arn:"):
        raise ValidationException(f"{INVALID}ARNs must start with 'arn:': {arn}")
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[2] != "dynamodb":
        raise ValidationException(f"{INVALID}Provided Arn is not a DynamoDB resource arn: {arn}")
    match = TABLE_ARN.fullmatch(parts[5])
    if match is None:
        raise ValidationException(
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    if parts[3] != scope.region:
        raise ResourceNotFoundException(f"Requested resource not found: ResourceArn: {arn} not found")
    return parts[4], match.group(1)


def read_tags(snapshot: Snapshot, table: TableDefinition) -> dict[str, str]:
    stored = snapshot.get(keyspace.tags_key(table.id))
    tags: dict[str, str] = {} if stored is None else orjson.loads(stored)
    return tags

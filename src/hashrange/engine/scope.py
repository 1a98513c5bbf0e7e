"""Where a request lands: the account and the region whose tables it sees."""

from __future__ import annotations

from functools import lru_cache

from hashrange.engine import keyspace
from hashrange.errors import ResourceNotFoundException, ValidationException


class Scope:
    """One account in one region. Tables of different scopes never meet."""

    __slots__ = ("account", "prefix", "region")

    def __init__(self, account: str, region: str) -> None:
        self.account = account
        self.region = region
        self.prefix = keyspace.scope_prefix(account, region)

    def table_arn(self, name: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"


@lru_cache(maxsize=4096)
def scope_of(account: str, region: str) -> Scope:
    return Scope(account, region)


def resolve_table(scope: Scope, name_or_arn: str) -> tuple[Scope, str]:
    """The scope and the plain name of a table given by name or by ARN."""
    if not name_or_arn.startswith("arn:"):
        return scope, name_or_arn
    account, name = parse_table_arn(name_or_arn, scope)
    return scope_of(account, scope.region), name


def parse_table_arn(arn: str, scope: Scope) -> tuple[str, str]:
    """Account and table name of a table ARN; it must be of the request's own region."""
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[2] != "dynamodb" or not parts[5].startswith("table/"):
        raise ValidationException(f"Invalid table ARN: {arn}")
    name = parts[5].removeprefix("table/")
    if not name or "/" in name:
        raise ValidationException(f"Invalid table ARN: {arn}")
    if parts[3] != scope.region:
        raise ResourceNotFoundException()
    return parts[4], name

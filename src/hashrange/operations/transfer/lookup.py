"""Finding exports, imports and bulk operations by the names that clients use, one by one or in pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.errors import ValidationException
from hashrange.operations.operation import Request
from hashrange.storage.interface import Snapshot
from hashrange.transfer.transfer import Transfer, find, newest_first

TABLE_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:([^:]+):([^:]*):table/([a-zA-Z0-9_.-]+)")
TRANSFER_ARN = re.compile(TABLE_ARN.pattern + r"/([a-z-]+)/([0-9]{14}-[0-9a-f]{8})")
TOKEN_BYTES = 56  # tokens have at least 112 hexadecimal digits, in groups of sixteen


def find_transfer(snapshot: Snapshot, scope: Scope, kind: str, arn: str, *, invalid: str) -> Transfer | None:
    """The transfer of an ARN, if it is of the request's own Region; `invalid` is said about an ARN of another kind."""
    match = TRANSFER_ARN.fullmatch(arn)
    if match is None or match[4] != kind:
        raise ValidationException(invalid)
    region, account, name, _, identifier = match.groups()
    transfer = find(snapshot, keyspace.transfer_key(keyspace.scope_prefix(account, region), kind, identifier))
    if transfer is None or transfer.table.name != name or region != scope.region:
        return None
    return transfer


def page_of(
    db: Database, request: Request, kind: str, *, limit: int, is_wanted: Callable[[Transfer], bool] = lambda each: True
) -> tuple[list[Transfer], str | None]:
    """The next transfers of a scope, the latest first, and the token of the page after them."""
    before = id_of_token(request["NextToken"]) if "NextToken" in request else None
    now = db.clock.micros()
    with db.read() as snapshot:
        found = (
            each
            for each in newest_first(snapshot, request.scope.prefix, kind, before_id=before)
            if each.expires_at_micros > now and is_wanted(each)
        )
        page = list(islice(found, limit + 1))
    return page[:limit], token_of(page[limit - 1].id) if len(page) > limit else None


def is_about(arn: str | None) -> Callable[[Transfer], bool]:
    """Whether a transfer is about the table that a request names, if it names one."""
    if arn is not None and TABLE_ARN.fullmatch(arn) is None:
        raise ValidationException(f"Invalid table ARN: {arn}")
    return lambda transfer: arn is None or transfer.table.arn == arn


def token_of(identifier: str) -> str:
    return identifier.encode().ljust(TOKEN_BYTES, b"\0").hex()


def id_of_token(token: str) -> str:
    try:
        return bytes.fromhex(token).rstrip(b"\0").decode("ascii")
    except ValueError:
        raise ValidationException("Invalid NextToken") from None

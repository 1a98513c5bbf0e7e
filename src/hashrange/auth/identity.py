"""Who sends a request, once its signature has been verified."""

from __future__ import annotations

from dataclasses import dataclass

EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of an access key. Root may do everything in its account; anybody else what the policies allow."""

    access_key_id: str
    arn: str
    account: str
    policies: tuple[str, ...]  # identity policies, as JSON texts
    is_root: bool

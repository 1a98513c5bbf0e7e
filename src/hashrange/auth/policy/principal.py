"""Principals: whom a statement of a resource policy is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

ACCOUNT = re.compile(r"[0-9]{12}")
ARN = re.compile(r"arn:aws[a-z-]*:(?:iam|sts)::([0-9]{12}):(root|(?:user|role|assumed-role|federated-user)/[^*?]+)")
OTHER_KINDS = ("Service", "Federated", "CanonicalUser")  # never the holder of an access key


class Reach(IntEnum):
    """How a principal reaches somebody. An account passes what it is granted on to whom its own policies allow it;
    so, within the account, that alone allows nothing."""

    NOT = 0
    THROUGH_ACCOUNT = 1
    DIRECTLY = 2


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, as policies know him."""

    arn: str
    account: str


class Principals:
    """Everybody whom an element `Principal` names."""

    __slots__ = ("_accounts", "_arns", "_everybody")

    def __init__(self, names: Sequence[str]) -> None:
        """`names` are stars, account ids and ARNs, which must be `is_principal`."""
        self._everybody = "*" in names
        self._accounts: set[str] = set()
        self._arns: set[str] = set()
        for name in names:
            match = ARN.fullmatch(name)
            if match is None:
                self._accounts.add(name)
            elif match[2] == "root":
                self._accounts.add(match[1])
            else:
                self._arns.add(name)

    @property
    def is_everybody(self) -> bool:
        return self._everybody

    def reach(self, asker: Asker) -> Reach:
        if self._everybody or asker.arn in self._arns:
            return Reach.DIRECTLY
        if asker.account not in self._accounts:
            return Reach.NOT
        return Reach.DIRECTLY if asker.arn == f"arn:aws:iam::{asker.account}:root" else Reach.THROUGH_ACCOUNT


def is_principal(name: str) -> bool:
    return name == "*" or ACCOUNT.fullmatch(name) is not None or ARN.fullmatch(name) is not None

"""The access key that the environment names: a server's first one, and that of whoever speaks to a server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hashrange.cli.options import ConfigurationError

if TYPE_CHECKING:
    from hashrange.auth.signing import SigningKeys

KEY_ID, SECRET = "HASHRANGE_ACCESS_KEY_ID", "HASHRANGE_SECRET_ACCESS_KEY"


def own_key(environment: Mapping[str, str] = os.environ) -> SigningKeys | None:
    key_id, secret = environment.get(KEY_ID), environment.get(SECRET)
    if bool(key_id) != bool(secret):
        raise ConfigurationError(f"{KEY_ID} and {SECRET} go together.")
    if not key_id or not secret:
        return None
    from hashrange.auth.signing import SigningKeys  # for those who have a key; others start without it

    return SigningKeys(access_key=key_id, secret_key=secret)

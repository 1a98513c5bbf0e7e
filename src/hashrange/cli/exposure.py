"""What a server needs before other machines may reach it: signatures that are verified, a key to sign with, and TLS."""

from __future__ import annotations

import logging
import os
import socket
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path

from hashrange import app
from hashrange.cli.options import ConfigurationError
from hashrange.cli.own_key import KEY_ID, SECRET
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore, files
from hashrange.values.ordered import after

log = logging.getLogger("hashrange.server")


def require_protection(settings: app.Settings, listening: socket.socket, *, insecure: bool) -> None:
    """Refuse to be open to other machines by mistake. `insecure` says that it is none."""
    keyless = settings.verify_signatures and not has_usable_keys(settings)
    address = listening.getsockname()[0]
    missing = [] if insecure or ip_address(address).is_loopback else protection_missing(settings, keyless=keyless)
    if missing:
        raise ConfigurationError(
            f"Other machines can reach {address}. Add {' and '.join(missing)}; or --insecure, to do without."
        )
    if keyless:
        log.warning("there are no access keys yet, so nobody can do anything; %s", how_to_make_one(settings.data))


def has_usable_keys(settings: app.Settings) -> bool:
    if not has_keys(settings.data):
        return settings.bootstrap is not None
    from hashrange.access.server_key import VARIABLE, NoServerKey, find_server_key  # only where there are keys

    try:
        server_key = find_server_key(settings.data, os.environ)
    except NoServerKey as error:
        raise ConfigurationError(str(error)) from None
    if server_key is None:
        raise ConfigurationError(
            f"There are access keys in {settings.data}, but not what their secrets are derived from. Put the file "
            f"{files.SERVER_KEY} back or set {VARIABLE}; or rotate or delete the keys."
        )
    return True


def protection_missing(settings: app.Settings, *, keyless: bool) -> list[str]:
    missing = []
    if not settings.verify_signatures:
        missing.append("--auth verify")
    elif keyless:
        missing.append(f"an access key ({how_to_make_one(settings.data)})")
    if settings.ssl_context is None:
        missing.append("--tls-cert FILE --tls-key FILE (or --tls-self-signed)")
    return missing


def how_to_make_one(data: str | None) -> str:
    variables = f"set {KEY_ID} and {SECRET}"
    return variables if data is None else f"`hashrange keys create --full-access --data {data}`, or {variables}"


def has_keys(data: str | None) -> bool:
    """Whether the database in a directory, if there is one, has access keys."""
    if data is None or not files.look(Path(data)):
        return False
    with closing(LmdbStore.open(data, read_only=True)) as store, store.read() as snapshot:
        return any(True for _ in snapshot.scan(keyspace.ACCESS_KEY, after(keyspace.ACCESS_KEY), limit=1))

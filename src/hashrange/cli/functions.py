"""`hashrange functions`: name the functions that triggers may call."""

from __future__ import annotations

import argparse
import tomllib
from contextlib import closing
from pathlib import Path

from hashrange.cli.options import ConfigurationError
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore, Plan, write_and_wait
from hashrange.triggers.target import BadTarget, function_name, parse_target
from hashrange.values.ordered import after


def run(arguments: argparse.Namespace) -> int:
    with closing(open_existing(arguments.data, writes=arguments.action != "list")) as store:
        if arguments.action == "list":
            for name, target in registered(store):
                print(f"{name}  {target}")
            return 0
        key = key_of(arguments.name)
        if arguments.action == "set":
            value = target_of(arguments.target).encode()
            write_and_wait(store, lambda snapshot: Plan([(key, value)]))
            return 0
        if not write_and_wait(store, lambda snapshot: Plan([(key, None)], answer=snapshot.get(key))):
            raise ConfigurationError(f"There is no function {arguments.name}.")
    return 0


def configured_functions(path: str) -> dict[str, str]:
    """The functions of a configuration file, each a name and its target."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The file of functions {path} cannot be read: {error}.") from None
    for name, target in content.items():
        key_of(name)
        target_of(target if isinstance(target, str) else None)
    return content


def open_existing(data: str, *, writes: bool) -> LmdbStore:
    """The database of a directory, which may be in use by a server. None is made."""
    store = LmdbStore.open(data, read_only=True)
    if not writes:
        return store
    store.close()
    return LmdbStore.open(data)


def registered(store: LmdbStore) -> list[tuple[str, str]]:
    with store.read() as snapshot:
        entries = snapshot.scan(keyspace.FUNCTION, after(keyspace.FUNCTION))
        return [(key[len(keyspace.FUNCTION) :].decode(), stored.decode()) for key, stored in entries]


def key_of(name: str | None) -> bytes:
    if name is None or function_name(name) != name:
        raise ConfigurationError("A function needs a name of letters, digits, dots, dashes and underscores.")
    return keyspace.function_key(name)


def target_of(text: str | None) -> str:
    try:
        return str(parse_target(text or ""))
    except BadTarget as error:
        raise ConfigurationError(str(error)) from None

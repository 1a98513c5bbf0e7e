"""`hashrange keys`: make, change and end access keys."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from hashrange.access.key import AccessKey, new_id, new_salt
from hashrange.access.keyring import change, every_key, keep
from hashrange.access.server_key import NoServerKey, ServerKey, make_server_key
from hashrange.auth.policy.document import MalformedPolicy, identity_policy
from hashrange.cli.functions import open_existing
from hashrange.cli.moments import MICROS, moment_text, parse_duration
from hashrange.cli.options import ConfigurationError
from hashrange.clock import SystemClock
from hashrange.storage import LmdbStore, write_and_wait

USER_NAME = re.compile(r"[A-Za-z0-9+=,.@_-]{1,64}")  # as IAM has it
CREATE_ONLY = ("user", "description", "full_access", "expires")


def run(arguments: argparse.Namespace) -> int:
    check(arguments)
    if arguments.action == "list":
        return show_all(arguments)
    made = arguments.action == "create"  # the first key may well be the first thing in a database
    with closing(LmdbStore.open(arguments.data) if made else open_existing(arguments.data, writes=True)) as store:
        try:
            act(store, arguments)
        except NoServerKey as error:
            raise ConfigurationError(str(error)) from None
    return 0


def check(arguments: argparse.Namespace) -> None:
    """Refuse what does not fit the action."""
    action = arguments.action
    if (arguments.key is None) != (action in ("create", "list")):
        wanted = "takes no KEY" if arguments.key is not None else "needs a KEY; `list` shows them"
        raise ConfigurationError(f"hashrange keys {action} {wanted}.")
    if (arguments.policy is not None) != (action in ("attach", "detach")) and action != "create":
        raise ConfigurationError("attach and detach need --policy; only create has it besides them.")
    stray = [name for name in CREATE_ONLY if getattr(arguments, name)]
    if stray and action != "create":
        raise ConfigurationError(f"--{stray[0].replace('_', '-')} is for create.")
    if action == "create" and bool(arguments.policy) == arguments.full_access:
        raise ConfigurationError("Say what the key may do: --policy FILE or --full-access.")
    if not re.fullmatch("[0-9]{12}", arguments.account):
        raise ConfigurationError("--account must be twelve digits.")
    if arguments.user is not None and not USER_NAME.fullmatch(arguments.user):
        raise ConfigurationError("The name of a user has 1 to 64 letters, digits and + = , . @ _ -.")


def act(store: LmdbStore, arguments: argparse.Namespace) -> None:
    action = arguments.action
    if action == "create":
        server_key = make_server_key(arguments.data, os.environ)
        key = write_and_wait(store, keep(new_key(server_key, arguments)))
        show_secret(key, server_key, as_json=arguments.json)
    elif action == "rotate":
        server_key = make_server_key(arguments.data, os.environ)
        salt = new_salt()
        check = server_key.check_of(arguments.key, salt)
        old = changed(store, arguments.key, lambda key: replace(key, salt=salt, check=check))
        show_secret(replace(old, salt=salt), server_key, as_json=arguments.json)
    elif action == "attach":
        added = policies_of(arguments)
        changed(store, arguments.key, lambda key: with_policies(key, added))
    elif action == "detach":
        changed(store, arguments.key, lambda key: without_policies(key, arguments.policy))
    elif action == "delete":
        changed(store, arguments.key, lambda key: None)
    else:
        changed(store, arguments.key, lambda key: replace(key, disabled=action == "disable"))


def changed(store: LmdbStore, key_id: str, how: Callable[[AccessKey], AccessKey | None]) -> AccessKey:
    """Change a key; the key as it was."""
    old: AccessKey | None = write_and_wait(store, change(key_id, how))
    if old is None:
        raise ConfigurationError(f"There is no access key {key_id}; `hashrange keys list` shows those there are.")
    return old


def new_key(server_key: ServerKey, arguments: argparse.Namespace) -> AccessKey:
    now_seconds = int(SystemClock().seconds())
    temporary = arguments.expires is not None
    key_id, salt = new_id(temporary=temporary), new_salt()
    return AccessKey(
        id=key_id,
        account=arguments.account,
        salt=salt,
        check=server_key.check_of(key_id, salt),
        created_at_seconds=now_seconds,
        user=arguments.user,
        description=arguments.description,
        full_access=arguments.full_access,
        policies=policies_of(arguments),
        expires_at_seconds=now_seconds + parse_duration(arguments.expires) // MICROS if temporary else None,
    )


def policies_of(arguments: argparse.Namespace) -> dict[str, str]:
    """The policies of the files that the command names, by the names of the files."""
    return {Path(path).name.removesuffix(".json"): read_policy(Path(path)) for path in arguments.policy or ()}


def read_policy(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
        identity_policy(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The policy {path} cannot be read: {error}.") from None
    except MalformedPolicy as error:
        raise ConfigurationError(f"{path} does not hold an IAM policy: {error}") from None
    return text


def with_policies(key: AccessKey, added: dict[str, str]) -> AccessKey:
    if key.full_access:
        raise ConfigurationError(f"{key.id} has full access, which no policy changes.")
    return replace(key, policies={**key.policies, **added})


def without_policies(key: AccessKey, names: list[str]) -> AccessKey:
    missing = sorted(set(names) - set(key.policies))
    if missing:
        there = f"its policies are {', '.join(key.policies)}" if key.policies else "it has none"
        raise ConfigurationError(f"{key.id} has no policy {missing[0]}: {there}.")
    return replace(key, policies={name: text for name, text in key.policies.items() if name not in names})


def show_secret(key: AccessKey, server_key: ServerKey, *, as_json: bool) -> None:
    """The one time that a secret is shown, in a form that a shell can read."""
    shown = {"AWS_ACCESS_KEY_ID": key.id, "AWS_SECRET_ACCESS_KEY": server_key.secret_of(key)}
    if key.is_temporary:
        shown["AWS_SESSION_TOKEN"] = server_key.token_of(key)
    if as_json:
        print(json.dumps(shown))
        return
    for name, value in shown.items():
        print(f"{name}={value}")
    print("The secret is not shown again; keep it now.", file=sys.stderr)


def show_all(arguments: argparse.Namespace) -> int:
    now_seconds = SystemClock().seconds()
    with closing(open_existing(arguments.data, writes=False)) as store, store.read() as snapshot:
        for key in every_key(snapshot):
            print(json.dumps(described(key, now_seconds)) if arguments.json else line_of(key, now_seconds))
    return 0


def described(key: AccessKey, now_seconds: float) -> dict[str, Any]:
    """A key for programs: everything but what belongs to its secret."""
    return {
        "id": key.id,
        "arn": key.arn,
        "state": key.state(now_seconds),
        "created": moment_text(key.created_at_seconds * MICROS),
        "expires": None if key.expires_at_seconds is None else moment_text(key.expires_at_seconds * MICROS),
        "description": key.description,
        "full_access": key.full_access,
        "policies": {name: json.loads(text) for name, text in key.policies.items()},
    }


def line_of(key: AccessKey, now_seconds: float) -> str:
    may = "full access" if key.full_access else ", ".join(key.policies) or "no policies"
    since = moment_text(key.created_at_seconds * MICROS)
    return f"{key.id}  {key.state(now_seconds):<8}  {since}  {key.arn}  {may}  {key.description}".rstrip()

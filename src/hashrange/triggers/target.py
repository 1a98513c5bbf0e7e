"""What a trigger calls: a Python callable, an HTTP endpoint or a shell command.

    python:package.module:function      called with the event and a context, in a process of its own
    http://host/path, https://...       the event is POSTed
    command:text                        the event is the standard input of a shell command

Only who can write to the data directory or the configuration may name code to run. Whoever can merely reach the port
may name an HTTP endpoint, or a function that an operator has registered under a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from hashrange.engine import keyspace
from hashrange.storage.interface import Snapshot

PYTHON, HTTP, COMMAND = "python", "http", "command"
CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
URL_CHARACTERS = re.compile(r"[!-~]+")  # printable, no spaces; anything else is to be escaped
FUNCTION_NAME = re.compile(
    r"(?:arn:aws[a-zA-Z-]*:lambda:[^:]*:\d*:function:|\d{12}:function:|function:)?([a-zA-Z0-9_.-]+)(?::[$\w.-]+)?"
)


class BadTarget(Exception):
    """A text that names nothing that could be called. One sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something to call; `text` is the callable, the URL or the command."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == HTTP else f"{self.kind}:{self.text}"


def is_url(text: str) -> bool:
    """Whether a text is an address that can be POSTed to as it stands."""
    try:
        parts = urlsplit(text)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is none
        return False
    return is_complete and URL_CHARACTERS.fullmatch(text) is not None


def is_target(text: str) -> bool:
    """Whether a text is meant as a target, and not as the name of a function."""
    return text.startswith((f"{PYTHON}:", f"{COMMAND}:", "http://", "https://"))


def parse_target(text: str) -> Target:
    """The target that a text names; BadTarget if it is none."""
    if text.startswith(f"{PYTHON}:"):
        name = text.removeprefix(f"{PYTHON}:")
        if CALLABLE.fullmatch(name) is None:
            raise BadTarget(f"{text!r} is not of the form python:module:function.")
        return Target(PYTHON, name)
    if text.startswith(f"{COMMAND}:") and text.removeprefix(f"{COMMAND}:").strip():
        return Target(COMMAND, text.removeprefix(f"{COMMAND}:"))
    if text.startswith(("http://", "https://")) and is_url(text):
        return Target(HTTP, text)
    raise BadTarget(f"{text!r} is none of python:module:function, an http or https URL, and command:text.")


def function_name(text: str) -> str | None:
    """The plain name in a function's name or ARN; None if it is neither."""
    match = FUNCTION_NAME.fullmatch(text)
    return None if match is None else match.group(1)


def registered(snapshot: Snapshot, configured: Mapping[str, str], text: str) -> Target | None:
    """What an operator has registered under a name: in the database, or else in the configuration."""
    name = function_name(text)
    if name is None:
        return None
    stored = snapshot.get(keyspace.function_key(name))
    target = configured.get(name) if stored is None else stored.decode()
    return None if target is None else parse_target(target)


def resolve(snapshot: Snapshot, configured: Mapping[str, str], function: str) -> Target | None:
    """What a trigger's function is at this moment; None if it is a name that is no longer registered."""
    return parse_target(function) if is_target(function) else registered(snapshot, configured, function)

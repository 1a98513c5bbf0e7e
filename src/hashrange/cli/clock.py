"""`hashrange clock`: show or move the time of a server that was started with `--dev-clock`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import Any

import orjson

from hashrange.cli.endpoint import Endpoint
from hashrange.cli.moments import MICROS, parse_duration, parse_moment
from hashrange.cli.options import ConfigurationError

CLOCK_PATH = "/_hashrange/clock"
JSON = {"Content-Type": "application/json"}


def run(arguments: argparse.Namespace) -> int:
    if (arguments.value is not None) != (arguments.action in ("advance", "set")):
        raise ConfigurationError("advance and set take a VALUE; show and reset do not.")
    with closing(Endpoint(arguments.endpoint)) as endpoint:
        if arguments.action == "show":
            answer = ask(endpoint, "GET", None)
        else:
            answer = ask(endpoint, "POST", orjson.dumps(wanted(endpoint, arguments)))
    print(f"{answer['time']} ({moved(answer['offset_seconds'])})")
    if "warning" in answer:
        print(answer["warning"], file=sys.stderr)
    return 0


def wanted(endpoint: Endpoint, arguments: argparse.Namespace) -> dict[str, float | None]:
    """The body that asks for the move."""
    if arguments.action == "reset":
        return {"at": None}
    if arguments.action == "advance":
        return {"advance_seconds": parse_duration(arguments.value) / MICROS}
    now_micros = round(ask(endpoint, "GET", None)["epoch_seconds"] * MICROS)
    return {"at": parse_moment(arguments.value, now_micros) / MICROS}


def ask(endpoint: Endpoint, method: str, body: bytes | None) -> Any:
    status, answer = endpoint.request(method, CLOCK_PATH, body, JSON if body else {})
    if status == 404:
        raise ConfigurationError(f"The clock of {endpoint.url} cannot be moved: start it with --dev-clock.")
    try:
        members = orjson.loads(answer) if status == 200 else None
    except orjson.JSONDecodeError:
        members = None
    if not isinstance(members, dict):
        raise ConfigurationError(answer.decode("utf-8", "replace").strip() or f"The server answers {status}.")
    return members


def moved(seconds: float) -> str:
    if not seconds:
        return "the machine's own time"
    size = f"{abs(seconds):,.3f}".rstrip("0").rstrip(".")
    return f"{size} s {'ahead of' if seconds > 0 else 'behind'} the machine's"

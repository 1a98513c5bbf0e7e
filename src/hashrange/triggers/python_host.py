"""The other side of a `python:` target: a process that imports the callable and calls it, event after event.

    python -m hashrange.triggers.python_host package.module:function

Each line of standard input is a call, each line that goes back is its outcome. What the callable prints goes to
standard error. A process of its own keeps a slow or crashing function away from the database. The end of the input,
which is also the end of the server, ends it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from hashrange.clock import SystemClock


class Context:
    """What Lambda tells a function about its call."""

    function_version = "$LATEST"
    memory_limit_in_mb = "128"
    identity = None
    client_context = None

    def __init__(self, name: str, arn: str, request_id: str, seconds: float) -> None:
        self.function_name = name
        self.invoked_function_arn = arn
        self.aws_request_id = request_id
        self.log_group_name = f"/aws/lambda/{name}"
        self.log_stream_name = request_id
        self._ends_at = SystemClock().seconds() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - SystemClock().seconds()) * 1000))


def find(name: str) -> Callable[[Any, Context], Any]:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute)
    assert callable(found), f"{name} is not callable"
    return found  # type: ignore[no-any-return]


def outcome(function: Callable[[Any, Context], Any], call: dict[str, Any]) -> str:
    try:
        return json.dumps({"response": function(call["event"], Context(**call["context"]))})
    except Exception as error:
        traceback.print_exc()
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever is printed must not be taken for an answer
    function = find(sys.argv[1])
    for line in sys.stdin:
        print(outcome(function, json.loads(line)), file=answers, flush=True)


if __name__ == "__main__":
    main()

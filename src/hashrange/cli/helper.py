"""A helper process of a busy server: how it is started, and what it does (see hashrange.http.crew).

It is told the server's options on its standard input, and has two open files: its end of the channel to the server, and
the board on which processes tell each other what capacity they used.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
from typing import TYPE_CHECKING

import orjson

from hashrange.cli.options import Options

if TYPE_CHECKING:
    import subprocess


def hire(options: Options, board: int, processes: int, number: int, end: socket.socket) -> subprocess.Popen[bytes]:
    """Start a helper with this number. It finds the modules where we found them, whatever the current directory has."""
    import subprocess  # servers start without it, and most never need it

    files = (end.fileno(), board)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, *map(str, (*files, processes, number))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        pass_fds=files,
        process_group=0,  # Ctrl-C is for the server, which ends its helpers
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as told:  # it will be noticed that it is gone
        told.write(orjson.dumps(options.values))
    return process


def main(arguments: list[str]) -> int:
    """Help until the server closes the channel or is gone."""
    from hashrange.capacity.board import SharedBoard
    from hashrange.cli import serve
    from hashrange.http.crew import Apprentice

    channel, descriptor, processes, number = map(int, arguments)
    options = Options(orjson.loads(sys.stdin.buffer.read()))
    board = SharedBoard(processes, descriptor)
    board.take_column(number)
    serve.configure_logs(options)
    settings = serve.settings_of(options, board)
    end = socket.socket(fileno=channel)
    return serve.run_to_the_end(
        settings, [], with_jobs=False, ready=gc.freeze, join=lambda running, stop: Apprentice(running, end, stop)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A supervisor with toy workers, run as a process of its own: prints its port, then its log.

Arguments: the number of workers, and what they do: `serve`, or `die` at once.
"""

import asyncio
import os
import signal
import sys

from hashrange.http.listen import bind
from hashrange.http.server import run, serve
from hashrange.http.workers import run_workers


async def answer_until_told(sock):
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)

    def handle(exchange):
        delay = 0.3 if exchange.url == b"/slow" else 0.0
        loop.call_later(delay, exchange.respond, 200, b"", b"%d" % os.getpid())

    server = await serve(handle, [sock])
    await told.wait()
    await server.close()
    return 0


def work(index, sock):
    return 3 if sys.argv[2] == "die" else run(answer_until_told(sock))


if __name__ == "__main__":
    sockets = bind("127.0.0.1", 0, int(sys.argv[1]))
    print(sockets[0].getsockname()[1], flush=True)
    sys.exit(run_workers(sockets, work, log=lambda line: print(line, flush=True)))

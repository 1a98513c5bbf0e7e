"""`hashrange serve`: run the server."""

from __future__ import annotations

import argparse
import gc
import logging
import math
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hashrange import __version__, app
from hashrange.capacity.board import Board, LocalBoard, SharedBoard
from hashrange.capacity.ledger import CapacitySettings
from hashrange.capacity.limits import Throttling
from hashrange.cli import logs
from hashrange.cli.certificates import context_of, how_to_trust
from hashrange.cli.exposure import require_protection
from hashrange.cli.options import DEFAULT_BUCKETS, DEFAULT_DATA, Options, settle
from hashrange.cli.own_key import own_key
from hashrange.engine.database import DatabaseSettings
from hashrange.errors import Wording
from hashrange.http import listen, server, workers
from hashrange.http.cpus import cpus
from hashrange.http.door import Settings as DoorSettings
from hashrange.http.observe import ObserveSettings
from hashrange.storage import CannotOpen, Durability, LmdbStore, Unavailable

log = logging.getLogger("hashrange.server")


def run(arguments: argparse.Namespace) -> int:
    options = settle(arguments)
    configure_logs(options)
    processes = options.workers or processes_possible(options)
    board = LocalBoard() if processes == 1 else SharedBoard(processes)
    settings = settings_of(options, board)
    sockets = listen.bind(options.host, options.port, options.workers or 1)
    require_protection(settings, sockets[0], insecure=options.insecure)
    if options.workers <= 1:
        return run_single(settings, sockets[0], crew_of(options, board, processes))
    assert settings.data is not None
    LmdbStore.open(settings.data).close()  # what is wrong with it is said once, before any worker starts
    announce(settings, sockets[0])
    return workers.run_workers(
        sockets, lambda index, listening: run_worker(settings, index, listening), log=log.warning
    )


def configure_logs(options: Options) -> None:
    logs.configure(options.log_level, options.log_format)
    if options.audit_log is not None:
        logs.configure_audit(options.audit_log)


def processes_possible(options: Options) -> int:
    """How many processes a server may grow to that was not told. One, where they could not share what there is: data
    in memory, connections that are encrypted already, a clock that is moved."""
    shares = not (options.memory or options.tls_cert or options.tls_self_signed or options.dev_clock)
    return cpus() if shares and hasattr(socket, "send_fds") else 1


def crew_of(options: Options, board: Board, processes: int) -> app.Join | None:
    """The helpers of a server that may grow."""
    if not isinstance(board, SharedBoard) or not board.is_inherited_by_all:
        return None
    from hashrange.cli.helper import hire
    from hashrange.http.crew import Crew

    hire_one = partial(hire, options, board.descriptor, processes)
    return lambda running, stop: Crew(running, hire_one, processes - 1)


def run_single(settings: app.Settings, listening: socket.socket, join: app.Join | None) -> int:
    def ready() -> None:
        announce(settings, listening)
        gc.freeze()  # what start-up made stays; the collector need not look at it again

    return run_to_the_end(settings, [listening], with_jobs=True, ready=ready, join=join)


def run_worker(settings: app.Settings, index: int, listening: socket.socket) -> int:
    """One of several processes. The first of them runs the background jobs for all."""
    if isinstance(settings.board, SharedBoard):
        settings.board.take_column(index)
    try:
        return run_to_the_end(settings, [listening], with_jobs=index == 0, ready=gc.freeze)
    except CannotOpen as error:
        log.error("%s", error)
        return workers.CANNOT_START


def run_to_the_end(
    settings: app.Settings,
    listening: Sequence[socket.socket],
    *,
    with_jobs: bool,
    ready: Callable[[], None],
    join: app.Join | None = None,
) -> int:
    """Serve until told to stop. Status 1 means that somebody should start the server again, as the parent of several
    workers does."""
    try:
        server.run(app.serve(settings, listening, with_jobs=with_jobs, ready=ready, join=join))
    except Unavailable as error:
        log.error("%s", error)
        return 1
    return 0


def settings_of(options: Options, board: Board) -> app.Settings:
    return app.Settings(
        data=None if options.memory else options.data or DEFAULT_DATA,
        durability=Durability(options.durability),
        sync_interval_seconds=options.sync_interval_ms / 1000,
        account=options.account,
        region=options.region,
        wording=Wording(options.wording),
        database=DatabaseSettings(
            table_delay_micros=options.table_delay_ms * 1000,
            index_delay_micros=options.index_delay_ms * 1000,
            stream_shards=options.stream_shards,
            stream_shard_micros=options.stream_shard_minutes * 60_000_000,
            item_collection_bytes_max=options.item_collection_mb * 1024 * 1024,
            on_demand_switches_max=options.on_demand_switches,
            buckets=buckets_of(options),
            s3_endpoint=options.s3_endpoint,
            functions=functions_of(options),
            kinesis_endpoint=options.kinesis_endpoint,
        ),
        door=replace(
            DoorSettings(),
            connections_max=options.max_connections,
            idle_seconds=options.idle_timeout,
            request_seconds=options.request_timeout,
            memory_bytes_max=options.memory_mb * 1024 * 1024,
        ),
        ssl_context=context_of(options),
        dev_clock=options.dev_clock,
        observe=ObserveSettings(
            slow_seconds=options.slow_ms / 1000 if options.slow_ms else math.inf,
            audit=options.audit_log is not None,
            metrics_token=options.metrics_token,
        ),
        capacity=capacity_of(options),
        board=board,
        verify_signatures=options.auth == "verify",
        allowed_origins=tuple(origin.strip() for origin in (options.allow_origin or "").split(",")),
        bootstrap=own_key() if options.auth == "verify" else None,
    )


def buckets_of(options: Options) -> str | None:
    """Where buckets are: as told, or beside the data. A database in memory has nothing to be beside."""
    if options.buckets is not None or options.memory:
        return str(options.buckets) if options.buckets is not None else None
    return str(Path(options.data or DEFAULT_DATA).parent / DEFAULT_BUCKETS)


def functions_of(options: Options) -> dict[str, str]:
    if options.functions is None:
        return {}
    from hashrange.cli.functions import configured_functions  # for those who have some; others start without it

    return configured_functions(options.functions)


def capacity_of(options: Options) -> CapacitySettings:
    throttling = Throttling.SERVICE if options.service_limits else Throttling.DECLARED
    return CapacitySettings(
        throttling=Throttling.OFF if options.no_throttling else throttling,
        adaptive=not options.no_adaptive_capacity,
        split_minutes=options.partition_split_minutes,
    )


def announce(settings: app.Settings, listening: socket.socket) -> None:
    """Tell where the server is, what it keeps its data in, and how to reach it."""
    address, port = listening.getsockname()[:2]
    host = f"[{address}]" if ":" in address else address
    url = f"{'http' if settings.ssl_context is None else 'https'}://{host}:{port}"
    where = "memory (gone when the server stops)" if settings.data is None else settings.data
    durability = "" if settings.data is None else f", durability {settings.durability}"
    who = "Requests must be signed." if settings.verify_signatures else "Any credentials will do."
    print(
        f"Hashrange {__version__} serves DynamoDB on {url} from {where}{durability}.\n"
        f'  boto3:   boto3.client("dynamodb", endpoint_url="{url}", region_name="{settings.region}")\n'
        f"  AWS CLI: aws dynamodb list-tables --endpoint-url {url} --region {settings.region}\n"
        f"{'' if settings.ssl_context is None else how_to_trust(settings.ssl_context)}"
        f"{who} Stop with Ctrl-C.",
        file=sys.stderr,
        flush=True,
    )

"""`hashrange serve`: run the server."""

from __future__ import annotations

import argparse
import gc
import logging
import socket
import ssl
import sys
from dataclasses import replace
from pathlib import Path

from hashrange import __version__, app
from hashrange.cli import logs
from hashrange.cli.functions import configured_functions
from hashrange.cli.options import DEFAULT_BUCKETS, DEFAULT_DATA, Options, settle
from hashrange.engine.database import DatabaseSettings
from hashrange.errors import Wording
from hashrange.http import listen, server, tls, workers
from hashrange.http.door import Settings as DoorSettings
from hashrange.storage import CannotOpen, Durability, LmdbStore

log = logging.getLogger("hashrange.server")


def run(arguments: argparse.Namespace) -> int:
    options = settle(arguments)
    logs.configure(options.log_level, options.log_format)
    settings = settings_of(options)
    sockets = listen.bind(options.host, options.port, options.workers)
    if options.workers == 1:
        return run_single(settings, sockets[0])
    assert settings.data is not None
    LmdbStore.open(settings.data).close()  # what is wrong with it is said once, before any worker starts
    announce(settings, sockets[0])
    return workers.run_workers(
        sockets, lambda index, listening: run_worker(settings, index, listening), log=log.warning
    )


def run_single(settings: app.Settings, listening: socket.socket) -> int:
    def ready() -> None:
        announce(settings, listening)
        gc.freeze()  # what start-up made stays; the collector need not look at it again

    server.run(app.serve(settings, [listening], with_jobs=True, ready=ready))
    return 0


def run_worker(settings: app.Settings, index: int, listening: socket.socket) -> int:
    """One of several processes. The first of them runs the background jobs for all."""
    try:
        server.run(app.serve(settings, [listening], with_jobs=index == 0, ready=gc.freeze))
    except CannotOpen as error:
        log.error("%s", error)
        return workers.CANNOT_START
    return 0


def settings_of(options: Options) -> app.Settings:
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
            buckets=buckets_of(options),
            s3_endpoint=options.s3_endpoint,
            functions=configured_functions(options.functions),
            kinesis_endpoint=options.kinesis_endpoint,
        ),
        door=replace(
            DoorSettings(),
            connections_max=options.max_connections,
            idle_seconds=options.idle_timeout,
            request_seconds=options.request_timeout,
        ),
        ssl_context=context_of(options),
        dev_clock=options.dev_clock,
    )


def buckets_of(options: Options) -> str | None:
    """Where buckets are: as told, or beside the data. A database in memory has nothing to be beside."""
    if options.buckets is not None or options.memory:
        return str(options.buckets) if options.buckets is not None else None
    return str(Path(options.data or DEFAULT_DATA).parent / DEFAULT_BUCKETS)


def context_of(options: Options) -> ssl.SSLContext | None:
    return None if options.tls_cert is None else tls.server_context(Path(options.tls_cert), Path(options.tls_key))


def announce(settings: app.Settings, listening: socket.socket) -> None:
    """Tell where the server is, what it keeps its data in, and how to reach it."""
    address, port = listening.getsockname()[:2]
    host = f"[{address}]" if ":" in address else address
    url = f"{'http' if settings.ssl_context is None else 'https'}://{host}:{port}"
    where = "memory (gone when the server stops)" if settings.data is None else settings.data
    durability = "" if settings.data is None else f", durability {settings.durability}"
    print(
        f"Hashrange {__version__} serves DynamoDB on {url} from {where}{durability}.\n"
        f'  boto3:   boto3.client("dynamodb", endpoint_url="{url}", region_name="{settings.region}")\n'
        f"  AWS CLI: aws dynamodb list-tables --endpoint-url {url} --region {settings.region}\n"
        "Any credentials will do. Stop with Ctrl-C.",
        file=sys.stderr,
        flush=True,
    )

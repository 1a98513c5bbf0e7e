"""Every option of the server, once: the command line, the environment, the TOML file and the manual read this table.

An option given on the command line wins over the environment, which wins over the file, which wins over the default.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFIG_FILE = "hashrange.toml"
CONFIG_HELP = f"TOML file with the same options (default: {CONFIG_FILE}, if there is one) [HASHRANGE_CONFIG]"
DEFAULT_DATA = "./hashrange-data"
DEFAULT_BUCKETS = "hashrange-buckets"
MEMORY_MB_MIN = 32


class ConfigurationError(Exception):
    """Something the person who started us has to mend. One sentence."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `kind` turns text into its value and is used for the environment too."""

    name: str
    help: str
    default: Any = None
    kind: type = str
    choices: tuple[str, ...] = ()
    metavar: str | None = None

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def environment(self) -> str:
        return "HASHRANGE_" + self.name.upper().replace("-", "_")

    @property
    def attribute(self) -> str:
        return self.name.replace("-", "_")

    @property
    def _types(self) -> tuple[type, ...]:
        """What may be turned into the option's value: a fraction is not a port, and true is not a number."""
        return (str, int, float) if self.kind is float else (str, self.kind)

    def convert(self, value: Any, source: str) -> Any:
        """The option's value from text or from a TOML value."""
        if self.kind is bool:
            return _boolean(value, source)
        try:
            if type(value) not in self._types:
                raise TypeError
            converted = self.kind(value)
        except (TypeError, ValueError):
            raise ConfigurationError(f"{source}: {value!r} is not a valid {self.name}.") from None
        if self.choices and converted not in self.choices:
            raise ConfigurationError(f"{source}: {value!r} is not one of {', '.join(self.choices)}.")
        return converted


def _boolean(value: Any, source: str) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off", ""):
        return False
    raise ConfigurationError(f"{source}: {value!r} is neither true nor false.")


SERVE_OPTIONS: tuple[Option, ...] = (
    Option("host", "address to listen on", "127.0.0.1"),
    Option("port", "port to listen on; 0 picks a free one", 8000, int),
    Option("data", f"directory of the database; made if missing (default: {DEFAULT_DATA})", None, metavar="DIR"),
    Option("memory", "keep everything in memory; nothing is left when the server stops", False, bool),
    Option(
        "workers",
        "processes that share the port and the database; 0 = one, and more while there is much to do, up to one for "
        "each CPU (but one only with --memory, TLS or --dev-clock)",
        0,
        int,
        metavar="N",
    ),
    Option(
        "durability",
        "when a write is answered: sync = after the disk has it; relaxed = before, the disk is synced every "
        "--sync-interval-ms; none = the operating system decides. Only a power cut or a crash of the machine "
        "makes a difference",
        "sync",
        choices=("sync", "relaxed", "none"),
    ),
    Option("sync-interval-ms", "how often the disk is synced with --durability relaxed", 100, int, metavar="MS"),
    Option("region", "region of requests whose signature names none, and of the health check", "us-east-1"),
    Option(
        "account",
        "account of requests whose access key is not itself a twelve-digit account id",
        "000000000000",
        metavar="ID",
    ),
    Option(
        "auth",
        "open = any credentials will do; verify = requests must be signed with an access key of `hashrange keys`, or "
        "with that of HASHRANGE_ACCESS_KEY_ID and HASHRANGE_SECRET_ACCESS_KEY",
        "open",
        choices=("open", "verify"),
    ),
    Option(
        "insecure",
        "listen beyond this machine's loopback address without --auth verify or without TLS",
        False,
        bool,
    ),
    Option(
        "allow-origin",
        "origins, separated by commas, whose web pages may call a server with --auth open, besides those of this "
        "machine: https://app.example; * = all",
        None,
        metavar="ORIGINS",
    ),
    Option("tls-cert", "certificate file (PEM) to serve HTTPS with", None, metavar="FILE"),
    Option("tls-key", "private key file (PEM) of --tls-cert", None, metavar="FILE"),
    Option(
        "tls-self-signed",
        "serve HTTPS with a certificate for development, made once by the openssl command and kept beside the data",
        False,
        bool,
    ),
    Option(
        "tls-client-ca",
        "file (PEM) of authorities; clients need a certificate that one of them has signed",
        None,
        metavar="FILE",
    ),
    Option(
        "wording",
        "which generation of DynamoDB's validation messages to answer with",
        "newer",
        choices=("newer", "older"),
    ),
    Option("table-delay-ms", "how long tables stay CREATING, UPDATING and DELETING", 0, int, metavar="MS"),
    Option(
        "index-delay-ms",
        "how much later than to tables writes come to global secondary indexes, to see eventual consistency",
        0,
        int,
        metavar="MS",
    ),
    Option(
        "no-throttling",
        "let tables take more than they declare; otherwise provisioned throughput and on-demand maxima are enforced",
        False,
        bool,
    ),
    Option(
        "service-limits",
        "enforce also what no table declares but the live service has: the growth of on-demand tables, "
        "the throughput of one partition, the quota of the account",
        False,
        bool,
    ),
    Option(
        "no-adaptive-capacity",
        "with --service-limits: a partition has only its equal share of the table's throughput",
        False,
        bool,
    ),
    Option(
        "partition-split-minutes",
        "with --service-limits: a partition that is too hot for so many minutes is split; 0 = never",
        5,
        int,
        metavar="N",
    ),
    Option(
        "on-demand-switches",
        "how often in 24 hours a table may change from provisioned to on demand",
        4,
        int,
        metavar="N",
    ),
    Option(
        "item-collection-mb",
        "how large an item collection may grow in a table with local secondary indexes",
        10 * 1024,
        int,
        metavar="MB",
    ),
    Option("stream-shards", "open shards in the streams of new tables", 1, int, metavar="N"),
    Option(
        "stream-shard-minutes",
        "how long a shard of a stream stays open before a child follows it",
        240,
        int,
        metavar="MIN",
    ),
    Option(
        "functions",
        'TOML file of functions that triggers may call by name: resize = "python:images:resize"; targets are as in '
        "`hashrange triggers`",
        None,
        metavar="FILE",
    ),
    Option(
        "kinesis-endpoint",
        "Kinesis endpoint that Kinesis destinations write to, with the AWS_* credentials of the environment",
        None,
        metavar="URL",
    ),
    Option("dev-clock", "let `hashrange clock` move the time that the server goes by", False, bool),
    Option(
        "buckets",
        "directory whose folders are the S3 buckets of exports and imports (default: hashrange-buckets beside --data)",
        None,
        metavar="DIR",
    ),
    Option(
        "s3-endpoint",
        "S3-compatible endpoint to use for exports and imports in the place of --buckets, with the AWS_* credentials "
        "of the environment",
        None,
        metavar="URL",
    ),
    Option("max-connections", "connections served at once by each worker", 10_000, int, metavar="N"),
    Option(
        "memory-mb",
        "what each worker holds of unfinished requests, waiting writes and unread answers; what comes on top is "
        "refused with ServiceUnavailable",
        256,
        int,
        metavar="MB",
    ),
    Option("idle-timeout", "seconds after which an unused connection is closed", 120.0, float, metavar="S"),
    Option("request-timeout", "seconds a client may take to send a request", 30.0, float, metavar="S"),
    Option(
        "log-level",
        "how much to log; debug has a line for every request",
        "info",
        choices=("debug", "info", "warning", "error"),
    ),
    Option("log-format", "how log lines look", "text", choices=("text", "json")),
    Option(
        "slow-ms",
        "log requests that take at least so many milliseconds, with their tables and units; 0 = none",
        0,
        int,
        metavar="MS",
    ),
    Option(
        "audit-log",
        "file that gets a JSON line for every call of the control plane and every call that was denied; - = stderr",
        None,
        metavar="FILE",
    ),
    Option(
        "metrics-token",
        "what /metrics asks for as a bearer token; without it, everybody may see the page, or only this machine with "
        "--auth verify",
        None,
        metavar="TOKEN",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options on a command line. What is not given there stays unset, so that other sources can speak."""
    for option in SERVE_OPTIONS:
        suffix = "" if option.default is None or option.default is False else f" (default: {option.default})"
        text = f"{option.help}{suffix} [{option.environment}]"
        if option.kind is bool:
            parser.add_argument(option.flag, action="store_true", default=None, help=text)
        else:
            parser.add_argument(
                option.flag,
                type=option.kind,
                choices=option.choices or None,
                metavar=None if option.choices else option.metavar or option.kind.__name__.upper(),
                help=text,
            )
    parser.add_argument("--config", metavar="FILE", help=CONFIG_HELP)


def data_directory(environment: Mapping[str, str] = os.environ) -> str:
    """Where the database is when a command is not told: where `serve` would look for it."""
    option = next(option for option in SERVE_OPTIONS if option.name == "data")
    file = read_file(environment.get("HASHRANGE_CONFIG"))
    written = option.convert(file["data"], "configuration file") if option.name in file else None
    return environment.get(option.environment) or written or DEFAULT_DATA


@dataclass(frozen=True, slots=True)
class Options:
    """The settled values, by attribute name."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def settle(arguments: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Options:
    """Decide every option from the command line, the environment, the file and the defaults."""
    values: dict[str, Any] = {option.attribute: option.default for option in SERVE_OPTIONS}
    for source in sources(arguments, environment):
        if "data" in source or "memory" in source:  # the two answer one question
            values.update(data=None, memory=False)
        values.update(source)
    return check(Options(values))


def sources(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What the file, the environment and the command line say, the last word last."""
    file = read_file(arguments.config or environment.get("HASHRANGE_CONFIG"))
    yield {o.attribute: o.convert(file[o.name], "configuration file") for o in SERVE_OPTIONS if o.name in file}
    named = (o for o in SERVE_OPTIONS if o.environment in environment)
    yield {o.attribute: o.convert(environment[o.environment], o.environment) for o in named}
    given = {o.attribute: getattr(arguments, o.attribute, None) for o in SERVE_OPTIONS}
    yield {name: value for name, value in given.items() if value is not None}


def read_file(path: str | None) -> dict[str, Any]:
    """The options of the TOML file; a file that was not asked for may be missing."""
    chosen = Path(path or CONFIG_FILE)
    try:
        with chosen.open("rb") as stream:
            import tomllib  # for those who have a file; others start without it

            content = tomllib.load(stream)
    except FileNotFoundError:
        if path is None:
            return {}
        raise ConfigurationError(f"There is no configuration file {chosen}.") from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The configuration file {chosen} cannot be read: {error}.") from None
    unknown = sorted(set(content) - {option.name for option in SERVE_OPTIONS})
    if unknown:
        raise ConfigurationError(f"{chosen}: there is no option {unknown[0]!r}.")
    return content


def check(options: Options) -> Options:
    """Refuse combinations that cannot work."""
    if options.memory and options.data is not None:
        raise ConfigurationError("Choose one of --data and --memory.")
    if options.memory and options.workers > 1:
        raise ConfigurationError("--memory keeps the data in one process; it cannot be shared by --workers.")
    if options.workers < 0:
        raise ConfigurationError("--workers cannot be negative.")
    if not 0 <= options.port <= 65535:
        raise ConfigurationError("--port must be between 0 and 65535.")
    if (options.tls_cert is None) != (options.tls_key is None):
        raise ConfigurationError("--tls-cert and --tls-key go together.")
    if options.tls_self_signed and options.tls_cert is not None:
        raise ConfigurationError("Choose one of --tls-cert and --tls-self-signed.")
    if options.tls_client_ca is not None and options.tls_cert is None and not options.tls_self_signed:
        raise ConfigurationError("--tls-client-ca needs --tls-cert and --tls-key, or --tls-self-signed.")
    if options.kinesis_endpoint is not None and not options.kinesis_endpoint.startswith(("http://", "https://")):
        raise ConfigurationError("--kinesis-endpoint must be a URL that starts with http:// or https://.")
    if options.s3_endpoint is not None and not options.s3_endpoint.startswith(("http://", "https://")):
        raise ConfigurationError("--s3-endpoint must be a URL that starts with http:// or https://.")
    if options.s3_endpoint is not None and options.buckets is not None:
        raise ConfigurationError("Choose one of --buckets and --s3-endpoint.")
    if len(options.account) != 12 or not (options.account.isascii() and options.account.isdigit()):
        raise ConfigurationError("--account must be twelve digits.")
    if not 1 <= options.stream_shards <= 256 or options.stream_shard_minutes < 1:
        raise ConfigurationError("--stream-shards must be 1 to 256, and --stream-shard-minutes at least 1.")
    if options.slow_ms < 0:
        raise ConfigurationError("--slow-ms cannot be negative.")
    if options.sync_interval_ms < 1:
        raise ConfigurationError("--sync-interval-ms must be at least 1.")
    if options.table_delay_ms < 0 or options.index_delay_ms < 0:
        raise ConfigurationError("A delay cannot be negative.")
    if options.no_throttling and options.service_limits:
        raise ConfigurationError("Choose one of --no-throttling and --service-limits.")
    if options.partition_split_minutes < 0 or options.on_demand_switches < 1:
        raise ConfigurationError("--partition-split-minutes cannot be negative; --on-demand-switches is at least 1.")
    if options.max_connections < 1 or options.item_collection_mb < 1:
        raise ConfigurationError("--max-connections and --item-collection-mb must be at least 1.")
    if options.memory_mb < MEMORY_MB_MIN:
        raise ConfigurationError(f"--memory-mb must be at least {MEMORY_MB_MIN}: two of the largest requests.")
    if not (options.idle_timeout > 0 and options.request_timeout > 0):
        raise ConfigurationError("--idle-timeout and --request-timeout must be more than 0.")
    return options

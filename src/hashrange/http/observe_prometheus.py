"""The page that Prometheus reads: totals since the database was made, of all workers together.

Counters come from the records of all time that the recorder keeps in the store, so they are the same whichever worker
is asked, and they survive a restart. A request that touches several tables counts once for each.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from itertools import islice
from math import inf

from hashrange.engine.parts import Parts, handed_over
from hashrange.engine.scope import Scope
from hashrange.engine.usage import Recorder
from hashrange.metrics.points import DYNAMODB, dimensions_of, groups, scopes
from hashrange.metrics.statistic import Statistic, bound_after

GROUPS_MAX = 5_000  # tables of which something is told
GROUPS_PER_PART = 20
STATISTICS_PER_PART = 100
DURATIONS_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MILLISECONDS = 1000

Labels = dict[str, str]
Found = list[tuple[Labels, Statistic]]
Samples = Generator[str | None, None, None]
"""Lines of the page; None wherever something else may be done for a while."""

HELP = {
    "requests_total": ("counter", "Requests that succeeded, by operation and table."),
    "errors_total": ("counter", "Requests that failed, by operation and error code."),
    "request_duration_seconds": ("histogram", "How long successful requests took, by operation."),
    "consumed_units_total": ("counter", "Capacity units used, by table and index."),
    "throttle_events_total": ("counter", "Reads and writes refused for want of capacity, by reason."),
    "expired_items_total": ("counter", "Items deleted because their time to live was over."),
    "commit_batch_size": ("histogram", "Writes that were committed together."),
    "job_steps_total": ("counter", "Steps of background jobs."),
    "job_failures_total": ("counter", "Steps of background jobs that failed."),
    "job_last_run_timestamp_seconds": ("gauge", "When a background job last had something to do."),
    "store_bytes": ("gauge", "Size of the database file."),
    "open_connections": ("gauge", "Connections of clients, to all workers."),
    "workers": ("gauge", "Worker processes that have something to tell."),
}


def page(recorder: Recorder, gauges: Mapping[str, float]) -> Parts[dict[str, str]]:
    """The text of the page, made in parts; there may be thousands of tables."""
    yield
    yield from handed_over(recorder)
    snapshot = yield
    lines: list[str] = []
    found: dict[str, Found] = {}
    room = GROUPS_MAX
    for scope in list(scopes(snapshot)):
        room -= yield from gather(scope, found, room)
    for name, (kind, text) in HELP.items():
        samples = [f"hashrange_{name} {number(gauges[name])}"] if name in gauges else []
        if name not in gauges:
            for sample in samples_of(name, found):
                if sample is None:
                    yield
                else:
                    samples.append(sample)
        if samples:
            lines += [f"# HELP hashrange_{name} {text}", f"# TYPE hashrange_{name} {kind}", *samples]
    return {"page": "\n".join(lines) + "\n"}


def gather(scope: Scope, found: dict[str, Found], room: int) -> Parts[int]:
    """Add the totals of a scope, with their dimensions, to those of the same metric; of how many tables."""
    after_group: str | None = None
    count = 0
    while count < room:
        snapshot = yield
        part = list(islice(groups(snapshot, scope, DYNAMODB, after_group=after_group), GROUPS_PER_PART))
        count += len(part)
        for group, statistics in part:
            for name, statistic in statistics.items():
                metric, dimensions = dimensions_of(DYNAMODB, group, name)
                found.setdefault(metric, []).append((dimensions, statistic))
        if len(part) < GROUPS_PER_PART:
            break
        after_group = part[-1][0]
    return count


def samples_of(name: str, found: Mapping[str, Found]) -> Samples:
    latencies = [*found.get("SuccessfulRequestLatency", ()), *found.get(".SuccessfulRequestLatency", ())]
    if name == "requests_total":
        yield from counters(name, latencies, operation="Operation", table="TableName")
    elif name == "errors_total":
        yield from counters(name, found.get(".Errors", ()), operation="Operation", code="Code")
    elif name == "request_duration_seconds":
        yield from histograms(name, latencies, DURATIONS_SECONDS, MILLISECONDS, operation="Operation")
    elif name == "consumed_units_total":
        for kind in ("Read", "Write"):
            units = found.get(f"Consumed{kind}CapacityUnits", ())
            yield from counters(name, units, "sum", {"kind": kind.lower()}, table="TableName", index=INDEX)
    elif name == "throttle_events_total":
        for metric in sorted(each for each in found if is_reason(each)):
            reason = {"reason": metric.removesuffix("ThrottleEvents")}
            yield from counters(name, found[metric], "count", reason, table="TableName", index=INDEX)
    elif name == "expired_items_total":
        yield from counters(name, found.get("TimeToLiveDeletedItemCount", ()), "sum", table="TableName")
    elif name == "commit_batch_size":
        yield from histograms(name, found.get(".Commits", ()), BATCHES, 1, whole=True)
    elif name in JOBS:
        yield from counters(name, found.get(JOBS[name][0], ()), JOBS[name][1], job="Job")


INDEX = "GlobalSecondaryIndexName"
JOBS = {
    "job_steps_total": (".JobSteps", "count"),
    "job_failures_total": (".JobFailures", "count"),
    "job_last_run_timestamp_seconds": (".JobLastRun", "maximum"),
}


def is_reason(metric: str) -> bool:
    return metric.endswith("ThrottleEvents") and metric not in ("ReadThrottleEvents", "WriteThrottleEvents")


def grouped(
    found: Iterable[tuple[Labels, Statistic]], labels: Mapping[str, str]
) -> Generator[None, None, dict[tuple[str, ...], Statistic]]:
    """Statistics added up by some of their dimensions."""
    parts: dict[tuple[str, ...], Statistic] = {}
    for count, (dimensions, statistic) in enumerate(found):
        if count % STATISTICS_PER_PART == 0:
            yield
        parts.setdefault(tuple(dimensions.get(name, "") for name in labels.values()), Statistic()).add(statistic)
    return dict(sorted(parts.items()))


def counters(
    name: str,
    found: Iterable[tuple[Labels, Statistic]],
    what: str = "count",
    fixed: Mapping[str, str] | None = None,
    **labels: str,
) -> Samples:
    together = yield from grouped(found, labels)
    for count, (key, statistic) in enumerate(together.items()):
        if count % STATISTICS_PER_PART == 0:
            yield None
        pairs = {**dict(zip(labels, key, strict=True)), **(fixed or {})}
        yield f"hashrange_{name}{label_text(pairs)} {number(getattr(statistic, what))}"


def histograms(
    name: str,
    found: Iterable[tuple[Labels, Statistic]],
    bounds: tuple[float, ...],
    scale: float,
    *,
    whole: bool = False,
    **labels: str,
) -> Samples:
    """Our buckets grow by a tenth; each counts as what it can be at most, or at least if it is of whole numbers."""
    together = yield from grouped(found, labels)
    for key, statistic in together.items():
        yield None
        pairs = dict(zip(labels, key, strict=True))
        buckets = statistic.buckets or {}
        for bound in (*bounds, inf):
            limit = bound * scale * 1.0001
            below = sum(count for bucket, count in buckets.items() if bound_after(bucket - whole) <= limit)
            count = statistic.count if bound == inf else below
            edge = "+Inf" if bound == inf else number(bound)
            yield f"hashrange_{name}_bucket{label_text({**pairs, 'le': edge})} {number(count)}"
        yield f"hashrange_{name}_sum{label_text(pairs)} {number(statistic.sum / scale)}"
        yield f"hashrange_{name}_count{label_text(pairs)} {number(statistic.count)}"


def label_text(pairs: Mapping[str, str]) -> str:
    shown = ",".join(f'{name}="{escaped(value)}"' for name, value in pairs.items() if value)
    return f"{{{shown}}}" if shown else ""


def escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))

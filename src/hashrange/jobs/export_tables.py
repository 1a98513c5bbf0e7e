"""Writes exports to their buckets: one data file in each step, and the manifests at the end.

The progress says from which base key on items are still to be written, and is saved with the line of the file that was
written last. A file that was written but not noted, because of a crash, is written again under the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from hashrange.engine import keyspace, lifecycle, log_readers
from hashrange.engine.database import Database
from hashrange.engine.definition import TableRecord
from hashrange.jobs.job import IoStep, Job, Step
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.transfer.export_files import FULL, ExportFiles, checksum, file_line
from hashrange.transfer.kept import Kept
from hashrange.transfer.net_changes import NetChanges
from hashrange.transfer.objects import Objects, ObjectsError, open_objects
from hashrange.transfer.past_items import PastItems
from hashrange.transfer.transfer import COMPLETED, EXPORT, FAILED, Mutation, Transfer, find, under_way
from hashrange.values.ordered import after

FILE_BYTES = 16 * 1024 * 1024  # of a data file before it is compressed
PIECES_PER_STEP = 1000

BEGIN, DATA, MANIFESTS, CLEAR = "begin", "data", "manifests", "clear"

_pages: Kept[PastItems | NetChanges] = Kept()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an export has come."""

    phase: str = BEGIN
    position: str = ""  # the base key of the first item that is not written, in hexadecimal
    files: int = 0
    items: int = 0
    size_bytes: int = 0
    failure: Mapping[str, str] | None = None

    def dump(self) -> bytes:
        return orjson.dumps(self)

    @classmethod
    def load(cls, stored: bytes) -> Progress:
        return cls(**orjson.loads(stored))


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        for transfer, progress in under_way(snapshot, EXPORT):
            export = Export(db, transfer, progress)
            return export.clear if export.progress.phase == CLEAR else IoStep(export.run)
    return None


class Export:
    """One step of one export."""

    def __init__(self, db: Database, transfer: Transfer, seen: bytes) -> None:
        self._db = db
        self._transfer = transfer
        self._seen = seen
        self._files = ExportFiles(transfer)
        self.progress = Progress.load(seen)

    @property
    def _objects(self) -> Objects:
        return open_objects(self._db.settings.buckets, self._db.settings.s3_endpoint)

    def run(self) -> Planner:
        """The part that reads and writes outside the store."""
        steps = {BEGIN: self._begin, DATA: self._write_data, MANIFESTS: self._write_manifests}
        try:
            return steps[self.progress.phase]()
        except ObjectsError as error:
            failure = {"code": error.code, "message": str(error)}
            return self._advance(replace(self.progress, phase=CLEAR, failure=failure))

    def _put(self, name: str, content: bytes) -> str:
        return self._objects.put(self._files.bucket, name, content)

    def _begin(self) -> Planner:
        self._put(self._files.key("_started"), b"")
        return self._advance(replace(self.progress, phase=DATA))

    def _write_data(self) -> Planner:
        progress = self.progress
        source = _pages.get(self._db, self._transfer.key, lambda: new_pages(self._transfer))
        start = bytes.fromhex(progress.position)
        if isinstance(source, PastItems):
            items, following = source.page(self._db, start, FILE_BYTES)
            count, size_bytes = len(items), sum(item.size_bytes for item in items)
            content = self._files.items(items)
        else:
            changes, following = source.page(self._db, start, FILE_BYTES)
            count, size_bytes = len(changes), sum(change.size_bytes for change in changes)
            content = self._files.changes(changes)
        progress = replace(
            progress,
            phase=MANIFESTS if following is None else DATA,
            position="" if following is None else following.hex(),
            items=progress.items + count,
            size_bytes=progress.size_bytes + size_bytes,
        )
        if not count and progress.files:
            return self._advance(progress)  # an empty file is written only if there is no other
        return self._file_written(progress, count, content)

    def _file_written(self, progress: Progress, count: int, content: bytes) -> Planner:
        key = self._files.data_key(progress.files)
        line = file_line(key, count, content, self._put(key, content))
        piece = (keyspace.piece_key(self._transfer.key, progress.files), line)
        return self._advance(replace(progress, files=progress.files + 1), piece)

    def _write_manifests(self) -> Planner:
        prefix = keyspace.piece_prefix(self._transfer.key)
        with self._db.read() as snapshot:
            lines = [line for _, line in snapshot.scan(prefix, after(prefix))]
        progress = self.progress
        summary = self._files.summary(
            items=progress.items, size_bytes=progress.size_bytes, ended_at_micros=self._db.clock.micros()
        )
        for name, content in (("manifest-files", self._files.files_manifest(lines)), ("manifest-summary", summary)):
            self._put(self._files.key(f"{name}.checksum"), checksum(content))
            self._put(self._files.key(f"{name}.json"), content)  # the summary comes last: with it the export is whole
        return self._advance(replace(progress, phase=CLEAR))

    def _advance(self, progress: Progress, *mutations: Mutation) -> Planner:
        """A plan that writes down how far the export has come, if nobody else has meanwhile."""
        key = keyspace.under_way_key(self._transfer.key)

        def plan(snapshot: Snapshot) -> Plan:
            if snapshot.get(key) != self._seen:
                return Plan()
            return Plan([*mutations, (key, progress.dump())])

        return plan

    def clear(self, snapshot: Snapshot) -> Plan:
        """Remove the notes about files, and at last say how the export has ended."""
        transfer = find(snapshot, self._transfer.key)
        if transfer is None or not transfer.is_under_way:
            return Plan()
        prefix = keyspace.piece_prefix(transfer.key)
        pieces = [key for key, _ in snapshot.scan(prefix, after(prefix), limit=PIECES_PER_STEP)]
        mutations: list[Mutation] = [(key, None) for key in pieces]
        if len(pieces) < PIECES_PER_STEP:
            _pages.pop(self._db, transfer.key)
            ended = self._ended(transfer)
            mutations += [*ended.closed(), *stop_reading(snapshot, ended)]
        return Plan(mutations)

    def _ended(self, transfer: Transfer) -> Transfer:
        progress, now = self.progress, self._db.clock.micros()
        if progress.failure is not None:
            failed = transfer.failed(progress.failure["code"], progress.failure["message"])
            return failed.ended(FAILED, now, {})
        results: dict[str, Any] = {
            "ItemCount": progress.items,
            "BilledSizeBytes": progress.size_bytes,
            "ExportManifest": self._files.key("manifest-summary.json"),
        }
        return transfer.ended(COMPLETED, now, results)


def new_pages(transfer: Transfer) -> PastItems | NetChanges:
    facts = transfer.facts
    if transfer.request["ExportType"] == FULL:
        return PastItems(transfer.table, facts["sequence"])
    return NetChanges(transfer.table, facts["from_sequence"], facts["sequence"])


def stop_reading(snapshot: Snapshot, transfer: Transfer) -> list[Mutation]:
    """The log of the table is not kept for this export any longer."""
    name = transfer.reader_name
    mutations: list[Mutation] = [(keyspace.log_reader_key(transfer.table.id, name), None)]
    stored = snapshot.get(lifecycle.catalog_key(transfer.table))
    record = None if stored is None else TableRecord.load(stored)
    if record is not None and record.now.id == transfer.table.id:
        mutations.append(lifecycle.save(log_readers.leave(record, name)[0]))
    return mutations


JOB = Job("export-tables", next_step)

"""Reads items from buckets into tables: new ones for imports, existing ones for bulk operations.

Each step reads and checks some items in a thread and writes them in one plan, together with the place in the input
that it has come to. So nothing is lost or written twice by a crash, and an import can be as long as it likes.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import orjson

from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import PAY_PER_REQUEST, TableDefinition, TableRecord
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Changes, Table
from hashrange.jobs.job import IoStep, Job, Step
from hashrange.limits import IMPORT_OBJECTS_MAX
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.transfer.batch import Batch, read_batch, write_batch
from hashrange.transfer.decompression import ZSTD, MissingLibrary, require_zstandard
from hashrange.transfer.kept import Kept
from hashrange.transfer.load import (
    BEGIN,
    END,
    LOAD,
    Input,
    Output,
    Progress,
    Reports,
    added,
    outcome,
    results,
)
from hashrange.transfer.objects import Objects, ObjectsError, open_objects
from hashrange.transfer.source import Bad, Source
from hashrange.transfer.transfer import BULK, CANCELLING, IMPORT, IN_PROGRESS, Transfer, find, under_way

log = logging.getLogger("hashrange.import")

NEVER_MICROS = 2**62  # when a table settles whose import has not ended
ERRORS_LOGGED_MAX = 100  # of each transfer

_sources: Kept[Source] = Kept()


class Failure(Exception):
    """What a transfer cannot go on after."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        for transfer, stored in under_way(snapshot, IMPORT, BULK):
            load = Load(db, transfer, stored)
            if load.progress.phase == END and transfer.kind == IMPORT:
                return load.end
            if load.may_go_on():
                return IoStep(load.run)
    return None


class Load:
    """One step of one import or bulk operation."""

    def __init__(self, db: Database, transfer: Transfer, seen: bytes) -> None:
        self._db = db
        self._transfer = transfer
        self._seen = seen
        self._input = Input.of(transfer)
        self._key = keyspace.under_way_key(transfer.key)
        self.progress = Progress.load(seen)

    def may_go_on(self) -> bool:
        """Whether a bulk operation has not yet used the write units that it may by now."""
        units = self._transfer.request.get("MaxWriteRequestUnits")
        if units is None or self._transfer.status == CANCELLING:
            return True
        seconds = (self._db.clock.micros() - self._transfer.started_at_micros) / 1_000_000
        return self.progress.units < float(units) * (seconds + 1)

    @property
    def _objects(self) -> Objects:
        return open_objects(self._db.settings.buckets, self._db.settings.s3_endpoint)

    def run(self) -> Planner:
        """The part that reads and writes outside the store."""
        try:
            if self.progress.phase == END:
                return self._report_end()
            if self._transfer.status == CANCELLING:
                return self._advance(replace(self.progress, phase=END))
            return self._begin() if self.progress.phase == BEGIN else self._load()
        except ObjectsError as error:
            return self._fail(Failure(error.code, str(error)))
        except MissingLibrary as error:
            return self._fail(Failure("UnsupportedCompression", str(error)))
        except Failure as error:
            return self._fail(error)

    # ---- the beginning: is there anything to read, and somewhere to write it? -----------------------------------

    def _begin(self) -> Planner:
        if self._input.compression == ZSTD:
            require_zstandard()
        if self._transfer.kind == BULK:
            output = Output(self._transfer)
            self._objects.put(output.bucket, output.key("_started"), b"")
        total_bytes = 0
        for count, found in enumerate(self._objects.list(self._input.bucket, self._input.prefix), start=1):
            total_bytes += found.size_bytes
            if count > IMPORT_OBJECTS_MAX:
                raise Failure("TooManyObjects", f"The input has more than {IMPORT_OBJECTS_MAX} objects")
        progress = replace(self.progress, phase=LOAD, total_bytes=total_bytes)
        return self._create_table(progress) if self._transfer.kind == IMPORT else self._advance(progress)

    def _create_table(self, progress: Progress) -> Planner:
        """The table of an import is made once its input is found, and is CREATING until all of it is read."""

        def plan(snapshot: Snapshot) -> Plan:
            if snapshot.get(self._key) != self._seen:
                return Plan()
            draft = self._transfer.table
            if self._db.catalog.find(snapshot, scope_of(draft.account, draft.region), draft.name) is not None:
                return self._fail(Failure("ResourceInUse", f"Table already exists: {draft.name}"))(snapshot)
            definition = created(draft, lifecycle.next_table_id(snapshot), self._db.clock.micros())
            record = TableRecord(
                now=replace(definition, status="CREATING"),
                outcome=replace(definition, status="ACTIVE"),
                settles_at_micros=NEVER_MICROS,
            )
            transfer = replace(self._transfer, table=definition)
            mutations = [lifecycle.take_id(definition.id), lifecycle.save(record), transfer.saved()]
            return Plan([*mutations, (self._key, progress.dump())])

        return plan

    # ---- the middle: a batch of items in each step ---------------------------------------------------------------

    def _load(self) -> Planner:
        self._put_waiting_report()
        with self._db.read() as snapshot:
            table = self._table(snapshot)
        try:
            batch = read_batch(
                self._source(), table, self._db.clock.micros(), may_replace=not table.definition.is_logged
            )
        except ObjectsError:
            self._close_source()  # it cannot be read on, and must not be taken for one that has come to its end
            raise
        except Exception as error:  # we were wrong about what a file can be; no other transfer must wait for that
            self._close_source()
            log.exception("%s: the input cannot be read", self._transfer.arn)
            raise Failure("InternalError", f"The input cannot be read: {type(error).__name__}") from error
        self._log(batch.bad)
        return lambda snapshot: self._write(snapshot, batch)

    def _table(self, snapshot: Snapshot) -> Table:
        wanted = self._transfer.table
        table = self._db.catalog.find(snapshot, scope_of(wanted.account, wanted.region), wanted.name)
        if table is None or table.definition.id != wanted.id or table.definition.status == "DELETING":
            raise Failure("ResourceNotFound", f"Table not found: {wanted.name}")
        return table

    def _source(self) -> Source:
        """The input at the place that was saved: as the last step left it, or opened anew."""
        place, key = self.progress.place, self._transfer.key
        types = self._transfer.table.attribute_types
        source = _sources.get(self._db, key, lambda: self._input.open(self._objects, types, place))
        if source.place != place:
            self._close_source()
            source = _sources.get(self._db, key, lambda: self._input.open(self._objects, types, place))
        return source

    def _close_source(self) -> None:
        source = _sources.pop(self._db, self._transfer.key)
        if source is not None:
            source.close()

    def _write(self, snapshot: Snapshot, batch: Batch) -> Plan:
        transfer = find(snapshot, self._transfer.key)
        if snapshot.get(self._key) != self._seen or transfer is None or transfer.status != IN_PROGRESS:
            return Plan()
        try:
            table = self._table(snapshot)
        except Failure as error:
            return self._fail(error)(snapshot)
        changes, reports = Changes(), Reports(transfer, table)
        refused = 0

        def note_refused(each: Any) -> None:
            nonlocal refused
            refused += 1
            reports.refused(each)

        bad = [*batch.bad, *write_batch(snapshot, table, batch, changes, note_refused)]
        for each in bad:
            reports.bad(each)
        self._note(batch, changes, refused, bad, reports.dump())
        return changes.answering(None)

    def _note(self, batch: Batch, changes: Changes, refused: int, bad: list[Bad], report: bytes | None) -> None:
        """Write down how far this batch has brought the transfer."""
        progress = self.progress
        if report is not None:
            changes.mutations.append((keyspace.piece_key(self._transfer.key, progress.reports + 1), report))
        if progress.reports:
            changes.mutations.append((keyspace.piece_key(self._transfer.key, progress.reports), None))
        following = replace(
            progress,
            phase=END if batch.is_last else LOAD,
            place=batch.place,
            processed_items=progress.processed_items + batch.records,
            processed_bytes=progress.processed_bytes + batch.size_bytes,
            written_items=progress.written_items + batch.records - len(bad) - refused,
            errors=progress.errors + len(bad),
            reports=progress.reports + (report is not None),
            consumed=added(progress.consumed, changes.consumed),
        )
        changes.mutations.append((self._key, following.dump()))

    def _log(self, bad: list[Bad]) -> None:
        room = ERRORS_LOGGED_MAX - self.progress.errors
        for each in bad[: max(0, room)]:
            log.warning("%s: %s %s", self._transfer.arn, each.reason, each.record)

    def _put_waiting_report(self) -> None:
        """Put the report of the step before into its bucket. The plan of this step forgets it."""
        number = self.progress.reports
        with self._db.read() as snapshot:
            report = snapshot.get(keyspace.piece_key(self._transfer.key, number))
        if report is not None:
            Output(self._transfer).put_report(self._objects, number, report)

    # ---- the end -------------------------------------------------------------------------------------------------

    def _report_end(self) -> Planner:
        """A bulk operation leaves its last report and a summary in the output bucket."""
        if self.progress.failure is None:
            self._put_waiting_report()
            output = Output(self._transfer)
            summary = orjson.dumps({"bulkOperationArn": self._transfer.arn, **results(self._transfer, self.progress)})
            self._objects.put(output.bucket, output.key("manifest-summary.json"), summary)
        return self.end

    def _fail(self, failure: Failure) -> Planner:
        told = {"code": failure.code, "message": str(failure)}
        return self._advance(replace(self.progress, phase=END, failure=told))

    def _advance(self, progress: Progress) -> Planner:
        def plan(snapshot: Snapshot) -> Plan:
            return Plan([(self._key, progress.dump())] if snapshot.get(self._key) == self._seen else [])

        return plan

    def end(self, snapshot: Snapshot) -> Plan:
        """Say how the transfer has ended; the table of an import is ready, whatever is in it."""
        transfer = find(snapshot, self._transfer.key)
        if transfer is None or snapshot.get(self._key) != self._seen:
            return Plan()
        self._close_source()
        ended = outcome(transfer, self.progress)
        ended = ended.ended(ended.status, self._db.clock.micros(), results(transfer, self.progress))
        mutations = [*ended.closed(), (keyspace.piece_key(transfer.key, self.progress.reports), None)]
        stored = snapshot.get(lifecycle.catalog_key(transfer.table)) if transfer.kind == IMPORT else None
        record = None if stored is None else TableRecord.load(stored)
        if record is not None and record.now.id == transfer.table.id:
            ready_at = lifecycle.settles_at(self._db, record.now.created_at_micros)
            mutations.append(lifecycle.save(replace(record, settles_at_micros=ready_at)))
        return Plan(mutations)


def created(draft: TableDefinition, table_id: int, now_micros: int) -> TableDefinition:
    """The table of an import, with what it gets when it is made."""
    since = now_micros if draft.billing_mode == PAY_PER_REQUEST else None
    return replace(draft, id=table_id, created_at_micros=now_micros, on_demand_since_micros=since)


JOB = Job("load-items", next_step)

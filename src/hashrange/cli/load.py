"""`hashrange load`: put the items of a file into a table.

Whatever stops it (a line that is wrong, a full disk, Ctrl-C), what was written before stays and is complete: an item is
written with its index entries and its log record, or not at all. Loading the same file again finishes the work.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import IO

from hashrange.cli.directory import DirectoryTable, in_words
from hashrange.cli.endpoint import EndpointTable, Refused
from hashrange.cli.item_lines import BadLine, Line, LineReader, open_input
from hashrange.cli.options import ConfigurationError
from hashrange.cli.progress import Progress
from hashrange.errors import ClientError
from hashrange.storage import StoreError

LOADED, STOPPED = 0, 1
BATCH_BYTES_MAX = 4 * 1024 * 1024

Access = DirectoryTable | EndpointTable


def run(arguments: argparse.Namespace) -> int:
    with open_input(arguments.file) as (stream, raw):
        try:
            lines = LineReader(stream, arguments.table)
        except BadLine as error:
            raise ConfigurationError(f"{arguments.file}, {error}") from None
        access = EndpointTable(arguments) if arguments.endpoint else DirectoryTable(arguments, writes=True)
        with closing(access) as table:
            ensure_table(table, lines, arguments)
            problem = load(table, lines, raw)
    said = f"{table.lines_written:,} items were loaded into {arguments.table}."
    if problem is None:
        print(said, file=sys.stderr)
        return LOADED
    print(f"hashrange: {problem}\nStopped: {said}", file=sys.stderr)
    return STOPPED


def ensure_table(table: Access, lines: LineReader, arguments: argparse.Namespace) -> None:
    if table.exists():
        return
    if not arguments.create:
        hint = " --create makes it as the file's first line says." if lines.table else ""
        raise ConfigurationError(f"There is no table {arguments.table}.{hint}")
    if lines.table is None:
        raise ConfigurationError(f'{arguments.file} has no first line {{"Table": ...}} to create the table from.')
    table.create(lines.table)


def load(table: Access, lines: LineReader, raw: IO[bytes]) -> str | None:
    """Put everything; what stopped it, if anything did."""
    progress = Progress()
    total_bytes = size_of(raw)
    try:
        for batch in batches(lines, table.lines_per_batch):
            table.put(batch)
            progress.show(table.lines_written, raw.tell() / total_bytes if total_bytes else None)
        table.finish()
    except BadLine as error:
        return f"The file has a bad line: {error}"
    except ClientError as error:
        return in_words(error)
    except (Refused, ConfigurationError, StoreError) as error:
        return str(error)
    except KeyboardInterrupt:
        return "Interrupted."
    finally:
        progress.hide()
    return None


def batches(lines: Iterable[Line], lines_max: int) -> Iterator[list[Line]]:
    """The lines in groups; a group is cut short by its size, by the end, and by a line that cannot be read."""
    batch: list[Line] = []
    size_bytes = 0
    problem: BadLine | None = None
    try:
        for line in lines:
            batch.append(line)
            size_bytes += line.put.size_bytes
            if len(batch) >= lines_max or size_bytes >= BATCH_BYTES_MAX:
                yield batch
                batch, size_bytes = [], 0
    except BadLine as error:
        problem = error
    if batch:
        yield batch
    if problem is not None:
        raise problem


def size_of(raw: IO[bytes]) -> int:
    """The size of a file that has one; 0 for pipes and the like."""
    status = os.fstat(raw.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0

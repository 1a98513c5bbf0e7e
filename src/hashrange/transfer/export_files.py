"""The objects of an export, as the service lays them out.

PREFIX/AWSDynamoDB/ID/_started                       empty; shows that the bucket can be written
PREFIX/AWSDynamoDB/ID/data/NAME.json.gz              items (a full export)
PREFIX/AWSDynamoDB/data/NAME.json.gz                 changes (an incremental export)
PREFIX/AWSDynamoDB/ID/manifest-files.json            a line for each of the data files
PREFIX/AWSDynamoDB/ID/manifest-summary.json          what was exported, and when
PREFIX/AWSDynamoDB/ID/manifest-*.checksum            MD5 of the manifests
"""

from __future__ import annotations

import gzip
from base64 import b32encode, b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b, md5
from typing import Any

import orjson

from hashrange.transfer import ion_text
from hashrange.transfer.net_changes import NetChange
from hashrange.transfer.transfer import Transfer
from hashrange.values.item import Item

DYNAMODB_JSON, ION = "DYNAMODB_JSON", "ION"
SUFFIXES = {DYNAMODB_JSON: "json.gz", ION: "ion.gz"}
FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"
NEW_AND_OLD_IMAGES = "NEW_AND_OLD_IMAGES"
VERSIONS = {FULL: "2020-06-30", INCREMENTAL: "2023-08-01"}
COMPRESSION_LEVEL = 6


class ExportFiles:
    """Names and contents of the objects of one export."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer
        request = transfer.request
        prefix = (request.get("S3Prefix") or "").strip("/")
        self._base = f"{prefix}/AWSDynamoDB" if prefix else "AWSDynamoDB"
        self._format: str = request["ExportFormat"]
        self._type: str = request["ExportType"]
        self.bucket: str = request["S3Bucket"]
        self.view: str = (request.get("IncrementalExportSpecification") or {}).get("ExportViewType", NEW_AND_OLD_IMAGES)

    def key(self, name: str) -> str:
        return f"{self._base}/{self._transfer.id}/{name}"

    def data_key(self, number: int) -> str:
        """The name of a data file looks like chance, but is the same when the file is written again after a crash."""
        tag = blake2b(f"{self._transfer.arn}/{number}".encode(), digest_size=16).digest()
        name = f"{b32encode(tag).decode().rstrip('=').lower()}.{SUFFIXES[self._format]}"
        return self.key(f"data/{name}") if self._type == FULL else f"{self._base}/data/{name}"

    def items(self, items: Iterable[Item]) -> bytes:
        """The content of a data file with items."""
        if self._format == ION:
            text = (ion_text.line({"Item": ion_text.attributes(item.attributes)}) for item in items)
            return compressed("".join(text).encode())
        return compressed(b"".join(b'{"Item":%b}\n' % item.json for item in items))

    def changes(self, changes: Iterable[NetChange]) -> bytes:
        """The content of a data file with changes."""
        line = ion_change if self._format == ION else json_change
        return compressed(b"".join(line(change, self.view) for change in changes))

    def files_manifest(self, files: Iterable[bytes]) -> bytes:
        return b"".join(b"%b\n" % line for line in files)

    def summary(self, *, items: int, size_bytes: int, ended_at_micros: int) -> bytes:
        transfer, request = self._transfer, self._transfer.request
        facts = transfer.facts
        summary: dict[str, Any] = {
            "version": VERSIONS[self._type],
            "exportArn": transfer.arn,
            "startTime": timestamp(transfer.started_at_micros),
            "endTime": timestamp(ended_at_micros),
            "tableArn": transfer.table.arn,
            "tableId": transfer.table.uuid,
            "exportTime": timestamp(facts["at_micros"]),
            "s3Bucket": self.bucket,
            "s3Prefix": request.get("S3Prefix"),
            "s3SseAlgorithm": request["S3SseAlgorithm"],
            "s3SseKmsKeyId": request.get("S3SseKmsKeyId"),
            "manifestFilesS3Key": self.key("manifest-files.json"),
            "billedSizeBytes": size_bytes,
            "itemCount": items,
            "outputFormat": self._format,
        }
        if self._type == INCREMENTAL:
            summary["exportFromTime"] = timestamp(facts["from_micros"])
            summary["exportToTime"] = timestamp(facts["to_micros"])
            summary["exportType"] = INCREMENTAL
            summary["outputView"] = self.view
        return orjson.dumps(summary)


def file_line(key: str, items: int, content: bytes, tag: str) -> bytes:
    """The line of a data file in the manifest of files."""
    checksum = b64encode(md5(content, usedforsecurity=False).digest()).decode()
    return orjson.dumps({"itemCount": items, "md5Checksum": checksum, "etag": tag, "dataFileS3Key": key})


def checksum(content: bytes) -> bytes:
    """The content of a checksum file."""
    return md5(content, usedforsecurity=False).hexdigest().encode()


def compressed(content: bytes) -> bytes:
    return gzip.compress(content, COMPRESSION_LEVEL, mtime=0)


def timestamp(micros: int) -> str:
    moment = datetime.fromtimestamp(micros // 1_000_000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{micros // 1000 % 1000:03d}Z"


def images(change: NetChange, view: str) -> Sequence[tuple[str, bytes]]:
    """The images of a change that are exported."""
    shown = [("NewImage", change.new)]
    if view == NEW_AND_OLD_IMAGES:
        shown.append(("OldImage", change.old))
    return [(name, image) for name, image in shown if image is not None]


def json_change(change: NetChange, view: str) -> bytes:
    members = {
        "Metadata": {"WriteTimestampMicros": {"N": str(change.written_at_micros)}},
        "Keys": orjson.Fragment(change.keys),
        **{name: orjson.Fragment(image) for name, image in images(change, view)},
    }
    return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)


def ion_change(change: NetChange, view: str) -> bytes:
    members = {
        "Metadata": ion_text.struct({"WriteTimestampMicros": ion_text.number(str(change.written_at_micros))}),
        "Keys": ion_text.attributes(orjson.loads(change.keys)),
        **{name: ion_text.attributes(orjson.loads(image)) for name, image in images(change, view)},
    }
    return ion_text.line({"Record": ion_text.struct(members)}).encode()

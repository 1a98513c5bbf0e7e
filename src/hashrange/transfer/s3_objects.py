"""Objects behind an endpoint that speaks S3: path-style addresses, requests signed with the AWS_* credentials of the
environment, nothing but the standard library.

A request that meets a broken connection or an overloaded server is sent again, a few times. A body whose connection
breaks is asked for again from where it broke.
"""

from __future__ import annotations

import os
import re
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import md5
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from hashrange.auth.signing import SigningKeys, region_of_environment, signed_headers
from hashrange.clock import SystemClock
from hashrange.transfer.objects import (
    AccessDenied,
    NoSuchBucket,
    NoSuchObject,
    ObjectsError,
    StoredObject,
    Unreachable,
)

TIMEOUT_SECONDS = 20.0
ATTEMPTS = 4
PAUSE_SECONDS = 0.2  # before the second attempt; twice as long before each further one
ANSWER_BYTES_MAX = 16 * 1024 * 1024  # of a listing or an error, which are read whole

ERRORS: Mapping[str, type[ObjectsError]] = {
    "NoSuchBucket": NoSuchBucket,
    "NoSuchKey": NoSuchObject,
    "AccessDenied": AccessDenied,
    "AllAccessDisabled": AccessDenied,
    "InvalidAccessKeyId": AccessDenied,
    "SignatureDoesNotMatch": AccessDenied,
}
STATUSES: Mapping[int, type[ObjectsError]] = {401: AccessDenied, 403: AccessDenied, 404: NoSuchBucket}
PARTIAL_CONTENT = 206
SIZE = re.compile(r"[0-9]{1,18}")
WORTH_REPEATING = frozenset((429, 500, 502, 503, 504))


@dataclass(frozen=True, slots=True)
class S3Request:
    """One request, complete but for its signature."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class S3Objects:
    """The buckets of one endpoint."""

    def __init__(self, endpoint: str) -> None:
        address = urlsplit(endpoint)
        self._secure = address.scheme == "https"
        self._host = address.netloc.rpartition("@")[2]  # it is told in errors, where no password belongs
        self._base = address.path.rstrip("/")
        self._clock = SystemClock()  # signatures are judged by the real time, whatever the database's clock says

    def put(self, bucket: str, key: str, data: bytes) -> str:
        checksum = b64encode(md5(data, usedforsecurity=False).digest()).decode()
        headers = (("content-md5", checksum), ("content-type", "application/octet-stream"))
        response = self._send(S3Request("PUT", self._path(bucket, key), body=data, headers=headers))
        response.read()
        response.close()
        return (response.headers.get("etag") or "").strip('"')

    def get(self, bucket: str, key: str) -> S3Body:
        return S3Body(self, self._path(bucket, key))

    def list(self, bucket: str, prefix: str, *, after: str = "") -> Iterator[StoredObject]:
        following: str | None = None
        while True:
            members = {"list-type": "2", "prefix": prefix, "start-after": after}
            if following is not None:
                members["continuation-token"] = following
            query = "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in sorted(members.items()) if value)
            response = self._send(S3Request("GET", self._path(bucket), query))
            listing = parse(read_whole(response))
            for entry in listing.iter(qualified(listing, "Contents")):
                yield stored_object(listing, entry)
            following = listing.findtext(qualified(listing, "NextContinuationToken"))
            if following is None:
                return

    def _path(self, bucket: str, key: str | None = None) -> str:
        path = f"{self._base}/{quote(bucket, safe='-_.~')}"
        return path if key is None else f"{path}/{quote(key, safe='-_.~/')}"

    def open(self, path: str, offset: int, tag: str | None) -> HTTPResponse:
        """The content of an object from an offset on; an object that was replaced meanwhile is another one."""
        headers: list[tuple[str, str]] = []
        if offset:
            headers.append(("range", f"bytes={offset}-"))
            if tag is not None:
                headers.append(("if-match", tag))
        response = self._send(S3Request("GET", path, headers=tuple(headers)))
        if offset and response.status != PARTIAL_CONTENT:
            response.close()
            raise Unreachable("The endpoint cannot go on in the middle of an object.")
        return response

    def _send(self, request: S3Request) -> HTTPResponse:
        for attempt in range(ATTEMPTS):
            if attempt:
                threading.Event().wait(PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                response = self._attempt(request)
            except (OSError, HTTPException) as error:
                problem: ObjectsError = Unreachable(f"{self._host} cannot be reached: {error!r}")
                continue
            if response.status < 300:
                return response
            problem = error_of(response)
            if response.status not in WORTH_REPEATING:
                break
        raise problem

    def _attempt(self, request: S3Request) -> HTTPResponse:
        """Each request has a connection of its own: a body that is still being read must not hold up another one."""
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, timeout=TIMEOUT_SECONDS)
        headers = signed_headers(
            SigningKeys.of_environment(os.environ),
            service="s3",
            region=region_of_environment(os.environ),
            method=request.method,
            host=self._host,
            path=request.path,
            query=request.query,
            body=request.body,
            headers=dict(request.headers),
            now_seconds=self._clock.seconds(),
        )
        target = f"{request.path}?{request.query}" if request.query else request.path
        headers["connection"] = "close"
        connection.request(request.method, target, body=request.body or None, headers=headers)
        return connection.getresponse()


class S3Body:
    """The content of one object as it arrives."""

    def __init__(self, objects: S3Objects, path: str) -> None:
        self._objects = objects
        self._path = path
        self._offset = 0
        self._response = objects.open(path, 0, None)
        self._tag = self._response.headers.get("etag")
        self._length = -1 if self._response.length is None else self._response.length

    def read(self, size: int, /) -> bytes:
        for _ in range(ATTEMPTS):
            try:
                data = self._response.read(size)
                if data or self._offset >= self._length:  # a length that nobody told is below any offset
                    self._offset += len(data)
                    return data
            except (OSError, HTTPException):
                pass  # as good as an end that comes too early
            self.close()
            self._response = self._objects.open(self._path, self._offset, self._tag)
        raise Unreachable(f"The object broke off after {self._offset} bytes: {self._path}")

    def close(self) -> None:
        self._response.close()


def read_whole(response: HTTPResponse) -> bytes:
    try:
        return response.read(ANSWER_BYTES_MAX)
    except (OSError, HTTPException) as error:
        raise Unreachable(f"The answer broke off: {error!r}") from error
    finally:
        response.close()


def error_of(response: HTTPResponse) -> ObjectsError:
    """The error that an answer stands for: by the code in its body, or else by its status."""
    code, message = "", ""
    try:
        document = parse(read_whole(response))
        code = document.findtext("Code") or ""
        message = document.findtext("Message") or ""
    except Unreachable:
        pass  # a body that is no error document says nothing
    kind = ERRORS.get(code) or STATUSES.get(response.status, Unreachable)
    return kind(message or f"The endpoint answered {response.status} {code}".rstrip())


def parse(document: bytes) -> ElementTree.Element:
    if b"<!" in document or b"\0" in document:  # S3 declares nothing; declarations are how documents grow in memory
        raise Unreachable("The endpoint answered with a document type declaration.")
    try:
        return ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        raise Unreachable(f"The endpoint answered with something that is not XML: {error}") from error


def qualified(listing: ElementTree.Element, name: str) -> str:
    """A name in the listing's own name space, which not every endpoint gives."""
    space, bracket, _ = listing.tag.rpartition("}")
    return space + bracket + name


def stored_object(listing: ElementTree.Element, entry: ElementTree.Element) -> StoredObject:
    key = entry.findtext(qualified(listing, "Key"))
    size = entry.findtext(qualified(listing, "Size"))
    if key is None or size is None or SIZE.fullmatch(size) is None:
        raise Unreachable("The endpoint answered with a listing that names no keys and sizes.")
    return StoredObject(key, int(size))

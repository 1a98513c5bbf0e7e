"""As much of S3 as exports and imports use, on a port of this machine, with faults to order."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 2
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


class S3Server(ThreadingHTTPServer):
    """`faults` are taken one by one: a status to answer with, "break" to close in the middle of a body, or
    "whole" to send all of an object of which a part was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.buckets: dict[str, dict[str, bytes]] = {"bucket": {}}
        self.faults: list[int | str] = []
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: S3Server

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_PUT(self) -> None:
        self.answer_request()

    def do_GET(self) -> None:
        self.answer_request()

    def answer_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.requests.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, int):
            self.error(fault, "SlowDown" if fault == 503 else "AccessDenied")
            return
        address = urlsplit(self.path)
        _, bucket, *rest = address.path.split("/", 2)
        objects = self.server.buckets.get(unquote(bucket))
        if objects is None:
            self.error(404, "NoSuchBucket")
        elif not rest:
            self.answer(200, listing(objects, parse_qs(address.query)))
        elif self.command == "PUT":
            objects[unquote(rest[0])] = body
            self.answer(200, b"")
        elif unquote(rest[0]) not in objects:
            self.error(404, "NoSuchKey")
        else:
            self.content(objects[unquote(rest[0])], fault)

    def content(self, data: bytes, fault: str | None) -> None:
        wanted = self.headers.get("range") if fault != "whole" else None
        start = int((wanted or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        data = data[start:]
        self.send_response(206 if start else 200)
        self.send_header("content-length", str(len(data)))
        self.send_header("etag", '"tag"')
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if fault == "break" else data)
        self.close_connection = True

    def error(self, status: int, code: str) -> None:
        self.answer(status, f"<Error><Code>{code}</Code><Message>{code} indeed</Message></Error>".encode())

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("etag", '"tag"')
        self.end_headers()
        self.wfile.write(body)


def listing(objects: dict[str, bytes], query: dict[str, list[str]]) -> bytes:
    """A page of ListObjectsV2."""
    prefix = query.get("prefix", [""])[0]
    after = query.get("continuation-token", query.get("start-after", [""]))[0]
    found = sorted((key for key in objects if key.startswith(prefix) and key > after), key=str.encode)
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(objects[key])}</Size></Contents>" for key in found[:PAGE]
    )
    more = f"<NextContinuationToken>{escape(found[PAGE - 1])}</NextContinuationToken>" if len(found) > PAGE else ""
    return f'<?xml version="1.0"?><ListBucketResult xmlns="{NAMESPACE}">{contents}{more}</ListBucketResult>'.encode()

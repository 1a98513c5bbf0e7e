"""Objects behind an S3 endpoint: signed requests, pages, repeated attempts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from harness import Engine
from hashrange.auth.signing import SigningKeys, signed_headers
from hashrange.engine.database import DatabaseSettings
from hashrange.transfer import s3_objects
from hashrange.transfer.objects import AccessDenied, NoSuchBucket, NoSuchObject, Unreachable
from hashrange.transfer.s3_objects import S3Objects
from unit.transfer.s3_server import S3Server
from unit.transfer.support import enable_recovery, exported, imported, put, scan

KEYS = ["a/1 2", "a/ü+&=?%", "a/<x>", "b", "a/"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    monkeypatch.setattr(s3_objects, "PAUSE_SECONDS", 0.001)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    server = S3Server()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def objects(server: S3Server) -> S3Objects:
    return S3Objects(server.url)


def test_what_was_put_is_there_under_any_name(objects: S3Objects, server: S3Server) -> None:
    for key in KEYS:
        assert objects.put("bucket", key, key.encode()) == "tag"
    assert set(server.buckets["bucket"]) == set(KEYS)
    for key in KEYS:
        assert objects.get("bucket", key).read(100) == key.encode()


def test_a_listing_has_all_pages(objects: S3Objects, server: S3Server) -> None:
    for key in KEYS:
        objects.put("bucket", key, b"12")
    listed = [each.key for each in objects.list("bucket", "a/")]
    assert listed == sorted((key for key in KEYS if key.startswith("a/")), key=str.encode)
    assert [each.key for each in objects.list("bucket", "a/", after=listed[1])] == listed[2:]
    assert {each.size_bytes for each in objects.list("bucket", "")} == {2}


def test_errors_have_their_names(objects: S3Objects, server: S3Server) -> None:
    with pytest.raises(NoSuchBucket):
        objects.put("missing", "key", b"")
    with pytest.raises(NoSuchBucket):
        list(objects.list("missing", ""))
    with pytest.raises(NoSuchObject):
        objects.get("bucket", "key")
    server.faults = [403]
    with pytest.raises(AccessDenied):
        objects.get("bucket", "key")


def test_an_overloaded_server_is_asked_again_but_not_for_ever(objects: S3Objects, server: S3Server) -> None:
    server.faults = [503, 500]
    objects.put("bucket", "key", b"x")
    assert server.buckets["bucket"] == {"key": b"x"}
    server.faults = [503] * 10
    with pytest.raises(Unreachable):
        objects.put("bucket", "key", b"x")


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_objects, "PAUSE_SECONDS", 0.001)
    with pytest.raises(Unreachable):
        S3Objects("http://127.0.0.1:9").put("bucket", "key", b"")


def test_a_body_that_breaks_off_is_read_on_from_there(objects: S3Objects, server: S3Server) -> None:
    content = bytes(range(256)) * 1000
    server.buckets["bucket"]["key"] = content
    server.faults = ["break", "break"]
    body = objects.get("bucket", "key")
    assert b"".join(iter(lambda: body.read(10_000), b"")) == content
    assert [headers.get("range") for _, _, headers in server.requests] == [None, "bytes=128000-", "bytes=192000-"]


def test_an_object_that_cannot_be_read_on_is_not_read_from_its_start(objects: S3Objects, server: S3Server) -> None:
    server.buckets["bucket"]["key"] = bytes(100_000)
    server.faults = ["break", "whole"]
    body = objects.get("bucket", "key")
    with pytest.raises(Unreachable):
        list(iter(lambda: body.read(10_000), b""))


@pytest.mark.parametrize("size", ["", "x", "-1", "9" * 5000])
def test_a_listing_without_sizes_is_none(size: str) -> None:
    listing = s3_objects.parse(f"<L><Contents><Key>key</Key><Size>{size}</Size></Contents></L>".encode())
    with pytest.raises(Unreachable):
        s3_objects.stored_object(listing, listing[0])


@pytest.mark.parametrize("token", [None, "session"])
def test_requests_are_signed_as_the_sdk_signs_them(token: str | None) -> None:
    headers = {"content-md5": "x"}
    ours = signed_headers(
        SigningKeys("AKID", "secret", token),
        service="s3",
        region="eu-west-1",
        method="PUT",
        host="example.com:9000",
        path="/bucket/a%20b/%C3%BC",
        query="list-type=2&prefix=a%2Fb",
        body=b"content",
        headers=headers,
        now_seconds=1_800_000_000.5,
    )
    request = AWSRequest(
        "PUT",
        "http://example.com:9000/bucket/a%20b/%C3%BC?list-type=2&prefix=a%2Fb",
        data=b"content",
        headers={**headers, "x-amz-date": ours["x-amz-date"]},
    )
    theirs = S3SigV4Auth(BotoCredentials("AKID", "secret", token), "s3", "eu-west-1")
    request.context["timestamp"] = ours["x-amz-date"]
    request.headers["x-amz-content-sha256"] = ours["x-amz-content-sha256"]
    if token is not None:
        request.headers["x-amz-security-token"] = token
    canonical = theirs.canonical_request(request)
    expected = theirs.signature(theirs.string_to_sign(request, canonical), request)
    assert ours["authorization"].endswith(f"Signature={expected}")


def test_a_request_without_credentials_is_not_signed(
    objects: S3Objects, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    objects.put("bucket", "key", b"")
    assert "authorization" not in server.requests[0][2]


def test_a_table_goes_out_and_comes_back_over_s3(server: S3Server) -> None:
    engine = Engine(settings=DatabaseSettings(s3_endpoint=server.url))
    engine.create_table()
    enable_recovery(engine)
    for number in range(20):
        put(engine, str(number))
    done = exported(engine)
    assert done["ExportStatus"] == "COMPLETED"
    server.faults = [503, "break"]
    prefix = done["ExportManifest"].removesuffix("manifest-summary.json") + "data/"
    back = imported(engine, S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": prefix}, InputCompressionType="GZIP")
    assert back["ImportStatus"] == "COMPLETED"
    assert scan(engine, "copy") == scan(engine)
    server.faults = [403] * 10
    failed = imported(engine, "another", S3BucketSource={"S3Bucket": "bucket"})
    assert (failed["ImportStatus"], failed["FailureCode"]) == ("FAILED", "S3AccessDenied")


def test_a_password_in_the_address_of_an_endpoint_is_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_objects, "PAUSE_SECONDS", 0.001)
    with pytest.raises(Unreachable) as caught:
        list(S3Objects("http://user:password@127.0.0.1:1").list("bucket", ""))
    assert "password" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_that_declares_entities_is_not_read(encoding: str) -> None:
    document = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'.encode(encoding)
    with pytest.raises(Unreachable):
        s3_objects.parse(document)

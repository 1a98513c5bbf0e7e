"""Objects in directories stay in their buckets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hashrange.transfer.directory_objects import DirectoryObjects
from hashrange.transfer.objects import AccessDenied, NoSuchBucket, NoSuchObject, ObjectsError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "bucket").mkdir()
    return tmp_path / "root"


@pytest.fixture
def objects(home: Path) -> DirectoryObjects:
    return DirectoryObjects(str(home))


@pytest.mark.parametrize("key", ["missing", "x" * 300, "file/below"])
def test_clients_are_not_told_where_buckets_are(home: Path, objects: DirectoryObjects, key: str) -> None:
    objects.put("bucket", "file", b"")
    with pytest.raises(ObjectsError) as caught:
        objects.get("bucket", key)
    assert str(home) not in str(caught.value)


def test_what_was_put_is_there(objects: DirectoryObjects) -> None:
    tag = objects.put("bucket", "a/b.txt", b"content")
    assert tag == "9a0364b9e99bb480dd25e1f0284c8555"
    assert objects.get("bucket", "a/b.txt").read(100) == b"content"
    objects.put("bucket", "a/b.txt", b"other")
    assert objects.get("bucket", "a/b.txt").read(100) == b"other"


def test_a_prefix_is_any_beginning_of_a_key_and_keys_come_in_the_order_of_their_bytes(
    objects: DirectoryObjects,
) -> None:
    for key in ("a/b", "a.b", "a/b/c", "é", "z", "ab"):
        if key != "a/b":
            objects.put("bucket", key, b"12")
    assert [each.key for each in objects.list("bucket", "")] == ["a.b", "a/b/c", "ab", "z", "é"]
    assert [each.key for each in objects.list("bucket", "a")] == ["a.b", "a/b/c", "ab"]
    assert [each.key for each in objects.list("bucket", "a", after="a.b")] == ["a/b/c", "ab"]
    assert {each.size_bytes for each in objects.list("bucket", "")} == {2}


@pytest.mark.parametrize(
    "key",
    [
        "../outside",
        "a/../../outside",
        "/etc/passwd",
        "",
        "a//b",
        ".",
        "a/.",
        "a\0b",
        "a/",
        "..\\x",
        "link/x",
        "file-link",
    ],
)
def test_no_key_leads_out_of_a_bucket(objects: DirectoryObjects, home: Path, key: str) -> None:
    (home / "bucket" / "link").symlink_to(home.parent)
    (home / "bucket" / "file-link").symlink_to(home.parent / "outside")
    with pytest.raises(AccessDenied):
        objects.get("bucket", key)
    with pytest.raises(AccessDenied):
        objects.put("bucket", key, b"x")
    assert (home.parent / "outside").read_text() == "secret"
    assert list(objects.list("bucket", "")) == []


@pytest.mark.parametrize("bucket", ["missing", "..", ".", "", "a/b", "bucket\0"])
def test_a_bucket_is_a_directory_that_is_there(objects: DirectoryObjects, bucket: str) -> None:
    with pytest.raises(NoSuchBucket):
        objects.put(bucket, "key", b"")
    with pytest.raises(NoSuchBucket):
        list(objects.list(bucket, ""))


def test_without_a_directory_there_are_no_buckets() -> None:
    with pytest.raises(NoSuchBucket):
        DirectoryObjects(None).put("bucket", "key", b"")


def test_a_missing_object_is_told(objects: DirectoryObjects) -> None:
    with pytest.raises(NoSuchObject):
        objects.get("bucket", "key")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_bucket_that_may_not_be_written_is_told(objects: DirectoryObjects, home: Path) -> None:
    (home / "bucket").chmod(0o500)
    with pytest.raises(AccessDenied):
        objects.put("bucket", "key", b"")


def test_an_object_cannot_be_below_another(objects: DirectoryObjects) -> None:
    objects.put("bucket", "a", b"")
    with pytest.raises(ObjectsError):
        objects.put("bucket", "a/b", b"")

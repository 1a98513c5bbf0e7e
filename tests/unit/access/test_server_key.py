"""Secrets come from the server's key and a key's record together; neither alone tells them."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from hashrange.access.key import AccessKey
from hashrange.access.server_key import VARIABLE, NoServerKey, ServerKey, find_server_key, make_server_key

KEY = AccessKey("HRAKEXAMPLE", "000000000000", "salt", "", 0)
CONTENT = b"0123456789abcdef0123456789abcdef"


def test_a_secret_is_forty_characters_of_an_hmac() -> None:
    expected = hmac.new(CONTENT, b"hashrange\0secret\0HRAKEXAMPLE\0salt", hashlib.sha256).digest()
    assert ServerKey(CONTENT).secret_of(KEY) == b64encode(expected).decode()[:40]


def test_everything_that_a_secret_comes_from_changes_it() -> None:
    secrets = {
        ServerKey(CONTENT).secret_of(KEY),
        ServerKey(CONTENT).token_of(KEY),
        ServerKey(CONTENT + b"1").secret_of(KEY),
        ServerKey(CONTENT).secret_of(replace(KEY, salt="pepper")),
        ServerKey(CONTENT).secret_of(replace(KEY, id="HRAKOTHER")),
    }
    assert len(secrets) == 5


def test_a_server_key_knows_what_it_made() -> None:
    key = replace(KEY, check=ServerKey(CONTENT).check_of(KEY.id, KEY.salt))
    assert ServerKey(CONTENT).made(key)
    assert not ServerKey(CONTENT + b"1").made(key)


def test_a_record_survives_being_stored() -> None:
    key = replace(KEY, user="ada", policies={"read": "{}"}, expires_at_seconds=5, disabled=True, full_access=True)
    assert AccessKey.load(key.stored()) == key


def test_the_key_file_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    assert find_server_key(str(tmp_path), {}) is None
    first = make_server_key(str(tmp_path), {})
    again = make_server_key(str(tmp_path), {})
    assert first.secret_of(KEY) == again.secret_of(KEY)
    assert os.listdir(tmp_path) == ["server.key"]
    assert stat.S_IMODE((tmp_path / "server.key").stat().st_mode) == 0o600


def test_the_environment_speaks_before_the_file(tmp_path: Path) -> None:
    make_server_key(str(tmp_path), {})
    chosen = find_server_key(str(tmp_path), {VARIABLE: CONTENT.decode()})
    assert chosen is not None
    assert chosen.secret_of(KEY) == ServerKey(CONTENT).secret_of(KEY)


def test_a_short_server_key_is_refused() -> None:
    with pytest.raises(NoServerKey, match="at least 32 characters"):
        ServerKey(b"short")

"""`hashrange keys` beside a running server, and the server that does not start where it should not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ENVIRONMENT, HASHRANGE

POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}]}
BOOTSTRAP = {"HASHRANGE_ACCESS_KEY_ID": "first", "HASHRANGE_SECRET_ACCESS_KEY": "first secret"}


def hashrange(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = (*HASHRANGE, *map(str, arguments))
    return subprocess.run(
        command, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


def refusal(*arguments: str | Path, **environment: str) -> str:
    finished = hashrange(*arguments, **environment)
    assert finished.returncode == 2, finished
    assert finished.stdout == ""
    return finished.stderr.removeprefix("hashrange: ").strip()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "read.json"
    path.write_text(json.dumps(POLICY))
    return path


def create(data: Path, *arguments: str | Path) -> dict[str, str]:
    finished = hashrange("keys", "create", "--data", data, "--json", *arguments)
    assert finished.returncode == 0, finished
    shown: dict[str, str] = json.loads(finished.stdout)
    return shown


def listed(data: Path) -> list[dict[str, Any]]:
    finished = hashrange("keys", "list", "--data", data, "--json")
    assert finished.returncode == 0, finished
    return [json.loads(line) for line in finished.stdout.splitlines()]


def test_a_key_is_made_listed_changed_and_deleted(data: Path, policy: Path) -> None:
    shown = create(data, "--user", "ada", "--policy", policy, "--description", "for tests")
    key_id = shown["AWS_ACCESS_KEY_ID"]
    [key] = listed(data)
    assert (key["id"], key["arn"]) == (key_id, "arn:aws:iam::000000000000:user/ada")
    assert (key["state"], key["policies"]) == ("active", {"read": POLICY})
    for action, state in (("disable", "disabled"), ("enable", "active")):
        assert hashrange("keys", action, key_id, "--data", data).returncode == 0
        assert listed(data)[0]["state"] == state
    assert hashrange("keys", "detach", key_id, "--policy", "read", "--data", data).returncode == 0
    assert listed(data)[0]["policies"] == {}
    assert hashrange("keys", "attach", key_id, "--policy", policy, "--data", data).returncode == 0
    assert listed(data)[0]["policies"] == {"read": POLICY}
    assert hashrange("keys", "delete", key_id, "--data", data).returncode == 0
    assert listed(data) == []


def test_the_database_does_not_hold_the_secret_and_a_copy_not_the_key_file(data: Path, tmp_path: Path) -> None:
    shown = create(data, "--full-access", "--expires", "1h")
    kept = (data / "data.mdb").read_bytes() + hashrange("keys", "list", "--data", data, "--json").stdout.encode()
    assert shown["AWS_ACCESS_KEY_ID"].encode() in kept
    for secret in (shown["AWS_SECRET_ACCESS_KEY"], shown["AWS_SESSION_TOKEN"]):
        assert secret.encode() not in kept
    assert hashrange("copy", "--data", data, tmp_path / "copy").returncode == 0
    assert "server.key" in os.listdir(data)
    assert "server.key" not in os.listdir(tmp_path / "copy")


def test_what_makes_no_sense_is_refused(data: Path, tmp_path: Path, policy: Path) -> None:
    create(data, "--full-access")
    [key] = listed(data)
    broken = tmp_path / "broken.json"
    broken.write_text("[]")
    at = ("--data", data)
    assert refusal("keys", "create", *at) == "Say what the key may do: --policy FILE or --full-access."
    assert refusal("keys", "attach", key["id"], "--policy", policy, *at).endswith(
        "full access, which no policy changes."
    )
    assert refusal("keys", "rotate", *at) == "hashrange keys rotate needs a KEY; `list` shows them."
    assert refusal("keys", "list", "x", *at) == "hashrange keys list takes no KEY."
    assert refusal("keys", "delete", "x", *at).startswith("There is no access key x;")
    assert refusal("keys", "create", "--policy", broken, *at).startswith(f"{broken} does not hold an IAM policy: ")
    assert refusal("keys", "detach", key["id"], "--policy", "x", *at) == f"{key['id']} has no policy x: it has none."
    assert refusal("keys", "disable", key["id"], "--user", "x", *at) == "--user is for create."
    assert refusal("keys", "list", "--data", tmp_path / "none").startswith("There is no")


def test_a_server_does_not_open_itself_to_others_by_mistake(data: Path) -> None:
    serve = ("serve", "--data", data, "--host", "0.0.0.0", "--port", "0")
    reach = "Other machines can reach 0.0.0.0. Add "
    tls, end = "--tls-cert FILE --tls-key FILE (or --tls-self-signed)", "; or --insecure, to do without."
    assert refusal(*serve) == f"{reach}--auth verify and {tls}{end}"
    assert refusal(*serve, "--auth", "verify") == (
        f"{reach}an access key (`hashrange keys create --full-access --data {data}`, or set HASHRANGE_ACCESS_KEY_ID "
        f"and HASHRANGE_SECRET_ACCESS_KEY) and {tls}{end}"
    )
    assert refusal(*serve, "--auth", "verify", **BOOTSTRAP) == f"{reach}{tls}{end}"
    create(data, "--full-access")
    assert refusal(*serve, "--auth", "verify") == f"{reach}{tls}{end}"


def test_half_a_key_in_the_environment_is_refused(data: Path) -> None:
    half = {"HASHRANGE_ACCESS_KEY_ID": "first"}
    assert refusal("serve", "--data", data, "--auth", "verify", **half) == (
        "HASHRANGE_ACCESS_KEY_ID and HASHRANGE_SECRET_ACCESS_KEY go together."
    )


def test_a_database_with_keys_needs_its_key_file_until_they_are_rotated(data: Path) -> None:
    key_id = create(data, "--full-access")["AWS_ACCESS_KEY_ID"]
    (data / "server.key").unlink()
    serve = ("serve", "--data", data, "--port", "0", "--auth", "verify")
    assert refusal(*serve).endswith("set HASHRANGE_KEYS_SECRET; or rotate or delete the keys.")
    assert refusal(*serve, HASHRANGE_KEYS_SECRET="short") == "The server's key must have at least 32 characters."
    assert hashrange("keys", "rotate", key_id, "--data", data).returncode == 0
    assert (data / "server.key").exists()


def test_with_insecure_a_server_starts_as_it_was_told(data: Path) -> None:
    serve = (*HASHRANGE, "serve", "--data", str(data), "--port", "0", "--host", "0.0.0.0", "--insecure")
    with subprocess.Popen(serve, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "serves DynamoDB on http://0.0.0.0:" in process.stderr.readline()
        process.terminate()

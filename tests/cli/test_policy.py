"""`hashrange policy`: files are checked, and requests are explained, without a server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ENVIRONMENT, HASHRANGE

OWN = {
    "Sid": "Own",
    "Effect": "Allow",
    "Action": "dynamodb:GetItem",
    "Resource": "*",
    "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}},
}
NEVER = {"Effect": "Deny", "Action": "dynamodb:Delete*", "Resource": "*"}
TABLE = {
    "Table": {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "customer", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
}
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"


def hashrange(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*HASHRANGE, *map(str, arguments)), env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"Version": "2012-10-17", "Statement": [OWN, NEVER]}))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A database with a table."""
    lines = tmp_path / "orders.jsonl"
    lines.write_text(json.dumps(TABLE) + "\n")
    loaded = hashrange("load", "orders", lines, "--create", "--data", tmp_path / "data")
    assert loaded.returncode == 0, loaded
    return tmp_path / "data"


def explain(data: Path, policy: Path, operation: str, request: Any, user: str = "ada") -> tuple[int, list[str]]:
    told = hashrange(
        "policy", "explain", operation, json.dumps(request), "--policy", policy, "--user", user, "--data", data
    )
    return told.returncode, told.stdout.splitlines()


def test_a_file_is_checked(policy: Path, tmp_path: Path) -> None:
    good = hashrange("policy", "check", policy)
    assert (good.returncode, good.stdout) == (0, f"{policy}: a policy of 2 statements\n")
    broken = tmp_path / "broken.json"
    broken.write_text('{"Version": "2012-10-17"}')
    bad = hashrange("policy", "check", broken)
    assert (bad.returncode, bad.stdout) == (1, f"{broken}: Missing required field Statement\n")


def test_the_policy_of_a_table_is_checked_as_the_server_would(tmp_path: Path) -> None:
    path = tmp_path / "open.json"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:GetItem", "Resource": "*"}
    path.write_text(json.dumps({"Version": "2012-10-17", "Statement": statement}))
    bad = hashrange("policy", "check", path, "--resource-policy")
    assert bad.returncode == 1
    assert "grants unbounded access" in bad.stdout


def test_a_permission_is_explained(data: Path, policy: Path) -> None:
    code, lines = explain(data, policy, "GetItem", {"TableName": "orders", "Key": {"customer": {"S": "ada"}}})
    assert code == 0
    assert lines == [
        f"allowed: dynamodb:GetItem on {ARN}",
        "  by Own of an identity-based policy",
        f"  identity-based policy {policy}",
        "    Own (Allow): applies",
        "      yes  Action: dynamodb:GetItem in dynamodb:GetItem",
        f"      yes  Resource: {ARN} in *",
        "      yes  ForAllValues:StringEquals dynamodb:LeadingKeys: ada, held against ${aws:username}",
        "    statement 2 (Deny): does not apply",
        "      no   Action: dynamodb:GetItem in dynamodb:Delete*",
        f"      yes  Resource: {ARN} in *",
    ]


def test_a_refusal_is_explained(data: Path, policy: Path) -> None:
    key = {"customer": {"S": "ada"}}
    code, lines = explain(data, policy, "GetItem", {"TableName": "orders", "Key": key}, user="bob")
    assert (code, lines[1]) == (1, "  because no identity-based policy allows it")
    assert "      no   ForAllValues:StringEquals dynamodb:LeadingKeys: ada, held against ${aws:username}" in lines
    code, lines = explain(data, policy, "DeleteItem", {"TableName": "orders", "Key": key})
    assert (code, lines[1]) == (1, "  by statement 2 of an identity-based policy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("GetItems", "{}"), "There is no operation GetItems."),
        (("GetItem", "{"), "The request is not JSON: unexpected end of data: line 1 column 2 (char 1)."),
        (("GetItem", "[]"), "The request is not a JSON object."),
    ],
)
def test_what_cannot_be_explained_is_refused(
    data: Path, policy: Path, arguments: tuple[str, str], message: str
) -> None:
    told = hashrange("policy", "explain", *arguments, "--policy", policy, "--data", data)
    assert (told.returncode, told.stderr) == (2, f"hashrange: {message}\n")


def test_somebody_has_to_ask(data: Path) -> None:
    told = hashrange("policy", "explain", "ListTables", "--data", data)
    assert (told.returncode, told.stderr) == (2, "hashrange: Say who sends the request: --key ID or --policy FILE.\n")

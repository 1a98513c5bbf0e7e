"""The AWS CLI: an `orders` table with a composite key, and one order's life in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.support.tables import unique_name

AWS = Path(sys.executable).parent / "aws"


@pytest.fixture
def aws(server):
    """Runs one command of the CLI: exit code, JSON that it printed, complaint."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }

    def run(command, **options):
        arguments = [sys.executable, AWS, "dynamodb", command, "--endpoint-url", server, "--output", "json"]
        for name, value in options.items():
            arguments.append(f"--{name.replace('_', '-')}")
            if value is not True:
                arguments += (
                    value if isinstance(value, list) else [value if isinstance(value, str) else json.dumps(value)]
                )
        result = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60)
        return result.returncode, json.loads(result.stdout or "{}"), result.stderr.strip()

    return run


def test_an_order_is_created_read_changed_on_condition_and_deleted(aws):
    orders = unique_name("orders")
    code, answer, _ = aws(
        "create-table",
        table_name=orders,
        attribute_definitions=["AttributeName=customer,AttributeType=S", "AttributeName=placed,AttributeType=S"],
        key_schema=["AttributeName=customer,KeyType=HASH", "AttributeName=placed,KeyType=RANGE"],
        billing_mode="PAY_PER_REQUEST",
    )
    assert (code, answer["TableDescription"]["TableStatus"]) == (0, "CREATING")

    key = {"customer": {"S": "ann"}, "placed": {"S": "2026-01-02"}}
    order = {**key, "state": {"S": "open"}, "total": {"N": "12.50"}}
    assert aws("put-item", table_name=orders, item=order)[0] == 0
    assert aws("get-item", table_name=orders, key=key)[1]["Item"] == {**order, "total": {"N": "12.5"}}

    close = {
        "table_name": orders,
        "key": key,
        "update_expression": "SET #state = :closed",
        "condition_expression": "#state = :open",
        "expression_attribute_names": {"#state": "state"},
        "expression_attribute_values": {":open": {"S": "open"}, ":closed": {"S": "closed"}},
        "return_values": "ALL_NEW",
    }
    assert aws("update-item", **close)[1]["Attributes"]["state"] == {"S": "closed"}
    code, _, complaint = aws("update-item", **close)
    assert code != 0
    assert "(ConditionalCheckFailedException)" in complaint
    assert complaint.endswith("The conditional request failed")

    assert aws("delete-item", table_name=orders, key=key, return_values="ALL_OLD")[1]["Attributes"]["total"] == {
        "N": "12.5"
    }
    assert aws("delete-table", table_name=orders)[1]["TableDescription"]["TableStatus"] == "DELETING"

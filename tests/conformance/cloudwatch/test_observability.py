"""What an operator sees of two workers: sums over both, health, slow requests and the audit log."""

import json
import re

import boto3
import pytest
import urllib3
from botocore.config import Config

from conformance.cloudwatch.test_cloudwatch import client_of, query, totals, wait_for
from conformance.support.tables import table_request

CONNECTIONS = 12


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def endpoint(start_server, audit):
    with start_server("--workers", "2", "--metrics-token", "open sesame", "--audit-log", str(audit)) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def table(endpoint):
    """A table that was written to over many connections, so that both workers had some of them."""
    clients = [dynamodb(endpoint) for _ in range(CONNECTIONS)]
    request = table_request("pk")
    clients[0].create_table(**request)
    for number, client in enumerate(clients):
        client.put_item(TableName=request["TableName"], Item={"pk": {"S": str(number)}})
    return request["TableName"]


def dynamodb(endpoint):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name="us-east-1")
    return session.client("dynamodb", endpoint_url=endpoint, config=Config(retries={"max_attempts": 0}))


def page(endpoint, path, **headers):
    answer = urllib3.PoolManager().request("GET", endpoint + path, headers=headers)
    return answer.status, answer.data.decode()


def metrics(endpoint):
    status, text = page(endpoint, "/metrics", Authorization="Bearer open sesame")
    assert status == 200
    return dict(line.rpartition(" ")[::2] for line in text.splitlines() if not line.startswith("#"))


def test_metrics_are_the_sum_over_two_workers(endpoint, table):
    written = query("w", "ConsumedWriteCapacityUnits", TableName=table)
    for _ in range(5):  # whichever worker is asked
        wait_for({"w": float(CONNECTIONS)}, lambda: totals(client_of(endpoint), written))


def test_prometheus_sees_the_same_sum_whichever_worker_it_asks(endpoint, table):
    name = f'hashrange_requests_total{{operation="PutItem",table="{table}"}}'
    for _ in range(5):
        wait_for(str(CONNECTIONS), lambda: metrics(endpoint).get(name))
    found = metrics(endpoint)
    assert found[f'hashrange_consumed_units_total{{table="{table}",kind="write"}}'] == str(CONNECTIONS)
    assert found['hashrange_request_duration_seconds_bucket{operation="PutItem",le="+Inf"}'] == str(CONNECTIONS)
    assert int(found["hashrange_commit_batch_size_count"]) > 0
    assert int(found["hashrange_store_bytes"]) > 0
    assert found["hashrange_workers"] == "2"
    assert int(found["hashrange_open_connections"]) > 0


def test_errors_are_counted_by_their_code(endpoint, table):
    client = dynamodb(endpoint)
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.get_item(TableName="nowhere", Key={"pk": {"S": "a"}})
    name = 'hashrange_errors_total{operation="GetItem",code="ResourceNotFoundException"}'
    wait_for("1", lambda: metrics(endpoint).get(name))


def test_metrics_need_their_token(endpoint):
    assert page(endpoint, "/metrics")[0] == 401
    assert page(endpoint, "/metrics", Authorization="Bearer wrong")[0] == 401


def test_a_server_that_runs_is_live_and_ready(endpoint):
    assert page(endpoint, "/health/live") == (200, "live\n")
    assert page(endpoint, "/health/ready") == (200, "ready\n")


def test_the_audit_log_has_the_control_plane_and_no_items(endpoint, table, audit):
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    created = next(line for line in lines if line["operation"] == "CreateTable")
    assert created["resource"] == table
    assert (created["access_key_id"], created["peer"], created["outcome"]) == ("test", "127.0.0.1", "ok")
    assert created["request_id"]
    assert not any(line["operation"] in ("PutItem", "GetItem") for line in lines)


def test_an_alarm_goes_off_on_a_moved_clock(start_server):
    with start_server("--dev-clock") as endpoint:
        client, cloudwatch = dynamodb(endpoint), client_of(endpoint)
        request = table_request("pk")
        client.create_table(**request)
        cloudwatch.put_metric_alarm(
            AlarmName="busy",
            Namespace="AWS/DynamoDB",
            MetricName="ConsumedWriteCapacityUnits",
            Dimensions=[{"Name": "TableName", "Value": request["TableName"]}],
            Statistic="Sum",
            Period=60,
            EvaluationPeriods=1,
            Threshold=1,
            ComparisonOperator="GreaterThanThreshold",
        )
        for number in range(3):
            client.put_item(TableName=request["TableName"], Item={"pk": {"S": str(number)}})
        written = query("w", "ConsumedWriteCapacityUnits", TableName=request["TableName"])
        wait_for({"w": 3.0}, lambda: totals(cloudwatch, written))
        urllib3.PoolManager().request("POST", f"{endpoint}/_hashrange/clock", body=b'{"advance_seconds": 65}')
        wait_for("ALARM", lambda: cloudwatch.describe_alarms()["MetricAlarms"][0]["StateValue"])
        (alarm,) = cloudwatch.describe_alarms()["MetricAlarms"]
        assert re.match(r"Threshold Crossed: 1 out of the last 1 datapoints \[3.0 ", alarm["StateReason"])

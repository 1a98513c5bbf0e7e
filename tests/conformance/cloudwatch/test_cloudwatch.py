"""CloudWatch as its clients see it: boto3 and the AWS CLI, which choose JSON; and all three protocols as botocore
writes and reads them."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import boto3
import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from botocore.parsers import create_parser
from botocore.serialize import create_serializer

REGION = "us-east-1"
AWS = Path(sys.executable).parent / "aws"
SECONDS_MAX = 15.0


@pytest.fixture(scope="module")
def cloudwatch(server):
    return client_of(server)


def client_of(endpoint):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name=REGION)
    return session.client("cloudwatch", endpoint_url=endpoint)


def window():
    now = datetime.now(UTC)
    return {"StartTime": now - timedelta(minutes=10), "EndTime": now + timedelta(minutes=1)}


def query(key, metric, stat="Sum", **dimensions):
    given = [{"Name": name, "Value": value} for name, value in dimensions.items()]
    metric = {"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": given}
    return {"Id": key, "MetricStat": {"Metric": metric, "Period": 3600, "Stat": stat}}


def totals(cloudwatch, *queries):
    """The values of each query over the last minutes."""
    answer = cloudwatch.get_metric_data(MetricDataQueries=list(queries), **window())
    return {result["Id"]: sum(result["Values"]) for result in answer["MetricDataResults"]}


def wait_for(expected, ask):
    """What was counted shows within seconds."""
    ends_at = time.monotonic() + SECONDS_MAX
    while (found := ask()) != expected:
        assert time.monotonic() < ends_at, found
        time.sleep(0.2)


@pytest.fixture
def used(client, table):
    """A table with four writes and three strongly consistent reads."""
    for number in range(4):
        client.put_item(TableName=table.name, Item={"pk": {"S": "a"}, "sk": {"S": str(number)}})
    for number in range(3):
        client.get_item(TableName=table.name, Key={"pk": {"S": "a"}, "sk": {"S": str(number)}}, ConsistentRead=True)
    return table.name


def test_boto3_sees_what_was_consumed(cloudwatch, used):
    reads = query("r", "ConsumedReadCapacityUnits", TableName=used)
    writes = query("w", "ConsumedWriteCapacityUnits", TableName=used)
    both = {"Id": "both", "Expression": "r + w"}
    wait_for({"r": 3.0, "w": 4.0, "both": 7.0}, lambda: totals(cloudwatch, reads, writes, both))


def test_timestamps_statistics_and_percentiles_come_in_their_types(cloudwatch, used):
    reads = query("r", "ConsumedReadCapacityUnits", TableName=used)
    wait_for({"r": 3.0}, lambda: totals(cloudwatch, reads))
    answer = cloudwatch.get_metric_statistics(
        Namespace="AWS/DynamoDB",
        MetricName="SuccessfulRequestLatency",
        Dimensions=[{"Name": "TableName", "Value": used}, {"Name": "Operation", "Value": "GetItem"}],
        Period=3600,
        ExtendedStatistics=["p50", "p99.9"],
        **window(),
    )
    (point,) = answer["Datapoints"]
    assert point["Timestamp"].tzinfo is not None
    assert point["Unit"] == "Milliseconds"
    assert 0 < point["ExtendedStatistics"]["p50"] <= point["ExtendedStatistics"]["p99.9"]


def test_metrics_are_listed(cloudwatch, used):
    def names():
        pages = cloudwatch.get_paginator("list_metrics").paginate(Dimensions=[{"Name": "TableName", "Value": used}])
        return {metric["MetricName"] for metric in pages.search("Metrics[]")}

    wait_for({"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "SuccessfulRequestLatency"}, names)


def test_an_alarm_is_made_found_and_deleted(cloudwatch, used):
    name = f"busy {used}"
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/DynamoDB",
        MetricName="ConsumedReadCapacityUnits",
        Dimensions=[{"Name": "TableName", "Value": used}],
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=100,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a drill")
    (alarm,) = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert (alarm["StateValue"], alarm["Threshold"]) == ("ALARM", 100.0)
    cloudwatch.get_waiter("alarm_exists").wait(AlarmNames=[name])
    history = cloudwatch.describe_alarm_history(AlarmName=name)["AlarmHistoryItems"]
    assert [each["HistoryItemType"] for each in history] == ["StateUpdate", "ConfigurationUpdate"]
    cloudwatch.delete_alarms(AlarmNames=[name])
    with pytest.raises(ClientError) as caught:
        cloudwatch.delete_alarms(AlarmNames=[name])
    assert caught.value.response["Error"]["Code"] == "ResourceNotFound"


def test_errors_have_the_codes_that_clients_know(cloudwatch):
    wrong = {**window(), "StartTime": datetime.now(UTC) - timedelta(days=10)}
    with pytest.raises(cloudwatch.exceptions.InvalidParameterCombinationException) as caught:
        cloudwatch.get_metric_statistics(
            Namespace="AWS/DynamoDB", MetricName="X", Period=60, Statistics=["Sum"], **wrong
        )
    assert caught.value.response["Error"]["Code"] == "InvalidParameterCombination"


@pytest.mark.parametrize("protocol", ["query", "json", "smithy-rpc-v2-cbor"])
def test_every_protocol_is_understood(cloudwatch, server, used, protocol):
    reads = query("r", "ConsumedReadCapacityUnits", TableName=used)
    wait_for({"r": 3.0}, lambda: totals(cloudwatch, reads))
    status, answer = spoken(cloudwatch, server, protocol, "GetMetricData", MetricDataQueries=[reads], **window())
    (result,) = answer["MetricDataResults"]
    assert (status, result["Id"], result["Values"]) == (200, "r", [3.0])
    assert isinstance(result["Timestamps"][0], datetime)
    status, answer = spoken(cloudwatch, server, protocol, "DeleteAlarms", AlarmNames=["<nobody>"])
    assert (status, answer["Error"]["Code"]) == (404, "ResourceNotFound")
    assert answer["Error"]["Message"] == "Unknown alarm name: <nobody>"


def spoken(cloudwatch, server, protocol, operation, **members):
    """A request as botocore writes it in one protocol, and the answer as it reads it."""
    model = cloudwatch.meta.service_model.operation_model(operation)
    request = create_serializer(protocol).serialize_to_request(members, model)
    body = request["body"]
    signed = AWSRequest(
        "POST",
        server + request["url_path"],
        headers=request["headers"],
        data=body if isinstance(body, str | bytes) else urlencode(body),
    )
    if protocol == "query":
        signed.headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
    SigV4Auth(Credentials("test", "secret"), "monitoring", REGION).add_auth(signed)
    answer = urllib3.PoolManager().request("POST", signed.url, headers=dict(signed.headers), body=signed.data)
    received = {"status_code": answer.status, "headers": answer.headers, "body": answer.data}
    return answer.status, create_parser(protocol).parse(received, model.output_shape)


def test_the_aws_cli_reads_statistics_and_makes_alarms(cloudwatch, server, used):
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }

    def aws(*arguments):
        command = [sys.executable, AWS, "cloudwatch", *arguments, "--endpoint-url", server, "--output", "json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "{}")

    wait_for({"r": 3.0}, lambda: totals(cloudwatch, query("r", "ConsumedReadCapacityUnits", TableName=used)))
    where = ("--namespace", "AWS/DynamoDB", "--metric-name", "ConsumedReadCapacityUnits")
    dimension = ("--dimensions", f"Name=TableName,Value={used}")
    now = datetime.now(UTC)
    times = ("--start-time", (now - timedelta(minutes=9)).isoformat(), "--end-time", now.isoformat())
    answer = aws("get-metric-statistics", *where, *dimension, *times, "--period", "3600", "--statistics", "Sum")
    assert [point["Sum"] for point in answer["Datapoints"]] == [3.0]
    rule = ("--comparison-operator", "GreaterThanThreshold", "--threshold", "1", "--evaluation-periods", "1")
    aws("put-metric-alarm", "--alarm-name", used, *where, *dimension, "--period", "60", "--statistic", "Sum", *rule)
    assert [each["AlarmName"] for each in aws("describe-alarms", "--alarm-names", used)["MetricAlarms"]] == [used]
    aws("delete-alarms", "--alarm-names", used)

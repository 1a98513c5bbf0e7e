"""The commands of the public guides to DynamoDB auto scaling, as they stand there, through the AWS CLI."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

AWS = Path(sys.executable).parent / "aws"
REGION = "guides"  # where no other test has a table called TestTable
POLICY = {
    "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"},
    "ScaleOutCooldown": 60,
    "ScaleInCooldown": 60,
    "TargetValue": 50.0,
}


@pytest.fixture
def aws(server, tmp_path):
    """Runs one command of the CLI in a directory of its own: the JSON that it printed."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }

    def run(command):
        arguments = [sys.executable, AWS, *shlex.split(command), "--endpoint-url", server, "--output", "json"]
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "{}")

    (tmp_path / "scaling-policy.json").write_text(json.dumps(POLICY))
    return run


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


TARGET = "--service-namespace dynamodb --resource-id table/TestTable"
WRITES = f"{TARGET} --scalable-dimension dynamodb:table:WriteCapacityUnits"


def test_the_tutorials_work(aws):
    aws(
        "dynamodb create-table --table-name TestTable --attribute-definitions AttributeName=pk,AttributeType=N "
        "AttributeName=sk,AttributeType=N --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE "
        "--provisioned-throughput ReadCapacityUnits=5,WriteCapacityUnits=5"
    )
    assert aws("application-autoscaling describe-scalable-targets --service-namespace dynamodb") == {
        "ScalableTargets": []
    }
    registered = aws(f"application-autoscaling register-scalable-target {WRITES} --min-capacity 5 --max-capacity 10")
    assert ":scalable-target/" in registered["ScalableTargetARN"]
    put = aws(
        f"application-autoscaling put-scaling-policy {WRITES} --policy-name MyScalingPolicy "
        "--policy-type TargetTrackingScaling "
        "--target-tracking-scaling-policy-configuration file://scaling-policy.json"
    )
    assert len(put["Alarms"]) == 4
    assert aws(f"application-autoscaling describe-scaling-activities {TARGET}") == {"ScalingActivities": []}

    # Scheduled scaling, and bounds that move the capacity at once
    aws(
        f"application-autoscaling put-scheduled-action {WRITES} --scheduled-action-name my-recurring-action "
        '--schedule "cron(0 9 * * ? *)" --timezone "America/New_York" '
        "--scalable-target-action MinCapacity=10,MaxCapacity=50"
    )
    (action,) = aws(f"application-autoscaling describe-scheduled-actions {TARGET}")["ScheduledActions"]
    assert action["ScalableTargetAction"] == {"MinCapacity": 10, "MaxCapacity": 50}
    aws(f"application-autoscaling register-scalable-target {WRITES} --min-capacity 8 --max-capacity 10")

    def activities():
        return aws(f"application-autoscaling describe-scaling-activities {TARGET}")["ScalingActivities"]

    wait_for(activities)
    (activity,) = activities()
    assert (activity["Description"], activity["Cause"], activity["StatusCode"]) == (
        "Setting write capacity units to 8.",
        "minimum capacity was set to 8",
        "Successful",
    )
    table = aws("dynamodb describe-table --table-name TestTable")["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 8

    described = aws("dynamodb describe-table-replica-auto-scaling --table-name TestTable")
    (replica,) = described["TableAutoScalingDescription"]["Replicas"]
    writes = replica["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert writes["ScalingPolicies"][0]["PolicyName"] == "MyScalingPolicy"

    # Clean up
    aws(f"application-autoscaling delete-scheduled-action {WRITES} --scheduled-action-name my-recurring-action")
    aws(f"application-autoscaling delete-scaling-policy {WRITES} --policy-name MyScalingPolicy")
    aws(f"application-autoscaling deregister-scalable-target {WRITES}")
    aws("dynamodb delete-table --table-name TestTable")

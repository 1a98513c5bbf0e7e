"""Contributor Insights as its clients see it: boto3 for DynamoDB and for CloudWatch, and the AWS CLI."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

REGION = "us-east-1"
SECONDS_MAX = 15.0


@pytest.fixture
def cloudwatch(server):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name=REGION)
    return session.client("cloudwatch", endpoint_url=server)


@pytest.fixture
def watched(client, table):
    """A table in which Ada was read three times and Bob once."""
    client.update_contributor_insights(TableName=table.name, ContributorInsightsAction="ENABLE")
    for customer in ("ada", "bob", "ada", "ada"):
        client.get_item(TableName=table.name, Key={"pk": {"S": customer}, "sk": {"S": "1"}}, ConsistentRead=True)
    return table.name


def rule_of(client, name, code):
    described = client.describe_contributor_insights(TableName=name)
    assert described["ContributorInsightsStatus"] == "ENABLED"
    return next(rule for rule in described["ContributorInsightsRuleList"] if f"-{code}-{name}-" in rule)


def report_once_it_has(total, ask):
    """What was used shows within seconds."""
    ends_at = time.monotonic() + SECONDS_MAX
    while (found := ask())["AggregateValue"] < total:
        assert time.monotonic() < ends_at, found
        time.sleep(0.2)
    return found


def test_cloudwatch_reports_the_hottest_keys(client, cloudwatch, watched):
    rule = rule_of(client, watched, "SKC")
    now = time.time()

    def ask():
        return cloudwatch.get_insight_rule_report(
            RuleName=rule, StartTime=now - 600, EndTime=now + 60, Period=3600, Metrics=["Sum", "UniqueContributors"]
        )

    found = report_once_it_has(4.0, ask)
    assert found["KeyLabels"] == ["pk", "sk"]
    assert [(each["Keys"], each["ApproximateAggregateValue"]) for each in found["Contributors"]] == [
        (["ada", "1"], 3.0),
        (["bob", "1"], 1.0),
    ]
    assert sum(point["Sum"] for point in found["MetricDatapoints"]) == 4.0
    names = [each["Name"] for page in [cloudwatch.describe_insight_rules()] for each in page["InsightRules"]]
    assert rule in names


def test_disabling_takes_the_rules_away(client, cloudwatch, watched):
    rule = rule_of(client, watched, "PKC")
    client.update_contributor_insights(TableName=watched, ContributorInsightsAction="DISABLE")
    assert client.describe_contributor_insights(TableName=watched)["ContributorInsightsStatus"] == "DISABLED"
    with pytest.raises(cloudwatch.exceptions.ResourceNotFoundException):
        cloudwatch.get_insight_rule_report(RuleName=rule, StartTime=0, EndTime=time.time(), Period=60)


def test_lists_name_the_table(client, watched):
    [summary] = client.list_contributor_insights(TableName=watched)["ContributorInsightsSummaries"]
    assert (summary["TableName"], summary["ContributorInsightsStatus"]) == (watched, "ENABLED")


def test_the_aws_cli_reports_too(client, server, watched):
    rule = rule_of(client, watched, "PKC")
    now = int(time.time())

    def ask():
        return aws(
            server,
            "cloudwatch",
            "get-insight-rule-report",
            f"--rule-name={rule}",
            f"--start-time={now - 600}",
            f"--end-time={now + 60}",
            "--period=60",
            "--max-contributor-count=1",
        )

    found = report_once_it_has(4.0, ask)
    assert [each["Keys"] for each in found["Contributors"]] == [["ada"]]
    described = aws(server, "dynamodb", "describe-contributor-insights", "--table-name", watched)
    assert rule in described["ContributorInsightsRuleList"]


def aws(server, *arguments):
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_PAGER": "",
    }
    program = Path(sys.executable).parent / "aws"
    command = [str(program), *arguments, "--endpoint-url", server, "--output", "json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

"""Application Auto Scaling through boto3: its protocol, its errors, its paginators."""

import json
import time
import urllib.request

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

CONFIG = Config(retries={"max_attempts": 0}, parameter_validation=False)


@pytest.fixture(scope="module")
def scaling(server):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name="us-east-1")
    return session.client("application-autoscaling", endpoint_url=server, config=CONFIG)


@pytest.fixture
def provisioned(make_table):
    """A table with five units of each."""
    return make_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    )


@pytest.fixture
def target(scaling, provisioned):
    """A registered target, by the members that name it."""
    names = {
        "ServiceNamespace": "dynamodb",
        "ResourceId": f"table/{provisioned.name}",
        "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
    }
    scaling.register_scalable_target(**names, MinCapacity=1, MaxCapacity=10)
    yield names
    scaling.deregister_scalable_target(**names)


def test_times_are_times(scaling, target):
    (found,) = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=[target["ResourceId"]])[
        "ScalableTargets"
    ]
    assert abs(found["CreationTime"].timestamp() - time.time()) < 60


def test_bounds_move_the_capacity_within_seconds(scaling, target, provisioned, client):
    scaling.register_scalable_target(**target, MinCapacity=7)

    def units():
        table = client.describe_table(TableName=provisioned.name)["Table"]
        return table["ProvisionedThroughput"]["ReadCapacityUnits"]

    deadline = time.monotonic() + 10
    while units() != 7 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert units() == 7


def test_a_scheduled_action_happens(scaling, target, provisioned, client):
    soon = time.gmtime(time.time() + 2)
    scaling.put_scheduled_action(
        **target,
        ScheduledActionName="soon",
        Schedule=time.strftime("at(%Y-%m-%dT%H:%M:%S)", soon),
        ScalableTargetAction={"MinCapacity": 9, "MaxCapacity": 20},
    )
    deadline = time.monotonic() + 15
    causes = []
    while len(causes) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
        found = scaling.describe_scaling_activities(ServiceNamespace="dynamodb", ResourceId=target["ResourceId"])
        causes = [activity["Cause"] for activity in found["ScalingActivities"]]
    assert causes == ["minimum capacity was set to 9", "scheduled action name soon was triggered"]
    (action,) = scaling.describe_scheduled_actions(ServiceNamespace="dynamodb", ResourceId=target["ResourceId"])[
        "ScheduledActions"
    ]
    assert action["ScheduledActionName"] == "soon"


def test_paginators_come_to_an_end(scaling, target):
    pages = scaling.get_paginator("describe_scalable_targets").paginate(
        ServiceNamespace="dynamodb", PaginationConfig={"PageSize": 1}
    )
    assert target["ResourceId"] in [found["ResourceId"] for page in pages for found in page["ScalableTargets"]]


def test_tags_are_a_map(scaling, target):
    (found,) = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=[target["ResourceId"]])[
        "ScalableTargets"
    ]
    arn = found["ScalableTargetARN"]
    scaling.tag_resource(ResourceARN=arn, Tags={"a": "1", "b": "2"})
    scaling.untag_resource(ResourceARN=arn, TagKeys=["a"])
    assert scaling.list_tags_for_resource(ResourceARN=arn)["Tags"] == {"b": "2"}


def test_errors_are_those_of_the_service(scaling, server):
    with pytest.raises(scaling.exceptions.ObjectNotFoundException):
        scaling.deregister_scalable_target(
            ServiceNamespace="dynamodb",
            ResourceId="table/none",
            ScalableDimension="dynamodb:table:ReadCapacityUnits",
        )
    with pytest.raises(ClientError) as refused:
        scaling.register_scalable_target(
            ServiceNamespace="dynamodb",
            ResourceId="table/none",
            ScalableDimension="dynamodb:table:ReadCapacityUnits",
            MinCapacity=1,
            MaxCapacity=2,
        )
    assert refused.value.response["Error"] == {
        "Code": "ValidationException",
        "Message": "DynamoDB table does not exist: table/none",
    }


def test_answers_have_the_content_type_of_the_request(server):
    authorization = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/application-autoscaling/aws4_request, "
    request = urllib.request.Request(
        server,
        json.dumps({"ServiceNamespace": "dynamodb", "ResourceIds": ["none"]}).encode(),
        {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": "AnyScaleFrontendService.DescribeScalableTargets",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": authorization + "SignedHeaders=host, Signature=0",
        },
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Content-Type"] == "application/x-amz-json-1.1"
        assert json.load(answer) == {"ScalableTargets": []}


def test_the_alarms_of_a_policy_are_seen_in_cloudwatch_and_go_with_it(scaling, target, server):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name="us-east-1")
    cloudwatch = session.client("cloudwatch", endpoint_url=server)
    put = scaling.put_scaling_policy(
        **target,
        PolicyName="reads",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"},
            "TargetValue": 70.0,
        },
    )
    names = [alarm["AlarmName"] for alarm in put["Alarms"]]
    found = {alarm["AlarmName"]: alarm for alarm in cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"]}
    high = found[names[0]]
    assert sorted(found) == sorted(names)
    assert (high["MetricName"], high["Threshold"], high["Period"], high["EvaluationPeriods"]) == (
        "ConsumedReadCapacityUnits",
        pytest.approx(0.7 * 5 * 60),
        60,
        2,
    )
    assert high["AlarmActions"] == [put["PolicyARN"]]
    assert high["AlarmArn"] == put["Alarms"][0]["AlarmARN"]
    scaling.delete_scaling_policy(**target, PolicyName="reads")
    assert cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"] == []

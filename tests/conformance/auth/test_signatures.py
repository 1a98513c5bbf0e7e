"""Real clients against a server that verifies what they sign."""

import gzip
import hashlib
import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from conformance.support import node

INVALID = "UnrecognizedClientException"
TRIES = 20  # enough to meet both workers


def code_of(call):
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value.response["Error"]["Code"]


@pytest.fixture(scope="module")
def table(verifying):
    client = verifying.first
    client.create_table(
        TableName="signed",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.put_item(TableName="signed", Item={"pk": {"S": "häßlich ✓"}})
    return "signed"


def test_the_first_key_does_everything(verifying, table):
    item = verifying.first.get_item(TableName=table, Key={"pk": {"S": "häßlich ✓"}})["Item"]
    assert item == {"pk": {"S": "häßlich ✓"}}


def test_a_wrong_secret_and_an_unknown_key_are_told_apart(verifying):
    wrong = verifying.client({"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "guessed"})
    assert code_of(wrong.list_tables) == "InvalidSignatureException"
    unknown = verifying.client({"AWS_ACCESS_KEY_ID": "unknown", "AWS_SECRET_ACCESS_KEY": "guessed"})
    assert code_of(unknown.list_tables) == INVALID


def test_what_is_done_to_a_key_holds_from_the_next_request_on_in_every_worker(verifying, table):
    key = verifying.keys("create", "--full-access")
    clients = [verifying.client(key) for _ in range(TRIES)]
    for client in clients:
        assert client.list_tables()["TableNames"] == [table]
    verifying.keys("disable", key["AWS_ACCESS_KEY_ID"])
    assert {code_of(client.list_tables) for client in clients} == {INVALID}
    verifying.keys("enable", key["AWS_ACCESS_KEY_ID"])
    rotated = verifying.keys("rotate", key["AWS_ACCESS_KEY_ID"])
    assert {code_of(client.list_tables) for client in clients} == {"InvalidSignatureException"}
    assert verifying.client(rotated).list_tables()["TableNames"] == [table]
    verifying.keys("delete", key["AWS_ACCESS_KEY_ID"])
    assert {code_of(client.list_tables) for client in clients} == {INVALID}


def test_a_temporary_key_comes_with_a_token(verifying, table):
    key = verifying.keys("create", "--full-access", "--expires", "15m")
    assert verifying.client(key).list_tables()["TableNames"] == [table]
    assert code_of(verifying.client({**key, "AWS_SESSION_TOKEN": None}).list_tables) == INVALID
    ended = verifying.keys("create", "--full-access", "--expires", "0s")
    assert code_of(verifying.client(ended).list_tables) == "ExpiredTokenException"


def test_the_account_of_a_key_is_where_its_tables_are(verifying, table):
    key = verifying.keys("create", "--full-access", "--account", "111122223333")
    assert verifying.client(key).list_tables()["TableNames"] == []


def statistics(client):
    times = {"StartTime": "2026-01-01T00:00:00Z", "EndTime": "2026-01-01T01:00:00Z", "Period": 60}
    return client.get_metric_statistics(Namespace="AWS/DynamoDB", MetricName="None", Statistics=["Sum"], **times)


OTHER_SERVICES = {
    "dynamodbstreams": lambda client: client.list_streams(),
    "lambda": lambda client: client.list_event_source_mappings(),
    "cloudwatch": statistics,
    "application-autoscaling": lambda client: client.describe_scalable_targets(ServiceNamespace="dynamodb"),
}


@pytest.mark.parametrize("service", OTHER_SERVICES)
def test_the_other_services_of_the_port_are_signed_for_under_their_own_names(verifying, service):
    call = OTHER_SERVICES[service]
    key = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret"}
    assert call(verifying.client(key, service))["ResponseMetadata"]["HTTPStatusCode"] == 200
    wrong = verifying.client({**key, "AWS_SECRET_ACCESS_KEY": "guessed"}, service)
    told = "SignatureDoesNotMatch" if service == "cloudwatch" else "InvalidSignatureException"
    assert code_of(lambda: call(wrong)) == told


def presigned(verifying, body):
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        "X-Amz-Content-SHA256": hashlib.sha256(body).hexdigest(),
    }
    request = AWSRequest("POST", verifying.endpoint, headers=headers)
    SigV4QueryAuth(Credentials("test", "secret"), "dynamodb", "us-east-1", expires=60).add_auth(request)
    return urlsplit(request.url), headers


@pytest.mark.parametrize(("sent", "status"), [(b'{"Limit":1}', 200), (b'{"Limit":2}', 400)])
def test_a_presigned_request_is_good_for_the_body_it_was_signed_with(verifying, sent, status):
    url, headers = presigned(verifying, b'{"Limit":1}')
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    connection.request("POST", f"/?{url.query}", sent, headers)
    assert connection.getresponse().status == status
    connection.close()


def test_a_signature_covers_a_compressed_body_as_it_was_sent(verifying):
    url = urlsplit(verifying.endpoint)
    body = gzip.compress(b"{}")
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "Content-Encoding": "gzip",
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
    }
    request = AWSRequest("POST", verifying.endpoint, headers=headers, data=body)
    SigV4Auth(Credentials("test", "secret"), "dynamodb", "us-east-1").add_auth(request)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    connection.request("POST", "/", body, dict(request.headers.items()))
    assert connection.getresponse().status == 200
    connection.close()


def test_health_needs_no_signature(verifying):
    url = urlsplit(verifying.endpoint)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()


def test_the_aws_cli_signs_as_we_verify(verifying, table):
    aws = Path(sys.executable).parent / "aws"
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    command = (sys.executable, aws, "dynamodb", "list-tables", "--endpoint-url", verifying.endpoint, "--output", "text")
    finished = subprocess.run(command, env={**os.environ, **keys}, capture_output=True, text=True, timeout=60)
    assert finished.stdout.split() == ["TABLENAMES", table], finished


def test_the_javascript_sdk_signs_as_we_verify(verifying):
    met = json.loads(node.run(node.PACKAGE / "walk.mjs", verifying.endpoint, "walked"))
    assert met["stored"]["customer"] == "ann"


def test_our_own_tools_sign_with_the_key_of_the_environment(verifying, table):
    dump = ("dump", table, "-", "--endpoint", verifying.endpoint)
    refused = verifying.cli(*dump)
    assert (refused.returncode, refused.stdout) == (2, "")
    first = {"HASHRANGE_ACCESS_KEY_ID": "test", "HASHRANGE_SECRET_ACCESS_KEY": "secret"}
    finished = verifying.cli(*dump, **first)
    assert finished.returncode == 0, finished
    assert "häßlich" in finished.stdout

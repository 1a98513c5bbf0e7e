"""A server that verifies signatures, with two workers, and the keys that are made beside it."""

import json
import signal
import subprocess

import boto3
import pytest
from botocore.config import Config

from conftest import ENVIRONMENT, HASHRANGE, endpoint_of

FIRST = {"HASHRANGE_ACCESS_KEY_ID": "test", "HASHRANGE_SECRET_ACCESS_KEY": "secret"}
CONFIG = Config(retries={"max_attempts": 0})


class VerifyingServer:
    def __init__(self, data, endpoint):
        self.data = data
        self.endpoint = endpoint

    def client(self, key, service="dynamodb"):
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=key.get("AWS_SESSION_TOKEN"),
            config=CONFIG,
        )

    @property
    def first(self):
        """A client with the key of the server's environment."""
        return self.client({"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret"})

    def keys(self, *arguments):
        """What `hashrange keys` prints."""
        finished = self.cli("keys", *arguments, "--json", "--data", self.data)
        assert finished.returncode == 0, finished
        return json.loads(finished.stdout) if finished.stdout else None

    def cli(self, *arguments, **environment):
        return subprocess.run(
            (*HASHRANGE, *map(str, arguments)), env={**ENVIRONMENT, **environment}, capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def verifying(tmp_path_factory):
    directory = tmp_path_factory.mktemp("verifying")
    data, log = directory / "data", directory / "log"
    serve = (*HASHRANGE, "serve", "--port", "0", "--data", data, "--auth", "verify", "--workers", "2")
    with log.open("wb") as stream:
        process = subprocess.Popen(serve, env={**ENVIRONMENT, **FIRST}, stderr=stream)
    try:
        yield VerifyingServer(data, endpoint_of(process, log))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    assert "Traceback" not in log.read_text()
    assert "secret" not in log.read_text()

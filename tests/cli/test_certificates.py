"""`hashrange serve --tls-self-signed`: several workers, a client that trusts the authority, and one that does not."""

import shutil
import subprocess
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import SSLError

from conftest import ENVIRONMENT, HASHRANGE, endpoint_of

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")


def client(endpoint, verify):
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        verify=verify,
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_clients_that_trust_the_authority_are_served_by_every_worker(tmp_path):
    data, log = tmp_path / "data", tmp_path / "log"
    command = (*HASHRANGE, "serve", "--port", "0", "--tls-self-signed", "--workers", "2", "--data", data)
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=ENVIRONMENT, stderr=stream)
    try:
        endpoint = endpoint_of(process, log)
        assert endpoint.startswith("https://")
        for _ in range(6):  # each on a connection of its own
            assert client(endpoint, str(data / "tls" / "ca.pem")).list_tables()["TableNames"] == []
        with pytest.raises(SSLError):
            client(endpoint, True).list_tables()
    finally:
        process.terminate()
        assert process.wait(30) == 0
    assert f"export AWS_CA_BUNDLE={data / 'tls' / 'ca.pem'}" in log.read_text()


def test_nothing_is_put_into_a_directory_that_is_refused(tmp_path):
    Path(tmp_path, "novel.txt").write_text("It was a dark and stormy night.")
    command = (*HASHRANGE, "serve", "--port", "0", "--tls-self-signed", "--data", tmp_path)
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert run.returncode == 2
    assert "holds novel.txt and no Hashrange database" in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]

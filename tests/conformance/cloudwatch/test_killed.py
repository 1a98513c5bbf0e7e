"""What was counted outlives the process that has counted it, but for the last second."""

import subprocess
import time
from contextlib import contextmanager

from conformance.cloudwatch.test_cloudwatch import client_of, query, totals, wait_for
from conformance.cloudwatch.test_observability import dynamodb
from conformance.support.tables import table_request
from conftest import ENVIRONMENT, HASHRANGE, endpoint_of

HANDOVER_SECONDS = 2.5  # a second until it is handed over, and some for a machine that has other things to do


@contextmanager
def killed_server(directory, name):
    """A server that ends by kill -9."""
    log = directory / name
    with log.open("wb") as stream:
        serve = (*HASHRANGE, "serve", "--port", "0", "--data", directory / "data")
        process = subprocess.Popen(serve, env=ENVIRONMENT, stderr=stream)
    try:
        yield endpoint_of(process, log)
    finally:
        process.kill()
        process.wait()


def test_a_killed_server_loses_only_what_it_had_not_handed_over(tmp_path):
    request = table_request("pk")
    with killed_server(tmp_path, "first") as endpoint:
        client = dynamodb(endpoint)
        client.create_table(**request)
        for number in range(5):
            client.put_item(TableName=request["TableName"], Item={"pk": {"S": str(number)}})
        time.sleep(HANDOVER_SECONDS)  # nobody asks, which would hand it over too
    with killed_server(tmp_path, "second") as endpoint:
        written = query("w", "ConsumedWriteCapacityUnits", TableName=request["TableName"])
        wait_for({"w": 5.0}, lambda: totals(client_of(endpoint), written))

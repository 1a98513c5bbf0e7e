"""Clients of the server under test, and tables that go when their test ends."""

import boto3
import pytest
from botocore.config import Config

from conformance.support.tables import Table, table_request

REGION = "us-east-1"
CONFIG = Config(retries={"max_attempts": 0}, parameter_validation=False, max_pool_connections=32)


@pytest.fixture(scope="session")
def connect(server):
    """Makes clients for other accounts, regions or servers; they check nothing, so that the server has to."""

    def connect(*, account="test", region=REGION, endpoint=server):
        session = boto3.Session(aws_access_key_id=account, aws_secret_access_key="secret", region_name=region)
        return session.client("dynamodb", endpoint_url=endpoint, config=CONFIG)

    return connect


@pytest.fixture(scope="session")
def client(connect):
    return connect()


@pytest.fixture(scope="session")
def resource(server):
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="secret", region_name=REGION)
    return session.resource("dynamodb", endpoint_url=server)


@pytest.fixture(scope="session")
def create_table(client):
    """Creates a table from its one-line description; whoever calls this deletes it."""

    def create(key="pk / sk", **options):
        request = table_request(key, **options)
        client.create_table(**request)
        client.get_waiter("table_exists").wait(TableName=request["TableName"])
        return Table(client, request["TableName"])

    return create


@pytest.fixture
def make_table(create_table):
    """Creates tables that are deleted when the test ends."""
    tables = []

    def make(key="pk / sk", **options):
        tables.append(create_table(key, **options))
        return tables[-1]

    yield make
    for table in tables:
        table.delete_table()


@pytest.fixture
def table(make_table):
    """A table with the composite key `pk / sk`, both strings."""
    return make_table()


@pytest.fixture
def hash_table(make_table):
    """A table whose key is only `pk`, a string."""
    return make_table("pk")

"""Many connections, two workers, one database: every update happens once, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, TypeVar

import pytest

from crash.client import Client, key
from crash.server import Server, check_is_clean

CONNECTIONS = 32
TURNS = 25
TABLE = "counters"

Result = TypeVar("Result")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("counters") / "data"
    with Server(data, workers=2) as server:
        with Client(server.port) as client:
            client(
                "CreateTable",
                TableName=TABLE,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            )
        yield server
        check_is_clean(data)
        assert server.stop() == 0
        assert not [line for line in server.lines if "error" in line]


def on_each_connection(server: Server, work: Callable[[Client, int], Result]) -> list[Result]:
    """What `work` returns on every one of many connections at once."""

    def connected(number: int) -> Result:
        with Client(server.port) as client:
            return work(client, number)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return list(pool.map(connected, range(CONNECTIONS)))


def add_one(client: Client, name: str) -> int:
    answer = client(
        "UpdateItem",
        TableName=TABLE,
        Key=key(name),
        UpdateExpression="ADD hits :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    return int(answer["Attributes"]["hits"]["N"])


def put_if(client: Client, item: dict[str, Any], **condition: Any) -> bool:
    """Put an item if the condition holds, and tell whether it did."""
    refused = client.refusal("PutItem", TableName=TABLE, Item=item, **condition)
    assert refused is None or refused.code == "ConditionalCheckFailedException"
    return refused is None


def test_a_counter_counts_every_increment_once(server: Server) -> None:
    counts = on_each_connection(server, lambda client, _: [add_one(client, "all") for _ in range(TURNS)])
    for mine in counts:
        assert mine == sorted(mine)  # whoever waits for its answer sees the counter only grow
    assert sorted(chain.from_iterable(counts)) == list(range(1, CONNECTIONS * TURNS + 1))


def test_both_workers_take_part(server: Server) -> None:
    ids: set[str] = set()

    def prefix_of_request_id(client: Client, number: int) -> None:
        client._connection.request("GET", "/")
        response = client._connection.getresponse()
        response.read()
        ids.add(response.headers["x-amzn-RequestId"][:39])  # the part of the id that belongs to the process

    on_each_connection(server, prefix_of_request_id)
    assert len(ids) == 2


def test_of_many_who_create_the_same_item_one_wins(server: Server) -> None:
    def create(client: Client, number: int) -> bool:
        item = {**key("prize"), "winner": {"N": str(number)}}
        return put_if(client, item, ConditionExpression="attribute_not_exists(pk)")

    won = on_each_connection(server, create)
    with Client(server.port) as client:
        winner = client("GetItem", TableName=TABLE, Key=key("prize"), ConsistentRead=True)["Item"]["winner"]["N"]
    assert [number for number, mine in enumerate(won) if mine] == [int(winner)]


def test_an_optimistic_loop_on_every_connection_loses_no_update(server: Server) -> None:
    def read_and_replace(client: Client, number: int) -> None:
        while True:
            item = client("GetItem", TableName=TABLE, Key=key("list"), ConsistentRead=True).get("Item", {})
            seen = item.get("seen", {"L": []})["L"]
            if put_if_unchanged(client, seen, number):
                return

    def put_if_unchanged(client: Client, seen: list[Any], number: int) -> bool:
        new = {**key("list"), "seen": {"L": [*seen, {"N": str(number)}]}, "length": {"N": str(len(seen) + 1)}}
        return put_if(
            client,
            new,
            ConditionExpression="attribute_not_exists(pk) OR #l = :length",
            ExpressionAttributeNames={"#l": "length"},
            ExpressionAttributeValues={":length": {"N": str(len(seen))}},
        )

    on_each_connection(server, read_and_replace)
    with Client(server.port) as client:
        seen = client("GetItem", TableName=TABLE, Key=key("list"), ConsistentRead=True)["Item"]["seen"]["L"]
    assert sorted(int(number["N"]) for number in seen) == list(range(CONNECTIONS))


def test_a_transaction_token_used_from_every_connection_counts_once(server: Server) -> None:
    update = {
        "TableName": TABLE,
        "Key": key("once"),
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    on_each_connection(
        server,
        lambda client, _: client("TransactWriteItems", ClientRequestToken="same", TransactItems=[{"Update": update}]),
    )
    with Client(server.port) as client:
        assert add_one(client, "once") == 2

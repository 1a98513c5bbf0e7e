"""BatchGetItem."""

import pytest

from conformance.support.expect import enveloped, error_of, invalid, not_found
from conformance.support.tables import unique_name, wire


def keys(*names):
    return [wire(pk=name) for name in names]


@pytest.fixture
def filled(hash_table):
    hash_table.fill([{"pk": name, "n": number, "m": {"x": name}} for number, name in enumerate("abc")])
    return hash_table


def test_items_of_several_tables_come_back_together(client, filled, table):
    table.put_item(Item=wire(pk="x", sk="y"))
    answer = client.batch_get_item(
        RequestItems={
            filled.name: {"Keys": keys("a", "missing", "c")},
            table.name: {"Keys": [wire(pk="x", sk="y")], "ConsistentRead": True},
        },
        ReturnConsumedCapacity="TOTAL",
    )
    found = sorted(answer["Responses"][filled.name], key=lambda item: item["pk"]["S"])
    assert found == [wire(pk="a", n=0, m={"x": "a"}), wire(pk="c", n=2, m={"x": "c"})]
    assert answer["Responses"][table.name] == [wire(pk="x", sk="y")]
    assert answer["UnprocessedKeys"] == {}
    units = {each["TableName"]: each["CapacityUnits"] for each in answer["ConsumedCapacity"]}
    assert units == {filled.name: 1.5, table.name: 1.0}


def test_a_table_without_any_of_the_items_has_an_empty_list(client, filled):
    assert client.batch_get_item(RequestItems={filled.name: {"Keys": keys("x")}})["Responses"] == {filled.name: []}


def test_a_projection_applies_to_every_item_of_its_table(client, filled):
    wanted = {
        "Keys": keys("a", "b"),
        "ProjectionExpression": "#n, m.x",
        "ExpressionAttributeNames": {"#n": "n"},
    }
    answer = client.batch_get_item(RequestItems={filled.name: wanted})
    found = sorted(answer["Responses"][filled.name], key=lambda item: item["n"]["N"])
    assert found == [wire(n=0, m={"x": "a"}), wire(n=1, m={"x": "b"})]


def test_a_hundred_keys_are_enough(client, filled):
    many = [wire(pk=str(number)) for number in range(101)]
    client.batch_get_item(RequestItems={filled.name: {"Keys": many[:100]}})
    with enveloped(
        f"Value at 'RequestItems.{filled.name}.member.Keys' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    ):
        client.batch_get_item(RequestItems={filled.name: {"Keys": many}})


def test_a_hundred_keys_over_several_tables_are_enough(client, filled, make_table):
    other = make_table("pk")
    many = [wire(pk=str(number)) for number in range(51)]
    with invalid("Too many items requested for the BatchGetItem call"):
        client.batch_get_item(RequestItems={filled.name: {"Keys": many}, other.name: {"Keys": many}})


def test_what_does_not_fit_into_sixteen_megabytes_is_left_for_the_next_call(client, hash_table):
    for number in range(45):
        hash_table.put_item(Item=wire(pk=str(number), v="x" * 400_000))
    wanted = {hash_table.name: {"Keys": [wire(pk=str(number)) for number in range(45)], "ProjectionExpression": "pk"}}
    found = []
    while wanted:
        answer = client.batch_get_item(RequestItems=wanted)
        found += [item["pk"]["S"] for item in answer["Responses"][hash_table.name]]
        wanted = answer["UnprocessedKeys"]
        if wanted:
            assert wanted[hash_table.name]["ProjectionExpression"] == "pk"
    assert sorted(map(int, found)) == list(range(45))


def test_a_key_may_be_asked_for_once(client, filled, make_table):
    with invalid("Provided list of item keys contains duplicates"):
        client.batch_get_item(RequestItems={filled.name: {"Keys": keys("a", "a")}})
    numbered = make_table("pk:N")
    numbered.put_item(Item=wire(pk=1000))
    same_number = [{"pk": {"N": "1000"}}, {"pk": {"N": "1e3"}}]
    answer = client.batch_get_item(RequestItems={numbered.name: {"Keys": same_number}})
    assert answer["Responses"][numbered.name] == [wire(pk=1000)] * 2


def test_at_least_one_table_is_named(client):
    with enveloped(
        "Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"
    ):
        client.batch_get_item(RequestItems={})


def test_a_missing_table_fails_the_whole_batch(client, filled):
    with not_found():
        client.batch_get_item(RequestItems={filled.name: {"Keys": keys("a")}, unique_name(): {"Keys": keys("a")}})


def test_an_undefined_name_is_refused(client, filled):
    wanted = {"Keys": keys("a"), "ProjectionExpression": "#n"}
    assert error_of(client.batch_get_item, RequestItems={filled.name: wanted}) == (
        "ValidationException",
        "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
        "attribute name: #n",
    )


def test_the_resource_reads_batches(resource, filled):
    answer = resource.batch_get_item(RequestItems={filled.name: {"Keys": [{"pk": "a"}, {"pk": "b"}]}})
    assert sorted(item["n"] for item in answer["Responses"][filled.name]) == [0, 1]

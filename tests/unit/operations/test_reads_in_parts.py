"""Pages that are read in parts, between the requests of others: what these change meanwhile, and what they cannot."""

import orjson
import pytest

from harness import Engine
from hashrange.engine.page import PART_ITEMS
from hashrange.engine.scope import scope_of
from hashrange.errors import ResourceNotFoundException
from hashrange.operations import registry
from hashrange.operations.operation import LongRead, Request

ITEMS = 5 * PART_ITEMS
FILTERED = {"FilterExpression": "attribute_not_exists(nothing_else)"}
STATEMENT = "SELECT sk FROM \"table\" WHERE pk IN ['a', 'b']"

READS = {
    "Scan": {"TableName": "table", **FILTERED},
    "Query": {
        "TableName": "table",
        "KeyConditionExpression": "pk = :a",
        "ExpressionAttributeValues": {":a": {"S": "a"}},
        **FILTERED,
    },
    "ExecuteStatement": {"Statement": STATEMENT},
}
MODULES = {"Scan": "reads.scan", "Query": "reads.query", "ExecuteStatement": "partiql.execute_statement"}


@pytest.fixture
def engine():
    engine = Engine()
    engine.create_table()
    for number in range(ITEMS):
        put(engine, number)
    return engine


def put(engine, number):
    engine.call("PutItem", TableName="table", Item={"pk": {"S": "a"}, "sk": {"S": f"{number:04}"}})


def begin(engine, name):
    request = Request(dict(READS[name]), scope_of("000000000000", "us-east-1"))
    read = registry.load(MODULES[name]).run(engine.db, request)
    assert isinstance(read, LongRead)
    return read


def finished(read):
    while (answer := read.step()) is None:
        pass
    return answer


@pytest.mark.parametrize("name", READS)
def test_what_was_there_all_the_time_is_in_the_page_once(engine, name):
    read = begin(engine, name)
    assert read.step() is None
    for number in range(0, ITEMS, 2):
        engine.call("DeleteItem", TableName="table", Key={"pk": {"S": "a"}, "sk": {"S": f"{number:04}"}})
        put(engine, ITEMS + number)
    answer = engine_json(finished(read)["Items"])
    keys = [item["sk"]["S"] for item in answer]
    assert keys == sorted(set(keys))
    assert {f"{number:04}" for number in range(1, ITEMS, 2)} <= set(keys)
    assert f"{ITEMS:04}" in keys  # it came before the page was there


def engine_json(fragment):
    return orjson.loads(orjson.dumps(fragment))


@pytest.mark.parametrize("name", READS)
def test_in_parts_the_answer_is_the_same(engine, name):
    whole = engine.call(name, **READS[name])
    assert engine_json(finished(begin(engine, name))) == whole
    assert len(whole["Items"]) == ITEMS


@pytest.mark.parametrize("name", READS)
def test_a_table_that_is_deleted_meanwhile_is_not_shown_in_part(engine, name):
    read = begin(engine, name)
    engine.call("DeleteTable", TableName="table")
    with pytest.raises(ResourceNotFoundException):
        finished(read)


@pytest.mark.parametrize("name", READS)
def test_a_table_that_is_made_anew_meanwhile_is_another_one(engine, name):
    read = begin(engine, name)
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    engine.create_table()
    with pytest.raises(ResourceNotFoundException):
        finished(read)


def test_a_statement_about_few_items_is_answered_at_once(engine):
    statement = {"Statement": "SELECT * FROM \"table\" WHERE pk IN ['b', 'c', 'd', 'e']"}
    request = Request(statement, scope_of("000000000000", "us-east-1"))
    answer = registry.load(MODULES["ExecuteStatement"]).run(engine.db, request)
    assert engine_json(answer) == {"Items": []}


@pytest.mark.parametrize("name", READS)
def test_a_read_says_how_much_it_holds(engine, name):
    assert 0 < begin(engine, name).held_bytes < 100_000

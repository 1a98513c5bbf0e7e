"""NextToken, Limit, ConsistentRead and capacity of ExecuteStatement."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.engine.units import READ_UNIT_BYTES

EVERYTHING = 'SELECT sk FROM "table"'
PARTITION = "SELECT sk FROM \"table\" WHERE pk = 'a'"


@pytest.fixture
def filled(statements: Any) -> Any:
    """Six items in one partition and one in each of eleven others."""
    for number in range(6):
        statements.put({"pk": {"S": "a"}, "sk": {"S": f"{number}"}, "n": {"N": f"{number}"}})
    for number in range(11):
        statements.put({"pk": {"S": f"p{number:02}"}, "sk": {"S": "only"}})
    return statements


def pages(statements: Any, statement: str, *parameters: Any, **members: Any) -> list[list[str]]:
    """The sort keys of every page until there is no more."""
    found = []
    page = statements.execute(statement, *parameters, **members)
    while True:
        found.append([item["sk"]["S"] for item in page["Items"]])
        if "NextToken" not in page:
            assert "LastEvaluatedKey" not in page
            return found
        page = statements.execute(statement, *parameters, NextToken=page["NextToken"], **members)


def test_without_a_limit_one_page_is_all(filled: Any) -> None:
    assert pages(filled, PARTITION) == [["0", "1", "2", "3", "4", "5"]]


def test_a_limit_is_met_again_at_the_end(filled: Any) -> None:
    assert pages(filled, PARTITION, Limit=2) == [["0", "1"], ["2", "3"], ["4", "5"], []]
    assert pages(filled, PARTITION, Limit=4) == [["0", "1", "2", "3"], ["4", "5"]]


def test_a_limit_counts_what_is_evaluated_and_not_what_is_found(filled: Any) -> None:
    assert pages(filled, PARTITION + " AND n > 2", Limit=2) == [[], ["3"], ["4", "5"], []]


def test_descending_pages_go_on_downwards(filled: Any) -> None:
    assert pages(filled, PARTITION + " ORDER BY sk DESC", Limit=4) == [["5", "4", "3", "2"], ["1", "0"]]


def test_a_range_stays_a_range_on_the_next_page(filled: Any) -> None:
    assert pages(filled, PARTITION + " AND sk BETWEEN '1' AND '4'", Limit=3) == [["1", "2", "3"], ["4"]]


def test_a_scan_in_pages_meets_everything_once(filled: Any) -> None:
    found = [key for page in pages(filled, EVERYTHING, Limit=3) for key in page]
    assert sorted(found) == sorted([*"012345", *["only"] * 11])


def test_the_last_key_goes_with_the_token(filled: Any) -> None:
    page = filled.execute(PARTITION, Limit=2)
    assert page["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"S": "1"}}


def test_in_goes_from_value_to_value(filled: Any) -> None:
    statement = 'SELECT sk FROM "table" WHERE pk IN [?, ?, ?]'
    parameters = [{"S": "p01"}, {"S": "a"}, {"S": "p02"}]
    assert pages(filled, statement, *parameters) == [["only", "0", "1", "2", "3", "4", "5", "only"]]
    assert pages(filled, statement, *parameters, Limit=4) == [["only", "0", "1", "2"], ["3", "4", "5", "only"], []]
    assert pages(filled, statement, *parameters, Limit=7)[0] == ["only", "0", "1", "2", "3", "4", "5"]


def test_in_answers_ten_values_at_a_time(filled: Any) -> None:
    values = ", ".join(f"'p{number:02}'" for number in range(11))
    assert pages(filled, f'SELECT sk FROM "table" WHERE pk IN [{values}]') == [["only"] * 10, ["only"]]


def test_pages_of_an_index_go_on_in_the_index(new_statements: Any) -> None:
    statements = new_statements()
    keys = [{"AttributeName": "color", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]
    statements.create_table(
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("pk", "S"), ("sk", "S"), ("color", "S"), ("n", "N"))
        ],
        GlobalSecondaryIndexes=[
            {"IndexName": "by_color", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
        ],
    )
    for number in range(5):
        key = {"pk": {"S": f"{number}"}, "sk": {"S": f"{number}"}}
        statements.put({**key, "color": {"S": "red"}, "n": {"N": f"{number // 2}"}})
    statement = 'SELECT sk FROM "table"."by_color"'
    found = pages(statements, statement + " WHERE color = 'red' ORDER BY n DESC", Limit=2)
    assert found[0][0] == "4"
    assert [len(page) for page in found] == [2, 2, 1]
    assert sorted(key for page in found for key in page) == list("01234")
    assert sorted(key for page in pages(statements, statement, Limit=2) for key in page) == list("01234")


def test_a_page_ends_after_a_megabyte(statements: Any) -> None:
    for number in range(4):
        statements.put({"pk": {"S": "a"}, "sk": {"S": f"{number}"}, "fill": {"S": "x" * 390_000}})
        statements.put({"pk": {"S": f"b{number}"}, "sk": {"S": f"{number}"}, "fill": {"S": "x" * 390_000}})
    assert pages(statements, PARTITION) == [["0", "1", "2"], ["3"]]
    several = "SELECT sk FROM \"table\" WHERE pk IN ['b0', 'b1', 'b2', 'b3']"
    assert pages(statements, several) == [["0", "1", "2"], ["3"]]


def test_a_token_belongs_to_its_statement(filled: Any, refused: Any) -> None:
    statement = 'SELECT sk FROM "table" WHERE pk = ?'
    token = filled.execute(statement, {"S": "a"}, Limit=1)["NextToken"]
    for other in ((PARTITION,), (statement, {"S": "b"}), (EVERYTHING,)):
        refusal = refused(filled.execute, *other, NextToken=token)
        assert (refusal.code, refusal.message) == ("ValidationException", "NextToken does not match request")


@pytest.mark.parametrize("token", ["garbage", "Z2FyYmFnZQ==", "=", "é", "A" * 200, "AAAA"])
def test_what_is_no_token_is_refused(filled: Any, refused: Any, token: str) -> None:
    refusal = refused(filled.execute, PARTITION, NextToken=token)
    assert (refusal.code, refusal.message) == ("ValidationException", "Invalid NextToken")


def test_a_token_outlives_the_item_it_points_at(filled: Any) -> None:
    token = filled.execute(PARTITION, Limit=2)["NextToken"]
    filled.execute("DELETE FROM \"table\" WHERE pk = 'a' AND sk = '1'")
    assert filled.items(PARTITION, NextToken=token)[0] == {"sk": {"S": "2"}}


def test_a_token_does_not_outlive_the_key_of_its_table(filled: Any, refused: Any) -> None:
    token = filled.execute(EVERYTHING, Limit=2)["NextToken"]
    filled.engine.call("DeleteTable", TableName="table")
    filled.create_table(
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
    assert refused(filled.execute, EVERYTHING, NextToken=token).message == "Invalid NextToken"


@pytest.mark.parametrize(
    ("statement", "units"),
    [
        ("SELECT * FROM \"table\" WHERE pk = 'a' AND sk = '1'", 0.5),
        ("SELECT * FROM \"table\" WHERE pk = 'a' AND sk = 'none'", 0.5),
        ("SELECT * FROM \"table\" WHERE pk = 'a'", 0.5),
        ("SELECT * FROM \"table\" WHERE pk = 'a' AND n = 100", 0.5),
        ("SELECT * FROM \"table\" WHERE pk IN ['a', 'p01', 'none']", 1.5),
        ("SELECT * FROM \"table\" WHERE pk = 'big' AND sk = 'big'", 1.5),
        ("SELECT sk FROM \"table\" WHERE pk = 'big' AND sk = 'big' AND n = 1", 1.5),
        ('SELECT * FROM "table" WHERE n = 1', 1.5),
    ],
)
def test_reads_are_charged_for_what_they_walk(filled: Any, statement: str, units: float) -> None:
    filled.put({"pk": {"S": "big"}, "sk": {"S": "big"}, "fill": {"S": "x" * 2 * READ_UNIT_BYTES}})
    eventual = filled.execute(statement, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert eventual == {"TableName": "table", "CapacityUnits": units}
    strong = filled.execute(statement, ReturnConsumedCapacity="INDEXES", ConsistentRead=True)["ConsumedCapacity"]
    assert strong == {"TableName": "table", "CapacityUnits": 2 * units, "Table": {"CapacityUnits": 2 * units}}


def test_writes_are_charged_for_the_larger_of_both_items(statements: Any) -> None:
    def units(statement: str) -> float:
        answer = statements.execute(statement, ReturnConsumedCapacity="TOTAL")
        capacity: float = answer["ConsumedCapacity"]["CapacityUnits"]
        return capacity

    key = "pk = 'a' AND sk = 'a'"
    assert units(f"INSERT INTO \"table\" VALUE {{'pk': 'a', 'sk': 'a', 'fill': '{'x' * 2000}'}}") == 2
    assert units(f'UPDATE "table" REMOVE fill WHERE {key}') == 2
    assert units(f'UPDATE "table" SET n = 1 WHERE {key}') == 1
    assert units(f'DELETE FROM "table" WHERE {key}') == 1
    assert units(f'DELETE FROM "table" WHERE {key}') == 1


def test_a_false_condition_shows_the_item_it_met_if_asked(filled: Any, refused: Any) -> None:
    statement = "UPDATE \"table\" SET x = 1 WHERE pk = 'a' AND sk = '1' AND n = 7"
    assert refused(filled.execute, statement).members == {}
    refusal = refused(filled.execute, statement, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert refusal.members == {"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}, "n": {"N": "1"}}}

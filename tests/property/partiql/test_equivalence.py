"""A statement and the expression that says the same thing do the same thing."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness import ApiError, Engine

Value = dict[str, Any]

NAMES = ("a", "b", "c")
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from(["", "x", "xy", "y"]).map(lambda text: {"S": text}),
    st.integers(-2, 3).map(lambda number: {"N": str(number)}),
    st.booleans().map(lambda truth: {"BOOL": truth}),
    st.just({"NULL": True}),
    st.just({"L": [{"N": "1"}, {"S": "x"}]}),
    st.just({"SS": ["x", "y"]}),
    st.just({"M": {"a": {"N": "1"}}}),
)
SCALARS = VALUES.filter(lambda value: "S" in value or "N" in value)


@dataclass(frozen=True)
class Said:
    """The same condition or change in both languages, with the values that it uses in their order."""

    expression: str
    statement: str
    values: tuple[Value, ...] = ()

    def __add__(self, other: Said) -> Said:
        return Said(self.expression + other.expression, self.statement + other.statement, self.values + other.values)

    def request(self) -> dict[str, Any]:
        """The expression with its placeholders filled in, and their values."""
        text = self.expression
        values = {f":v{number}": value for number, value in enumerate(self.values)}
        for name in values:
            text = text.replace("?", name, 1)
        return {"text": text, **({"values": copy.deepcopy(values)} if values else {})}


def both(text: str, *values: Value) -> Said:
    return Said(text, text, values)


def same_type(pair: tuple[Value, Value]) -> bool:
    first, second = pair
    return list(first) == list(second)


@st.composite
def comparisons(draw: st.DrawFn) -> Said:
    name = draw(st.sampled_from(NAMES))
    match draw(st.integers(0, 6)):
        case 0:
            return both(f"{name} {draw(st.sampled_from(['=', '<>']))} ?", draw(VALUES))
        case 1:
            return both(f"{name} {draw(st.sampled_from(['<', '<=', '>', '>=']))} ?", draw(SCALARS))
        case 2:
            pair = draw(st.tuples(SCALARS, SCALARS).filter(same_type))
            low, high = sorted(pair, key=lambda value: float(value["N"]) if "N" in value else 0)
            if "S" in low:
                low, high = sorted(pair, key=lambda value: str(value["S"]))
            return both(f"{name} BETWEEN ? AND ?", low, high)
        case 3:
            chosen = draw(st.lists(VALUES, min_size=1, max_size=3))
            marks = ", ".join("?" for _ in chosen)
            return Said(f"{name} IN ({marks})", f"{name} IN [{marks}]", tuple(chosen))
        case 4:
            return both(f"begins_with({name}, ?)", draw(st.sampled_from([{"S": "x"}, {"S": ""}])))
        case 5:
            return both(f"contains({name}, ?)", draw(SCALARS))
    return draw(
        st.sampled_from(
            [
                Said(f"attribute_not_exists({name})", f"{name} IS MISSING"),
                Said(f"attribute_exists({name})", f"{name} IS NOT MISSING"),
                both(f"size({name}) >= ?", {"N": "2"}),
            ]
        )
    )


def combined(inner: st.SearchStrategy[Said]) -> st.SearchStrategy[Said]:
    joined = st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner)
    return st.one_of(
        inner.map(lambda said: both("NOT (") + said + both(")")),
        joined.map(lambda parts: both("(") + parts[0] + both(f") {parts[1].strip()} (") + parts[2] + both(")")),
    )


CONDITIONS = st.recursive(comparisons(), combined, max_leaves=4)
ITEMS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), min_size=1, max_size=6)


def engine_with(items: list[dict[str, Value]]) -> Engine:
    engine = Engine()
    engine.create_table(
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
    for number, item in enumerate(items):
        engine.call("PutItem", TableName="table", Item={"pk": {"S": str(number)}, **copy.deepcopy(item)})
    return engine


@settings(max_examples=150, deadline=None)
@given(ITEMS, CONDITIONS)
def test_a_where_clause_finds_what_a_filter_finds(items: list[dict[str, Value]], condition: Said) -> None:
    engine = engine_with(items)
    said = condition.request()
    values = {"ExpressionAttributeValues": said["values"]} if "values" in said else {}
    scanned = engine.call("Scan", TableName="table", FilterExpression=said["text"], **values)
    parameters = {"Parameters": list(copy.deepcopy(condition.values))} if condition.values else {}
    statement = f'SELECT * FROM "table" WHERE {condition.statement}'
    selected = engine.call("ExecuteStatement", Statement=statement, **parameters)
    assert selected["Items"] == scanned["Items"]


@st.composite
def changes(draw: st.DrawFn) -> Said:
    """One change, as an update expression and as the clauses of an UPDATE statement."""
    name, other = draw(st.permutations(NAMES))[:2]
    return draw(
        st.one_of(
            VALUES.map(lambda value: both(f"SET {name} = ?", value)),
            st.just(both(f"SET {name} = {other}")),
            st.integers(-5, 5).map(lambda number: both(f"SET {name} = {name} + ?", {"N": str(number)})),
            st.integers(-5, 5).map(lambda number: both(f"SET {name} = {other} - ?", {"N": str(number)})),
            VALUES.map(lambda value: both(f"SET {name} = if_not_exists({other}, ?)", value)),
            st.just(both(f"SET {name} = list_append({name}, ?)", {"L": [{"S": "new"}]})),
            st.just(both(f"REMOVE {name}")),
            st.just(both(f"SET {name}[5] = ?", {"S": "appended"})),
            st.just(both(f"SET {name}.a = ?", {"S": "inside"})),
            st.just(both(f"REMOVE {name}[0]")),
            st.just(Said(f"ADD {name} ?", f"SET {name} = set_add({name}, ?)", ({"SS": ["y", "z"]},))),
            st.just(Said(f"DELETE {name} ?", f"SET {name} = set_delete({name}, ?)", ({"SS": ["x"]},))),
        )
    )


def outcome(engine: Engine, operation: str, **members: Any) -> Any:
    """The item that a change leaves, or the error it ends in."""
    try:
        engine.call(operation, **members)
    except ApiError as error:
        return error.code
    return engine.call("GetItem", TableName="table", Key={"pk": {"S": "0"}})["Item"]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES), changes(), comparisons())
def test_an_update_statement_does_what_an_update_expression_does(
    item: dict[str, Value], change: Said, condition: Said
) -> None:
    said = (change + Said(" ## ", " ## ") + condition).request()
    update, _, test = said["text"].partition(" ## ")
    values = {"ExpressionAttributeValues": said["values"]} if "values" in said else {}
    by_expression = outcome(
        engine_with([item]),
        "UpdateItem",
        TableName="table",
        Key={"pk": {"S": "0"}},
        UpdateExpression=update,
        ConditionExpression=f"attribute_exists(pk) AND ({test})",
        **values,
    )
    used = change.values + condition.values
    by_statement = outcome(
        engine_with([item]),
        "ExecuteStatement",
        Statement=f"""UPDATE "table" {change.statement} WHERE pk = '0' AND ({condition.statement})""",
        **({"Parameters": list(copy.deepcopy(used))} if used else {}),
    )
    assert by_statement == by_expression

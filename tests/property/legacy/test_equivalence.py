"""What the older parameters say can be said in expressions, and then means the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.errors import ClientError
from unit.legacy.server import Server, server_with_tables

KEY = {"pk": {"S": "k"}}
NAMES = ("a", "b", "c", "x.y", "size")
COMPARATORS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
CONTAINERS = {"S": ("S", "SS", "L"), "N": ("NS", "L"), "B": ("B", "BS", "L")}

Members = dict[str, Any]
SERVER = server_with_tables()

texts = st.sampled_from(["", "a", "ab", "b", "é", "😀"])
numbers = st.sampled_from(["0", "1", "-1", "1.5", "10", "1e2", "0.10"])
binaries = st.sampled_from(["", "AA==", "AAE=", "/w=="])
scalars = st.one_of(
    texts.map(lambda text: {"S": text}), numbers.map(lambda text: {"N": text}), binaries.map(lambda text: {"B": text})
)
sets = st.one_of(
    st.lists(texts, min_size=1, unique=True).map(lambda members: {"SS": members}),
    st.lists(numbers, min_size=1, unique=True).map(lambda members: {"NS": members}),
    st.lists(binaries, min_size=1, unique=True).map(lambda members: {"BS": members}),
)
plain_values = st.one_of(scalars, sets, st.sampled_from([{"BOOL": True}, {"BOOL": False}, {"NULL": True}]))
values = st.one_of(
    plain_values,
    st.lists(plain_values, max_size=3).map(lambda elements: {"L": elements}),
    st.dictionaries(texts.filter(bool), plain_values, max_size=2).map(lambda members: {"M": members}),
)
items = st.dictionaries(st.sampled_from(NAMES), values, max_size=len(NAMES))
stored_items = st.one_of(st.none(), items)


@dataclass
class Text:
    """An expression under construction, with its placeholders."""

    names: dict[str, str] = field(default_factory=dict)
    values: Members = field(default_factory=dict)

    def name(self, name: str) -> str:
        placeholder = f"#n{NAMES.index(name)}"
        self.names[placeholder] = name
        return placeholder

    def value(self, value: Members) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def members(self) -> Members:
        placeholders: Members = {"ExpressionAttributeNames": self.names} if self.names else {}
        return {**placeholders, "ExpressionAttributeValues": self.values} if self.values else placeholders


@st.composite
def comparisons(draw: st.DrawFn) -> Members:
    """One condition, most often one that is accepted."""
    operator = draw(
        st.sampled_from([*COMPARATORS, "IN", "BETWEEN", "BEGINS_WITH", "CONTAINS", "NOT_CONTAINS", "NULL", "NOT_NULL"])
    )
    if operator in ("NULL", "NOT_NULL"):
        return {"ComparisonOperator": operator}
    first: Members = draw(values if operator in ("EQ", "NE") else scalars)
    if operator == "BEGINS_WITH" and "N" in first:
        first = {"S": first["N"]}
    arguments = [first]
    if operator in ("IN", "BETWEEN"):
        others = {"S": texts, "N": numbers, "B": binaries}[next(iter(first))]
        more = st.lists(others, max_size=3) if operator == "IN" else st.lists(others, min_size=1, max_size=1)
        arguments += [{next(iter(first)): other} for other in draw(more)]
    return {"ComparisonOperator": operator, "AttributeValueList": arguments}


conditions = st.dictionaries(st.sampled_from(NAMES), comparisons(), min_size=1, max_size=3)
conditional_operators = st.sampled_from([None, "AND", "OR"])


def comparison_text(text: Text, attribute: str, condition: Members) -> str:
    operator, name = condition["ComparisonOperator"], text.name(attribute)
    if operator == "NULL":
        return f"attribute_not_exists({name})"
    if operator == "NOT_NULL":
        return f"attribute_exists({name})"
    arguments = [text.value(argument) for argument in condition["AttributeValueList"]]
    match operator:
        case "IN":
            return f"{name} IN ({', '.join(arguments)})"
        case "BETWEEN":
            return f"{name} BETWEEN {arguments[0]} AND {arguments[1]}"
        case "BEGINS_WITH":
            return f"begins_with({name}, {arguments[0]})"
        case "CONTAINS":
            return f"contains({name}, {arguments[0]})"
        case "NOT_CONTAINS":
            return not_contains_text(text, name, arguments[0])
        case _:
            return f"{name} {COMPARATORS[operator]} {arguments[0]}"


def not_contains_text(text: Text, name: str, argument: str) -> str:
    """An expression has to ask for the type, because it would also be true of what contains nothing at all."""
    types = (text.value({"S": type_code}) for type_code in CONTAINERS[next(iter(text.values[argument]))])
    could_contain = " OR ".join(f"attribute_type({name}, {type_code})" for type_code in types)
    return f"(NOT contains({name}, {argument}) AND ({could_contain}))"


def conditions_text(text: Text, wanted: Members, conditional_operator: str | None) -> str:
    parts = [comparison_text(text, attribute, condition) for attribute, condition in wanted.items()]
    return f" {conditional_operator or 'AND'} ".join(parts)


def outcome(server: Server, stored: Members | None, operation: str, **members: Any) -> Any:
    """What a request answers and leaves behind; of an error only its kind, since the words differ."""
    server.empty("plain", "pk")
    if stored is not None:
        server.put("plain", {**KEY, **stored})
    try:
        answer: Any = server.call(operation, TableName="plain", **members)
    except ClientError as error:
        answer = error.code
    return answer, server.items("plain")


def joined(parameter: str, wanted: Members, conditional_operator: str | None) -> Members:
    members: Members = {parameter: wanted}
    if conditional_operator is not None and len(wanted) > 1:
        members["ConditionalOperator"] = conditional_operator
    return members


@settings(max_examples=400, deadline=None)
@given(stored_items, conditions, conditional_operators)
def test_a_scan_filter_finds_what_a_filter_expression_finds(
    stored: Members | None, wanted: Members, operator: str | None
) -> None:
    text = Text()
    expression = conditions_text(text, wanted, operator)
    legacy = outcome(SERVER, stored, "Scan", **joined("ScanFilter", wanted, operator))
    assert legacy == outcome(SERVER, stored, "Scan", FilterExpression=expression, **text.members())


@settings(max_examples=200, deadline=None)
@given(stored_items, conditions, conditional_operators)
def test_expected_lets_through_what_a_condition_expression_lets_through(
    stored: Members | None, wanted: Members, operator: str | None
) -> None:
    text = Text()
    request = {"Key": KEY, "ReturnValues": "ALL_OLD"}
    expression = conditions_text(text, wanted, operator)
    legacy = outcome(SERVER, stored, "DeleteItem", **request, **joined("Expected", wanted, operator))
    assert legacy == outcome(SERVER, stored, "DeleteItem", **request, ConditionExpression=expression, **text.members())


@st.composite
def update_actions(draw: st.DrawFn) -> Members:
    action = draw(st.sampled_from(["PUT", "ADD", "DELETE", "REMOVE"]))
    if action == "REMOVE":
        return {"Action": "DELETE"}
    number_values = numbers.map(lambda text: {"N": text})
    operands = {"PUT": values, "ADD": st.one_of(number_values, sets), "DELETE": sets}
    return {"Action": action, "Value": draw(operands[action])}


def update_text(text: Text, updates: Members) -> str:
    sections: dict[str, list[str]] = {}
    for attribute, update in updates.items():
        name = text.name(attribute)
        if "Value" not in update:
            sections.setdefault("REMOVE", []).append(name)
        elif update["Action"] == "PUT":
            sections.setdefault("SET", []).append(f"{name} = {text.value(update['Value'])}")
        else:
            sections.setdefault(update["Action"], []).append(f"{name} {text.value(update['Value'])}")
    return " ".join(f"{section} {', '.join(parts)}" for section, parts in sections.items())


@settings(max_examples=400, deadline=None)
@given(
    stored_items,
    st.dictionaries(st.sampled_from(NAMES), update_actions(), min_size=1, max_size=4),
    st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]),
)
def test_attribute_updates_leave_what_an_update_expression_leaves(
    stored: Members | None, updates: Members, return_values: str
) -> None:
    text = Text()
    expression = update_text(text, updates)
    request = {"Key": KEY, "ReturnValues": return_values, "ReturnConsumedCapacity": "TOTAL"}
    legacy = outcome(SERVER, stored, "UpdateItem", **request, AttributeUpdates=updates)
    assert legacy == outcome(SERVER, stored, "UpdateItem", **request, UpdateExpression=expression, **text.members())


@settings(max_examples=200, deadline=None)
@given(items, st.lists(st.sampled_from([*NAMES, "pk"]), min_size=1, max_size=4, unique=True))
def test_attributes_to_get_show_what_a_projection_expression_shows(stored: Members, wanted: list[str]) -> None:
    text = Text()
    expression = ", ".join("pk" if name == "pk" else text.name(name) for name in wanted)
    legacy = outcome(SERVER, stored, "GetItem", Key=KEY, AttributesToGet=wanted)
    assert legacy == outcome(SERVER, stored, "GetItem", Key=KEY, ProjectionExpression=expression, **text.members())


SORT_TEXTS = ("a", "ab", "abc", "b", "é", "😀")


@st.composite
def sort_conditions(draw: st.DrawFn) -> Members:
    operator = draw(st.sampled_from(["EQ", "LT", "LE", "GT", "GE", "BETWEEN", "BEGINS_WITH"]))
    arguments = draw(st.lists(st.sampled_from(SORT_TEXTS), min_size=2, max_size=2).map(sorted))
    used = arguments if operator == "BETWEEN" else arguments[:1]
    return {"ComparisonOperator": operator, "AttributeValueList": [{"S": argument} for argument in used]}


@settings(max_examples=150, deadline=None)
@given(st.sets(st.sampled_from(SORT_TEXTS)), st.one_of(st.none(), sort_conditions()), st.booleans())
def test_key_conditions_read_what_a_key_condition_expression_reads(
    titles: set[str], condition: Members | None, forward: bool
) -> None:
    SERVER.empty("songs", "artist", "title")
    for title in titles:
        SERVER.put("songs", {"artist": {"S": "Ann"}, "title": {"S": title}})
    text = Text(values={":artist": {"S": "Ann"}})
    legacy: Members = {"artist": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "Ann"}]}}
    expression = "artist = :artist"
    if condition is not None:
        legacy["title"] = condition
        expression += f" AND {comparison_text(text, 'a', condition).replace('#n0', 'title')}"
    request = {"TableName": "songs", "ScanIndexForward": forward}
    by_expression = SERVER.call(
        "Query", **request, KeyConditionExpression=expression, ExpressionAttributeValues=text.values
    )
    assert SERVER.call("Query", **request, KeyConditions=legacy) == by_expression

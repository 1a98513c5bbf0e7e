"""Text and tree are two forms of the same thing, and no text does anything but parse or be refused."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.errors import ValidationException
from hashrange.expressions import Kind, prepare
from hashrange.expressions.ast import ConditionNode, Path, ProjectionNode, UpdateNode
from hashrange.expressions.parse_condition import parse_condition
from hashrange.expressions.parse_projection import parse_projection
from hashrange.expressions.parse_update import parse_update
from property.expressions.trees import conditions, paths, printed, updates

WORDS = [
    *("a", "b", "name", "#x", ":v", ":w", "0", "7", "(", ")", "[", "]", ".", ",", "=", "<>", "<", "<=", "+", "-", "!"),
    *("AND", "OR", "not", "BETWEEN", "IN", "SET", "REMOVE", "add", "DELETE", "size", "contains", "if_not_exists"),
    *("list_append", "attribute_exists", "attribute_type", "begins_with", "foo"),
]


@given(conditions)
def test_a_printed_condition_parses_to_itself(root: ConditionNode) -> None:
    assert parse_condition(printed(root), Kind.CONDITION) == root


@given(updates)
def test_a_printed_update_parses_to_itself(root: UpdateNode) -> None:
    assert parse_update(printed(root), Kind.UPDATE) == root


@given(st.lists(paths, min_size=1, max_size=4))
def test_a_printed_projection_parses_to_itself(parts: list[Path]) -> None:
    text = ", ".join(map(printed, parts))
    assert parse_projection(text, Kind.PROJECTION) == ProjectionNode(tuple(parts))


@settings(max_examples=300)
@given(
    st.sampled_from(["condition", "key_condition", "filter", "update", "projection"]),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=30),
)
def test_any_text_is_accepted_or_refused_as_invalid(parameter: str, text: str) -> None:
    request = {parameter: text}
    values = None if parameter == "projection" else {":v": {"N": "1"}, ":w": {"S": "x"}}
    with suppress(ValidationException):
        prepare(names={"#x": "x"}, values=values, **request)  # type: ignore[arg-type]


@given(conditions, st.data())
def test_white_space_between_tokens_does_not_matter(root: ConditionNode, data: st.DataObject) -> None:
    spaces = st.sampled_from([" ", "  ", "\t", "\r\n"])
    text = "".join(data.draw(spaces) if character == " " else character for character in printed(root))
    assert parse_condition(text, Kind.CONDITION) == root

"""What compiled expressions tell about themselves, and trees that no expression text was written for."""

from __future__ import annotations

import pytest

from hashrange.errors import ValidationException
from hashrange.expressions import Condition, KeyClause, KeyCondition, Kind, Projection, Update, prepare
from hashrange.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Comparison,
    Constant,
    DeleteAction,
    Function,
    Path,
    SetAction,
    UpdateNode,
)
from hashrange.expressions.cache import Cache
from hashrange.expressions.condition_checks import condition_checks
from hashrange.expressions.update_checks import update_checks
from hashrange.values.attribute import MalformedValue

ONE = Constant({"N": "1"})


def test_a_condition_names_its_paths_in_source_order() -> None:
    ready = prepare(
        names={"#x": "x.y"},
        values={":v": {"S": "1"}},
        condition="b.c[0] = :v OR size(#x) > a AND NOT contains(b.d, a)",
    )
    assert ready.condition is not None
    assert ready.condition.paths == (("b", "c", 0), ("x.y",), ("a",), ("b", "d"), ("a",))
    assert ready.condition.top_level_names == ("b", "x.y", "a")


def test_an_update_counts_its_actions_and_names_its_targets() -> None:
    update = prepare(values={":v": {"NS": ["1"]}}, update="SET a.b = :v, c = d ADD e :v REMOVE f DELETE g :v").update
    assert update is not None
    assert update.targets == (("a", "b"), ("c",), ("e",), ("f",), ("g",))
    assert (update.writing_actions, update.clearing_actions, update.creates_item) == (3, 2, True)


def test_removing_alone_does_not_create_an_item() -> None:
    update = prepare(values={":v": {"SS": ["1"]}}, update="REMOVE a DELETE b :v").update
    assert update is not None
    assert not update.creates_item


def test_an_update_shares_what_it_does_not_change() -> None:
    item = {"m": {"M": {"a": {"N": "1"}, "kept": {"M": {"deep": {"S": "x"}}}}}, "other": {"L": []}}
    ready = prepare(values={":v": {"N": "2"}}, update="SET m.a = :v")
    assert ready.update is not None
    changed = ready.update.apply(item, ready.values, exists=True)
    assert changed["m"]["M"]["a"] == {"N": "2"}
    assert changed["m"]["M"]["kept"] is item["m"]["M"]["kept"]
    assert changed["other"] is item["other"]


def test_a_projection_can_be_made_of_plain_names() -> None:
    projection = Projection.of_names(["a.b", "l[0]", "zz"])
    assert projection({"a.b": {"N": "1"}, "a": {"M": {}}, "l[0]": {"N": "2"}}) == {
        "a.b": {"N": "1"},
        "l[0]": {"N": "2"},
    }
    assert projection.top_level_names == ("a.b", "l[0]", "zz")


def test_constants_may_stand_in_the_tree() -> None:
    root = And((Comparison("=", Path(("name",)), ONE), Function("contains", (Path(("l", 0)), Constant({"S": "x"})))))
    condition = Condition(root, {})
    assert condition({"name": {"N": "1"}, "l": {"L": [{"S": "axe"}]}}, {})
    assert not condition({"name": {"N": "2"}}, {})


def test_constants_in_the_tree_are_checked_without_the_prefix_of_a_parameter() -> None:
    root = Comparison("<", Path(("a",)), Constant({"BOOL": True}))
    (check,) = condition_checks(root, {}, Kind.STATEMENT).run
    with pytest.raises(ValidationException) as refused:
        check({})
    assert refused.value.message == (
        "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"
    )


def test_arithmetic_in_a_tree_may_nest() -> None:
    value = Arithmetic("-", Arithmetic("+", Path(("a",)), ONE), Constant({"N": "0.5"}))
    root = UpdateNode((SetAction(Path(("a",)), value),))
    assert not update_checks(root, {}, Kind.STATEMENT).is_hopeless
    assert Update(root, {}).apply({"a": {"N": "1"}}, {}, exists=True) == {"a": {"N": "1.5"}}


def test_legacy_add_appends_to_lists_and_words_its_errors_differently() -> None:
    add = Update(UpdateNode((AddAction(Path(("l",)), Constant({"L": [{"N": "2"}]}), legacy=True),)), {})
    assert add.apply({"l": {"L": [{"N": "1"}]}}, {}, exists=True) == {"l": {"L": [{"N": "1"}, {"N": "2"}]}}
    assert add.apply({}, {}, exists=True) == {"l": {"L": [{"N": "2"}]}}
    delete = Update(UpdateNode((DeleteAction(Path(("l",)), Constant({"SS": ["a"]}), legacy=True),)), {})
    for update in (add, delete):
        with pytest.raises(ValidationException) as refused:
            update.apply({"l": {"S": "x"}}, {}, exists=True)
        assert refused.value.message == "Type mismatch for attribute to update"


def test_a_key_condition_can_be_made_of_clauses() -> None:
    condition = KeyCondition.of_clauses([KeyClause("pk", "=", (Constant({"S": "p"}),)), KeyClause("sk", "<", (ONE,))])
    condition.check_shape()
    found = condition.resolve(hash_names=("pk",), range_names=("sk",), types={"pk": "S", "sk": "N"}, values={})
    assert (found.partition_values, found.operator, found.operands) == (({"S": "p"},), "<", ({"N": "1"},))


def test_bounds_of_between_in_a_tree_may_be_paths() -> None:
    condition = Condition(Between(ONE, Path(("low",)), Path(("high",))), {})
    assert condition({"low": {"N": "0"}, "high": {"N": "1"}}, {})
    assert not condition({"low": {"N": "0"}}, {})


def test_the_same_text_with_other_names_is_another_expression() -> None:
    for attribute, expected in (("a", True), ("b", False), ("a", True)):
        ready = prepare(names={"#x": attribute}, condition="attribute_exists(#x)")
        assert ready.condition is not None
        assert ready.condition({"a": {"N": "1"}}, {}) is expected
    with pytest.raises(ValidationException, match="not defined; attribute name: #x"):
        prepare(condition="attribute_exists(#x)")


def test_the_same_text_with_other_values_is_checked_again() -> None:
    text = "a BETWEEN :low AND :high"
    prepare(condition=text, values={":low": {"N": "1"}, ":high": {"N": "2"}})
    with pytest.raises(ValidationException, match="upper bound to be greater"):
        prepare(condition=text, values={":low": {"N": "1"}, ":high": {"N": "0"}})
    with pytest.raises(ValidationException, match="attribute value: :high"):
        prepare(condition=text, values={":low": {"N": "1"}})
    prepare(condition=text, values={":low": {"N": "1"}, ":high": {"N": "2"}})


def test_a_refused_expression_is_refused_again_with_a_fresh_error() -> None:
    errors = []
    for _ in range(2):
        with pytest.raises(ValidationException) as refused:
            prepare(key_condition="a = :v OR b = :v AND #x = :v", values={":v": {"N": "1"}}, names={"#x": "a"})
        errors.append(refused.value)
    assert errors[0] is not errors[1]
    assert errors[0].message == errors[1].message


def test_names_and_values_of_the_wrong_json_type_are_left_to_the_shape_of_the_request() -> None:
    for names, values in (([], None), ({"#x": 1}, None), (None, []), (None, {":v": {"S": 1}}), (None, {":v": "x"})):
        with pytest.raises(MalformedValue):
            prepare(names=names, values=values, condition="a = :v")


def test_values_are_normalised_in_place() -> None:
    values = {":v": {"N": "1e2"}, ":s": {"SS": ["b", "a"]}}
    ready = prepare(values=values, condition="a = :v OR b = :s")
    assert ready.values == {":v": {"N": "100"}, ":s": {"SS": ["a", "b"]}}


def test_a_cache_forgets_what_was_not_asked_for_the_longest() -> None:
    cache: Cache[int] = Cache(characters_max=10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert cache.get("a") == 1
    cache.put("c", 3, 4)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    cache.put("c", 4, 4)
    assert (cache.get("a"), cache.get("c")) == (1, 4)

"""Evaluation against models that are written for clarity only."""

from __future__ import annotations

import base64
import copy
from decimal import Context, Decimal, localcontext
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hashrange.errors import ValidationException
from hashrange.expressions import prepare
from hashrange.expressions.ast import (
    And,
    Between,
    Comparison,
    ConditionNode,
    Function,
    Membership,
    NamePlaceholder,
    Not,
    Or,
    Path,
    ValuePlaceholder,
)
from hashrange.expressions.walk import name_placeholders_in, value_placeholders_in
from hashrange.values.attribute import check_attributes
from property.expressions.trees import ATTRIBUTES, VALUES, conditions, printed

texts = st.text(alphabet="ab\uffff😀", max_size=3)
binaries = st.binary(max_size=2).map(lambda data: base64.b64encode(data).decode())
numbers = st.sampled_from(["0", "1", "1.0", "-1", "2", "10", "1e1", "0.5"])
scalars = st.one_of(
    texts.map(lambda text: {"S": text}),
    numbers.map(lambda number: {"N": number}),
    binaries.map(lambda text: {"B": text}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
)
sets = st.one_of(
    st.lists(texts, min_size=1, max_size=3, unique=True).map(lambda members: {"SS": members}),
    st.lists(st.sampled_from(["0", "1", "2", "10"]), min_size=1, unique=True).map(lambda members: {"NS": members}),
    st.lists(binaries, min_size=1, max_size=3, unique=True).map(lambda members: {"BS": members}),
)
attribute_values = st.recursive(
    scalars | sets,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements}),
        st.dictionaries(st.sampled_from(["a", "b", "b.c"]), inner, max_size=3).map(lambda members: {"M": members}),
    ),
    max_leaves=5,
)
items = st.dictionaries(st.sampled_from(["a", "b", "c", "b.c", "contains"]), attribute_values, max_size=5)
MISSING = object()


def plain(value: Any) -> Any:
    """A value as (type, Python object) that can be compared."""
    ((code, content),) = value.items()
    match code:
        case "N":
            return code, Decimal(content)
        case "B":
            return code, base64.b64decode(content)
        case "NS":
            return code, frozenset(map(Decimal, content))
        case "SS" | "BS":
            return code, frozenset(content)
        case "L":
            return code, [plain(element) for element in content]
        case "M":
            return code, {name: plain(member) for name, member in content.items()}
    return code, content


def read(operand: object, item: Any, values: Any) -> Any:
    match operand:
        case ValuePlaceholder(text):
            return plain(values[text])
        case Function("size", (measured,)):
            found = read(measured, item, values)
            if found is MISSING or found[0] in ("N", "BOOL", "NULL"):
                return MISSING
            length = len(found[1].encode("utf-16-le")) // 2 if found[0] == "S" else len(found[1])
            return "N", Decimal(length)
        case Path(elements):
            found: Any = {"M": item}
            for step in elements:
                name = ATTRIBUTES[step.text] if isinstance(step, NamePlaceholder) else step
                container = found.get("L" if isinstance(name, int) else "M")
                try:
                    found = container[name]
                except (TypeError, KeyError, IndexError):
                    return MISSING
            return plain(found)
    raise AssertionError(operand)


def ordered(left: Any, right: Any) -> int | None:
    if MISSING in (left, right) or left[0] != right[0] or left[0] not in ("S", "N", "B"):
        return None
    one, two = (side[1].encode() if side[0] == "S" else side[1] for side in (left, right))
    return (one > two) - (one < two)


def naive(node: ConditionNode, item: Any, values: Any) -> bool:
    def value(operand: object) -> Any:
        return read(operand, item, values)

    match node:
        case And(parts):
            return all(naive(part, item, values) for part in parts)
        case Or(parts):
            return any(naive(part, item, values) for part in parts)
        case Not(part):
            return not naive(part, item, values)
        case Comparison("=", left, right):
            return value(left) is not MISSING and value(left) == value(right)
        case Comparison("<>", left, right):
            return value(left) is MISSING or value(left) != value(right)
        case Comparison(operator, left, right):
            accepted = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}[operator]
            return ordered(value(left), value(right)) in accepted
        case Between(operand, lower, upper):
            return ordered(value(operand), value(lower)) in (0, 1) and ordered(value(operand), value(upper)) in (-1, 0)
        case Membership(operand, options):
            return value(operand) is not MISSING and value(operand) in [value(option) for option in options]
        case Function("attribute_exists", (path,)):
            return value(path) is not MISSING
        case Function("attribute_not_exists", (path,)):
            return value(path) is MISSING
        case Function(name, (first, second)):
            return naive_function(name, value(first), value(second))
    raise AssertionError(node)


def naive_function(name: str, first: Any, second: Any) -> bool:
    if MISSING in (first, second):
        return False
    (kind, content), (sought_kind, sought) = first, second
    if name == "begins_with":
        return kind == sought_kind and kind in ("S", "B") and content.startswith(sought)
    if kind in ("S", "B"):
        return kind == sought_kind and sought in content
    if kind in ("SS", "NS"):
        return kind[0] == sought_kind and sought in content
    if kind == "BS":
        return sought_kind == "B" and sought in {base64.b64decode(member) for member in content}
    return kind == "L" and second in content


@settings(max_examples=150)
@given(conditions, items, st.fixed_dictionaries(dict.fromkeys(VALUES, scalars | sets)))
def test_a_condition_holds_when_the_naive_evaluator_says_so(root: ConditionNode, item: Any, values: Any) -> None:
    used = {name: values[name] for name in value_placeholders_in(root)}
    names = {name: ATTRIBUTES[name] for name in name_placeholders_in(root)}
    check_attributes(item)
    try:
        ready = prepare(names=names or None, values=used or None, condition=printed(root))
    except ValidationException:
        assume(False)
    assert ready.condition is not None
    assert ready.condition(item, ready.values) is naive(root, item, used)


digits = st.integers(-(10**38) + 1, 10**38 - 1)
decimals = st.builds(lambda whole, exponent: str(Decimal(whole).scaleb(exponent)), digits, st.integers(-60, 60))


@given(decimals, decimals, st.sampled_from("+-"))
def test_arithmetic_is_exact_or_refused(left: str, right: str, operator: str) -> None:
    ready = prepare(values={":l": {"N": left}, ":r": {"N": right}}, update=f"SET z = :l {operator} :r")
    assert ready.update is not None
    with localcontext(Context(prec=400)):
        exact = Decimal(left) + Decimal(right) if operator == "+" else Decimal(left) - Decimal(right)
        fits = len(exact.normalize().as_tuple().digits) <= 38
    if fits:
        result = ready.update.apply({}, ready.values, exists=False)
        assert Decimal(result["z"]["N"]) == exact
    else:
        with pytest.raises(ValidationException, match=r"^Number overflow\. Attempting to store"):
            ready.update.apply({}, ready.values, exists=False)


@given(
    st.lists(st.integers(0, 9), max_size=6),
    st.dictionaries(st.integers(0, 9), st.sampled_from(["set", "remove"]), min_size=1, max_size=5),
)
def test_list_actions_refer_to_the_list_as_it_was(elements: list[int], actions: dict[int, str]) -> None:
    sets_ = [index for index, action in actions.items() if action == "set"]
    removes = [index for index, action in actions.items() if action == "remove"]
    values = {f":v{index}": {"S": f"new {index}"} for index in sets_}
    text = " ".join(
        ([f"SET {', '.join(f'l[{index}] = :v{index}' for index in sets_)}"] if sets_ else [])
        + ([f"REMOVE {', '.join(f'l[{index}]' for index in removes)}"] if removes else [])
    )
    ready = prepare(values=values or None, update=text)
    assert ready.update is not None
    item = {"l": {"L": [{"N": str(element)} for element in elements]}}
    before = copy.deepcopy(item)

    slots: list[Any] = list(item["l"]["L"]) + [None] * 10
    for index in sets_:
        slots[index] = values[f":v{index}"]
    for index in removes:
        slots[index] = None
    assert ready.update.apply(item, ready.values, exists=True) == {"l": {"L": [slot for slot in slots if slot]}}
    assert item == before


@given(st.sets(texts, max_size=5), st.sets(texts, min_size=1, max_size=5))
def test_add_and_delete_are_set_union_and_difference(stored: set[str], given_members: set[str]) -> None:
    item = {"s": {"SS": sorted(stored)}} if stored else {}
    for action, expected in (("ADD", stored | given_members), ("DELETE", stored - given_members)):
        ready = prepare(values={":v": {"SS": list(given_members)}}, update=f"{action} s :v")
        assert ready.update is not None
        result = ready.update.apply(item, ready.values, exists=True)
        assert result == ({"s": {"SS": sorted(expected, key=str.encode)}} if expected else {})

"""Random expression trees, and how to write them as text."""

from __future__ import annotations

from hypothesis import strategies as st

from hashrange.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Comparison,
    ConditionNode,
    DeleteAction,
    Function,
    Membership,
    NamePlaceholder,
    Not,
    Or,
    Path,
    RemoveAction,
    SetAction,
    UpdateNode,
    ValuePlaceholder,
)

NAMES = ["a", "b", "c", "contains"]
ATTRIBUTES = {"#p": "a", "#q": "b.c"}
VALUES = [":u", ":v", ":w"]
SECTIONS = {SetAction: "SET", RemoveAction: "REMOVE", AddAction: "ADD", DeleteAction: "DELETE"}

path_names = st.sampled_from([*NAMES, *map(NamePlaceholder, ATTRIBUTES)])
paths = st.builds(
    lambda first, rest: Path((first, *rest)),
    path_names,
    st.lists(path_names | st.integers(0, 3), max_size=2),
)
placeholders = st.sampled_from([ValuePlaceholder(name) for name in VALUES])
sizes = st.builds(lambda operand: Function("size", (operand,)), paths | placeholders)
operands = paths | placeholders | sizes

leaves: st.SearchStrategy[ConditionNode] = st.one_of(
    st.builds(Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), operands, operands),
    st.builds(Between, operands, operands, operands),
    st.builds(Membership, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(
        lambda name, path: Function(name, (path,)),
        st.sampled_from(["attribute_exists", "attribute_not_exists"]),
        paths,
    ),
    st.builds(
        lambda name, first, second: Function(name, (first, second)),
        st.sampled_from(["contains", "begins_with"]),
        paths | placeholders,
        operands,
    ),
)


def _joined(parts: st.SearchStrategy[ConditionNode]) -> st.SearchStrategy[ConditionNode]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Not, parts), st.builds(And, several), st.builds(Or, several))


conditions = st.recursive(leaves, _joined, max_leaves=8)

update_operands = st.recursive(
    paths | placeholders,
    lambda inner: st.one_of(
        st.builds(lambda path, default: Function("if_not_exists", (path, default)), paths, inner),
        st.builds(lambda one, two: Function("list_append", (one, two)), paths | placeholders, paths | placeholders),
    ),
    max_leaves=3,
)
update_values = update_operands | st.builds(Arithmetic, st.sampled_from("+-"), update_operands, update_operands)


def _update(*sections: list[object]) -> UpdateNode:
    return UpdateNode(tuple(action for section in sections for action in section))  # type: ignore[misc]


updates = st.builds(
    _update,
    st.lists(st.builds(SetAction, paths, update_values), min_size=1, max_size=3),
    st.lists(st.builds(RemoveAction, paths), max_size=3),
    st.lists(st.builds(AddAction, paths, placeholders), max_size=2),
    st.lists(st.builds(DeleteAction, paths, placeholders), max_size=2),
)


def printed(node: object) -> str:
    """The tree as text, with parentheses only where they are needed."""
    match node:
        case Path(elements):
            return "".join(
                f"[{step}]" if isinstance(step, int) else "." + getattr(step, "text", str(step)) for step in elements
            )[1:]
        case ValuePlaceholder(text):
            return text
        case Function(name, arguments):
            return f"{name}({', '.join(map(printed, arguments))})"
        case Comparison(operator, left, right) | Arithmetic(operator, left, right):
            return f"{printed(left)} {operator} {printed(right)}"
        case Between(operand, lower, upper):
            return f"{printed(operand)} BETWEEN {printed(lower)} AND {printed(upper)}"
        case Membership(operand, options):
            return f"{printed(operand)} IN ({', '.join(map(printed, options))})"
        case Not(condition):
            return "NOT " + _nested(condition, (And, Or))
        case And(conditions):
            return " AND ".join(_nested(condition, (And, Or)) for condition in conditions)
        case Or(conditions):
            return " OR ".join(_nested(condition, (Or,)) for condition in conditions)
        case UpdateNode(actions):
            return _printed_update(actions)
        case SetAction(target, value):
            return f"{printed(target)} = {printed(value)}"
        case RemoveAction(target):
            return printed(target)
        case AddAction(target, value) | DeleteAction(target, value):
            return f"{printed(target)} {printed(value)}"
    raise AssertionError(node)


def _nested(condition: object, looser: tuple[type, ...]) -> str:
    text = printed(condition)
    return f"({text})" if isinstance(condition, looser) else text


def _printed_update(actions: tuple[object, ...]) -> str:
    sections: dict[str, list[str]] = {}
    for action in actions:
        sections.setdefault(SECTIONS[type(action)], []).append(printed(action))  # type: ignore[index]
    return " ".join(f"{section} {', '.join(texts)}" for section, texts in sections.items())

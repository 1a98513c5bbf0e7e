"""Ways through the tree of an expression, in source order and without recursion.

A client decides how deep a tree is, so everything that looks at a tree before its limits were checked comes here.
"""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Comparison,
    ConditionNode,
    DeleteAction,
    Function,
    Leaf,
    Membership,
    NamePlaceholder,
    Node,
    Not,
    Or,
    Path,
    ProjectionNode,
    RemoveAction,
    SetAction,
    UpdateNode,
    ValuePlaceholder,
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, as they were written from left to right."""
    match node:
        case And(conditions) | Or(conditions):
            return conditions
        case Not(condition):
            return (condition,)
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case Between(operand, lower, upper):
            return (operand, lower, upper)
        case Membership(operand, options):
            return (operand, *options)
        case Function(_, arguments):
            return arguments
        case SetAction(target, value) | AddAction(target, value) | DeleteAction(target, value):
            return (target, value)
        case RemoveAction(target):
            return (target,)
        case UpdateNode(actions):
            return actions
        case ProjectionNode(paths):
            return paths
        case _:
            return ()


def walk(root: Node) -> Iterator[Node]:
    """Every node, a parent before its children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def leaves(root: ConditionNode) -> Iterator[Leaf]:
    """The single conditions that AND, OR and NOT connect."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        match node:
            case And(conditions) | Or(conditions):
                waiting.extend(reversed(conditions))
            case Not(condition):
                waiting.append(condition)
            case _:
                yield node


def paths_in(root: Node) -> Iterator[Path]:
    return (node for node in walk(root) if isinstance(node, Path))


def value_placeholders_in(root: Node) -> tuple[str, ...]:
    """The `:values` used, each once."""
    return tuple(dict.fromkeys(node.text for node in walk(root) if isinstance(node, ValuePlaceholder)))


def name_placeholders_in(root: Node) -> tuple[str, ...]:
    """The `#names` used, each once."""
    found = (element for path in paths_in(root) for element in path.elements)
    return tuple(dict.fromkeys(element.text for element in found if isinstance(element, NamePlaceholder)))


def operator_count(root: Node) -> int:
    """How many operators count against the limit: a function counts as a condition, not as an operand."""
    count = 0
    for node in walk(root):
        match node:
            case And(conditions) | Or(conditions):
                count += len(conditions) - 1
                count += sum(isinstance(condition, Function) for condition in conditions)
            case Not(condition):
                count += 1 + isinstance(condition, Function)
            case Comparison() | Between() | Membership() | Arithmetic():
                count += 1
            case SetAction(_, value):
                count += isinstance(value, Function)
    return count

"""Conditions and updates as trees of tuples: written as the text of a request, and evaluated naively.

condition   ("exists", path)  ("not_exists", path)  ("type", path, code)  ("begins_with" | "contains", path, value)
            ("compare", operator, path, value)  ("between", path, value, value)  ("in", path, [value, ...])
            ("size", operator, path, count)  ("not", c)  ("and" | "or", c, c)
update      [("set", path, operand) | ("remove", path) | ("add" | "delete", path, value), ...]
operand     ("value", value)  ("path", path)  ("plus" | "minus" | "append", operand, operand)
            ("default", path, operand)
"""

from __future__ import annotations

import base64
import copy
import operator
from decimal import Decimal
from itertools import pairwise
from typing import Any

from property.engine.values_model import EXACT, Attributes, Unstorable, Value, comparable, normal, number

Path = tuple[str | int, ...]
Tree = tuple[Any, ...]

OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
REMOVED: Any = object()


class Refused(Exception):
    """What the database answers with a ValidationException."""


class Text:
    """Collects the placeholders of one request while its expressions are written."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}

    def path(self, path: Path) -> str:
        written = ""
        for step in path:
            if isinstance(step, int):
                written += f"[{step}]"
            else:
                placeholder = self.names.setdefault(step, f"#n{len(self.names)}")
                written += f".{placeholder}" if written else placeholder
        return written

    def value(self, value: Value) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def condition(self, tree: Tree) -> str:
        match tree:
            case ("exists", path):
                return f"attribute_exists({self.path(path)})"
            case ("not_exists", path):
                return f"attribute_not_exists({self.path(path)})"
            case ("type", path, code):
                return f"attribute_type({self.path(path)}, {self.value({'S': code})})"
            case ("begins_with" | "contains" as function, path, value):
                return f"{function}({self.path(path)}, {self.value(value)})"
            case ("compare", sign, path, value):
                return f"{self.path(path)} {sign} {self.value(value)}"
            case ("between", path, low, high):
                return f"{self.path(path)} BETWEEN {self.value(low)} AND {self.value(high)}"
            case ("in", path, values):
                return f"{self.path(path)} IN ({', '.join(map(self.value, values))})"
            case ("size", sign, path, count):
                return f"size({self.path(path)}) {sign} {self.value({'N': str(count)})}"
            case ("not", inner):
                return f"NOT {self.condition(inner)}"
            case ("and" | "or" as word, left, right):
                return f"({self.condition(left)} {word.upper()} {self.condition(right)})"
        raise AssertionError(tree)

    def update(self, actions: list[Tree]) -> str:
        sections = []
        for keyword in ("set", "remove", "add", "delete"):
            clauses = [self._clause(action) for action in actions if action[0] == keyword]
            if clauses:
                sections.append(f"{keyword.upper()} {', '.join(clauses)}")
        return " ".join(sections)

    def _clause(self, action: Tree) -> str:
        match action:
            case ("set", path, operand):
                return f"{self.path(path)} = {self.operand(operand)}"
            case ("remove", path):
                return self.path(path)
            case (_, path, value):
                return f"{self.path(path)} {self.value(value)}"
        raise AssertionError(action)

    def operand(self, tree: Tree) -> str:
        match tree:
            case ("value", value):
                return self.value(value)
            case ("path", path):
                return self.path(path)
            case ("plus" | "minus" as word, left, right):
                return f"{self.operand(left)} {'+' if word == 'plus' else '-'} {self.operand(right)}"
            case ("append", left, right):
                return f"list_append({self.operand(left)}, {self.operand(right)})"
            case ("default", path, default):
                return f"if_not_exists({self.path(path)}, {self.operand(default)})"
        raise AssertionError(tree)

    def members(self) -> dict[str, Any]:
        names = {"ExpressionAttributeNames": {text: name for name, text in self.names.items()}} if self.names else {}
        return names | ({"ExpressionAttributeValues": self.values} if self.values else {})


def look_up(item: Attributes, path: Path) -> Value | None:
    value: Value | None = item.get(str(path[0]))
    for step in path[1:]:
        if value is None:
            return None
        if isinstance(step, int):
            elements = value.get("L", [])
            value = elements[step] if step < len(elements) else None
        else:
            value = value.get("M", {}).get(step)
    return value


def holds(tree: Tree, item: Attributes) -> bool:
    match tree:
        case ("exists", path):
            return look_up(item, path) is not None
        case ("not_exists", path):
            return look_up(item, path) is None
        case ("type", path, code):
            return code in (look_up(item, path) or {})
        case ("begins_with", path, value):
            stored = look_up(item, path)
            return _same_kind(stored, value, "SB") and comparable(stored).startswith(comparable(value))
        case ("contains", path, value):
            return _contains(look_up(item, path), normal(value))
        case ("compare", sign, path, value):
            return _compares(sign, look_up(item, path), normal(value))
        case ("between", path, low, high):
            stored = look_up(item, path)
            return _compares(">=", stored, normal(low)) and _compares("<=", stored, normal(high))
        case ("in", path, values):
            return look_up(item, path) in [normal(value) for value in values]
        case ("size", sign, path, count):
            length = _length(look_up(item, path))
            return length is not None and bool(OPERATORS[sign](length, count))
        case ("not", inner):
            return not holds(inner, item)
        case ("and", left, right):
            return holds(left, item) and holds(right, item)
        case ("or", left, right):
            return holds(left, item) or holds(right, item)
    raise AssertionError(tree)


def _same_kind(stored: Value | None, value: Value, kinds: str) -> bool:
    return stored is not None and stored.keys() == value.keys() and next(iter(value)) in kinds


def _compares(sign: str, stored: Value | None, value: Value) -> bool:
    if sign in ("=", "<>"):
        return (stored == value) == (sign == "=")
    return _same_kind(stored, value, "SNB") and bool(OPERATORS[sign](comparable(stored), comparable(value)))


def _contains(stored: Value | None, value: Value) -> bool:
    [(kind, content)] = value.items()
    match stored:
        case {"S": text}:
            return kind == "S" and content in text
        case {"B": data}:
            return kind == "B" and base64.b64decode(content) in base64.b64decode(data)
        case {"SS": members} | {"NS": members} | {"BS": members}:
            assert stored is not None
            return kind == next(iter(stored))[0] and content in members
        case {"L": elements}:
            return value in elements
    return False


def _length(stored: Value | None) -> int | None:
    match stored:
        case {"S": text}:
            return len(text.encode("utf-16-le")) // 2
        case {"B": data}:
            return len(base64.b64decode(data))
        case {"SS": many} | {"NS": many} | {"BS": many} | {"L": many} | {"M": many}:
            return len(many)
    return None


def updated(actions: list[Tree], item: Attributes | None, key: Attributes) -> Attributes | None:
    """What an update makes of an item, or None if there is none and the update does not create it."""
    before = item or {}
    results = [(action[0], action[1], _result(action, before)) for action in actions]
    after: Attributes = copy.deepcopy(item if item is not None else key)
    for keyword, path, value in sorted(results, key=lambda each: each[1][-1] if isinstance(each[1][-1], int) else -1):
        _place(after, path, value, strict=item is not None or keyword in ("set", "add"))
    creates = not actions or any(keyword in ("set", "add") for keyword, _, _ in results)
    return None if item is None and not creates else {name: _compact(value) for name, value in after.items()}


def _place(item: Attributes, path: Path, value: Value | None, *, strict: bool) -> None:
    """Put a result where it belongs. Removed elements leave a mark, so that indexes keep their meaning."""
    parent: Any = item
    for step, following in pairwise(path):
        inner: Any = _child(parent, step)
        kind = "L" if isinstance(following, int) else "M"
        if not isinstance(inner, dict) or kind not in inner:
            if strict:
                raise Refused("invalid path")
            return
        parent = inner[kind]
    last: Any = path[-1]
    if isinstance(last, int):
        if last < len(parent):
            parent[last] = REMOVED if value is None else value
        elif value is not None:
            parent.append(value)
    elif value is None:
        parent.pop(last, None)
    else:
        parent[last] = value


def _child(parent: Any, step: Any) -> Any:
    if isinstance(step, int):
        return parent[step] if step < len(parent) else None
    return parent.get(step)


def _compact(value: Value) -> Value:
    match value:
        case {"L": elements}:
            return {"L": [_compact(each) for each in elements if each is not REMOVED]}
        case {"M": members}:
            return {"M": {name: _compact(each) for name, each in members.items()}}
    return value


def _result(action: Tree, item: Attributes) -> Value | None:
    match action:
        case ("set", _, operand):
            return copy.deepcopy(_value(operand, item))
        case ("remove", _):
            return None
        case ("add", path, value):
            return _added(look_up(item, path), normal(value))
        case ("delete", path, value):
            return _without(look_up(item, path), normal(value))
    raise AssertionError(action)


def _value(operand: Tree, item: Attributes) -> Value:
    match operand:
        case ("value", value):
            return normal(value)
        case ("path", path):
            stored = look_up(item, path)
            if stored is None:
                raise Refused("no such attribute")
            return stored
        case ("default", path, default):
            stored = look_up(item, path)
            return _value(default, item) if stored is None else stored
        case ("append", left, right):
            first, second = _value(left, item), _value(right, item)
            if "L" not in first or "L" not in second:
                raise Refused("not a list")
            return {"L": first["L"] + second["L"]}
        case ("plus" | "minus" as word, left, right):
            first, second = _value(left, item), _value(right, item)
            if "N" not in first or "N" not in second:
                raise Refused("not a number")
            return _sum(first["N"], second["N"], EXACT.add if word == "plus" else EXACT.subtract)
    raise AssertionError(operand)


def _sum(a: str, b: str, operation: Any) -> Value:
    try:
        return {"N": number(operation(Decimal(a), Decimal(b)))}
    except Unstorable as error:
        raise Refused("overflow") from error


def _added(stored: Value | None, value: Value) -> Value:
    if stored is None:
        return value
    [(kind, content)] = value.items()
    if kind not in stored:
        raise Refused("type mismatch")
    if kind == "N":
        return _sum(stored["N"], content, EXACT.add)
    return normal({kind: list({*stored[kind], *content})})


def _without(stored: Value | None, value: Value) -> Value | None:
    if stored is None:
        return None
    [(kind, content)] = value.items()
    if kind not in stored:
        raise Refused("type mismatch")
    left = [each for each in stored[kind] if each not in content]
    return {kind: left} if left else None

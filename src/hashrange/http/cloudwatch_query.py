"""The query protocol of CloudWatch: `Action=GetMetricData&MetricDataQueries.member.1.Id=m1&...`, answered in XML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from hashrange.errors import ClientError, InvalidParameterValueException, SerializationException
from hashrange.http.cloudwatch_wires import fault, iso_text, query_code
from hashrange.validation.schema import Schema, Shape

XMLNS = "http://monitoring.amazonaws.com/doc/2010-08-01/"
FORM = b"application/x-www-form-urlencoded"
FIELDS_MAX = 50_000
DEPTH_MAX = 32
ELEMENT = re.compile(r"[1-9][0-9]{0,4}")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Tree = dict[str, Any]


def form_of(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX))
    except (ValueError, UnicodeDecodeError):
        raise SerializationException("The request is not a form") from None


def tree_of(form: dict[str, str]) -> Tree:
    """The fields by the parts of their names: `A.member.1=x` is {"A": {"member": {"1": "x"}}}."""
    tree: Tree = {}
    for name, value in form.items():
        parts = name.split(".", DEPTH_MAX)
        place = tree
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                raise SerializationException(f"{name} is at odds with another parameter")
            place = inner
        place[parts[-1]] = value
    return tree


class QueryWire:
    """Forms in, XML out."""

    content_type = b"text/xml"
    points_max = 5_000

    def members(self, schema: Schema, shape: Shape, body: bytes) -> dict[str, Any]:
        tree = tree_of(form_of(body))
        members: dict[str, Any] = read(schema, shape, tree, "")
        return members

    def answer(self, schema: Schema, operation: str, answer: dict[str, Any], request_id: str) -> bytes:
        shape = schema.output_of(operation)
        result = ""
        if shape is not None:
            result = f"<{operation}Result>{''.join(written(schema, shape, answer))}</{operation}Result>"
        metadata = f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>"
        return f'<{operation}Response xmlns="{XMLNS}">{result}{metadata}</{operation}Response>'.encode()

    def error(self, error: ClientError, request_id: str) -> bytes:
        code, _ = query_code(error)
        inside = f"<Type>{fault(error)}</Type><Code>{code}</Code><Message>{text_of(error.message or '')}</Message>"
        return (
            f'<ErrorResponse xmlns="{XMLNS}"><Error>{inside}</Error><RequestId>{request_id}</RequestId></ErrorResponse>'
        ).encode()


def read(schema: Schema, shape: Shape, tree: Any, place: str) -> Any:
    """What a field or a branch of fields means, by its shape."""
    if shape.kind == "structure":
        branch = branch_of(tree, place)
        members = {name: schema.shape(member) for name, member in shape.members.items() if name in branch}
        return {name: read(schema, member, branch[name], joined(place, name)) for name, member in members.items()}
    if shape.kind == "list":
        assert shape.element is not None
        element = schema.shape(shape.element)
        elements = branch_of(tree, place) if tree != "" else {}  # an empty field is an empty list
        numbered = branch_of(elements.get("member", {}), place)
        known = sorted((int(number), part) for number, part in numbered.items() if ELEMENT.fullmatch(number))
        return [read(schema, element, part, f"{place}.member.{number}") for number, part in known]
    if not isinstance(tree, str):
        raise SerializationException(f"{place} has no parts")
    return scalar(shape.kind, tree, place)


def branch_of(tree: Any, place: str) -> Tree:
    if not isinstance(tree, dict):
        raise SerializationException(f"{place} has parts")
    return tree


def joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def scalar(kind: str, text: str, place: str) -> Any:
    try:
        if kind in ("integer", "long"):
            return int(text)
        if kind == "double":
            value = float(text)
            if not math.isfinite(value):
                raise ValueError
            return value
        if kind == "timestamp":
            return moment_of(text)
    except (ValueError, OverflowError):
        raise InvalidParameterValueException(f"The parameter {place} is not a valid {kind}: {text[:100]}") from None
    if kind == "boolean":
        return text.lower() in ("true", "1")
    return text


def moment_of(text: str) -> float:
    """Seconds since the epoch of a time as in ISO 8601; without a zone it is UTC."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def written(schema: Schema, shape: Shape, value: Any) -> Iterator[str]:
    """The inside of an element."""
    if shape.kind == "structure":
        for name, member in shape.members.items():
            if value.get(name) is not None:
                yield f"<{name}>{''.join(written(schema, schema.shape(member), value[name]))}</{name}>"
    elif shape.kind == "list":
        assert shape.element is not None
        element = schema.shape(shape.element)
        if element.kind in ("structure", "list"):
            yield from (f"<member>{''.join(written(schema, element, part))}</member>" for part in value)
        elif value:  # there may be very many
            text = SCALARS.get(element.kind, text_of)
            yield f"<member>{'</member><member>'.join([text(part) for part in value])}</member>"
    else:
        yield SCALARS.get(shape.kind, text_of)(value)


def text_of(value: Any) -> str:
    """Text as XML may have it. Control characters cannot be written at all."""
    clean = NOT_XML.sub("\ufffd", str(value))
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


SCALARS: dict[str, Callable[[Any], str]] = {
    "timestamp": iso_text,
    "boolean": lambda value: "true" if value else "false",
    "double": lambda value: repr(float(value)),
}

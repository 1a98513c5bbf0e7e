"""The grammar of constants.

literal := 'string' | [+|-] number | TRUE | FALSE | NULL | "?"
         | "[" [literal ("," literal)*] "]" | "{" ['name' ":" literal ("," ...)*] "}" | "<<" literal ("," literal)* ">>"
"""

from __future__ import annotations

from collections.abc import Callable

from hashrange.errors import ValidationException
from hashrange.partiql.literals import Literal, Parameter, list_of, map_of, set_of
from hashrange.partiql.parser import Parser
from hashrange.partiql.tokens import NUMBER, STRING
from hashrange.values import number
from hashrange.values.types import AttributeValue

ROOT = " under root"


class LiteralParser(Parser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.parameter_count = 0
        self._location: list[str] = []  # the way to the value being read, for messages about it
        self._literals: dict[str, Callable[[], Literal]] = {
            STRING: self._string,
            NUMBER: self._number,
            "+": self._number,
            "-": self._number,
            "TRUE": lambda: self._word({"BOOL": True}),
            "FALSE": lambda: self._word({"BOOL": False}),
            "NULL": lambda: self._word({"NULL": True}),
            "?": self._parameter,
            "[": self._list_literal,
            "{": self._map_literal,
            "<<": self._set_literal,
        }

    @property
    def next_is_literal(self) -> bool:
        return self.next.kind in self._literals

    def literal(self) -> Literal:
        read = self._literals.get(self.next.kind)
        if read is None:
            raise self.unexpected()
        self.deeper()
        literal = read()
        self.shallower()
        return literal

    def _string(self) -> Literal:
        return {"S": self.take().value}

    def _word(self, value: AttributeValue) -> Literal:
        self.take()
        return value

    def _number(self) -> Literal:
        sign = self.take().text if self.next.kind in ("+", "-") else ""
        text = sign + self.expect(NUMBER).text
        try:
            return {"N": number.normalise(text)}
        except ValidationException as error:
            self.remember(ValidationException(f"{error.message}{ROOT}{''.join(self._location)}"))
            return {"N": "0"}

    def _parameter(self) -> Literal:
        self.take()
        self.parameter_count += 1
        return Parameter(self.parameter_count - 1)

    def _list_literal(self) -> Literal:
        return list_of(self._elements("]"))

    def _set_literal(self) -> Literal:
        elements = self._elements(">>")
        try:
            return set_of(elements)
        except ValidationException as error:
            self.remember(error)
            return {"L": []}

    def _elements(self, end: str) -> list[Literal]:
        self.take()
        elements: list[Literal] = []
        if self.take_if(end):
            return elements
        while True:
            elements.append(self._inside(f"[{len(elements)}]"))
            if self.take_if(end):
                return elements
            self.expect(",")

    def _map_literal(self) -> Literal:
        self.take()
        members: dict[str, Literal] = {}
        if self.take_if("}"):
            return map_of(members)
        while True:
            name = self.expect(STRING).value
            self.expect(":")
            members[name] = self._inside(f".{name}")
            if self.take_if("}"):
                return map_of(members)
            self.expect(",")

    def _inside(self, step: str) -> Literal:
        self._location.append(step)
        literal = self.literal()
        self._location.pop()
        return literal

"""Texts of a policy that may hold wildcards and variables, such as `table/orders-*` and `${aws:username}`.

A variable is replaced by the value of a condition key, and what it is replaced by means only itself: a user called `*`
is not everybody. `${*}`, `${?}` and `${$}` are the three characters without their special meaning. A variable that the
request has no single value for makes the text match nothing, unless it brings a default: `${aws:username, 'nobody'}`.
Documents of the version before 2012-10-17 have no variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hashrange.auth.policy.context import Context
from hashrange.auth.policy.wildcard import Part, Pattern, Wild, parts_of

_VARIABLE = re.compile(r"\$\{([^{}$]*|\$)\}")
_DEFAULT = re.compile(r"([^,]*),\s*'([^']*)'\s*")
_CHARACTERS = ("*", "?", "$")


@dataclass(frozen=True, slots=True)
class Variable:
    key: str
    default: str | None


class Template:
    """A text of a policy. `written` is how it stands there."""

    __slots__ = ("_folds_case", "_is_wild", "_parts", "_pattern", "written")

    def __init__(self, text: str, *, variables: bool, wildcards: bool = True, folds_case: bool = False) -> None:
        self.written = text
        self._folds_case = folds_case
        self._parts = _parse(text.casefold() if folds_case else text, variables=variables, wildcards=wildcards)
        self._is_wild = any(isinstance(part, Wild) for part in self._parts)
        constant = [part for part in self._parts if not isinstance(part, Variable)]
        self._pattern = Pattern(constant) if len(constant) == len(self._parts) else None

    @property
    def has_variables(self) -> bool:
        return self._pattern is None

    def matches(self, text: str, context: Context) -> bool:
        if self._folds_case:
            text = text.casefold()
        if self._pattern is not None:
            return self._pattern.matches(text)
        if not self._is_wild:
            resolved = self.text(context)
            return resolved is not None and (resolved.casefold() if self._folds_case else resolved) == text
        pattern = self._resolved(context)
        return pattern is not None and pattern.matches(text)

    def text(self, context: Context) -> str | None:
        """The text with its variables replaced; None if one of them has no value."""
        parts = [_replaced(part, context) for part in self._parts]
        known = [part.value if isinstance(part, Wild) else part for part in parts if part is not None]
        return "".join(known) if len(known) == len(parts) else None

    def _resolved(self, context: Context) -> Pattern | None:
        parts: list[Part] = []
        for part in self._parts:
            replaced = _replaced(part, context)
            if replaced is None:
                return None
            parts.append(replaced.casefold() if self._folds_case and isinstance(replaced, str) else replaced)
        return Pattern(parts)


def _replaced(part: Part | Variable, context: Context) -> Part | None:
    if not isinstance(part, Variable):
        return part
    values = context.get(part.key)
    return values[0] if values is not None and len(values) == 1 else part.default


def _parse(text: str, *, variables: bool, wildcards: bool) -> list[Part | Variable]:
    parts: list[Part | Variable] = []
    position = 0
    for match in _VARIABLE.finditer(text) if variables else ():
        parts += _plain(text[position : match.start()], wildcards)
        name = match[1]
        parts.append(name if name in _CHARACTERS else _variable(name))
        position = match.end()
    return parts + _plain(text[position:], wildcards)


def _plain(text: str, wildcards: bool) -> list[Part | Variable]:
    if wildcards:
        return [*parts_of(text)]
    return [text] if text else []


def _variable(name: str) -> Variable:
    with_default = _DEFAULT.fullmatch(name)
    if with_default is not None:
        return Variable(with_default[1].strip().lower(), with_default[2])
    return Variable(name.strip().lower(), None)

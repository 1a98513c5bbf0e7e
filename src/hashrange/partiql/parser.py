"""What the parts of the grammar have in common: reading tokens, names and document paths."""

from __future__ import annotations

from hashrange.errors import ValidationException
from hashrange.expressions.ast import Path, PathElement
from hashrange.limits import EXPRESSION_PATH_ELEMENTS_MAX, LIST_INDEX_MAX
from hashrange.partiql.errors import INVALID_DOT_COMPONENT, UNEXPECTED_KEYWORD, UNEXPECTED_TERM, not_well_formed
from hashrange.partiql.keywords import KEYWORDS
from hashrange.partiql.tokens import NAME, NUMBER, QUOTED, STRING, Token, position, tokens_of

DEPTH_MAX = 100  # what clients write is read by recursion, so how deep it goes is bounded


class Parser:
    """A position in the tokens of one statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokens_of(text)
        self._position = 0
        self._depth = 0
        self._broken_rule: ValidationException | None = None

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._position]

    @property
    def following(self) -> Token:
        """The token after the next."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self._tokens[self._position]
        if self._position < len(self._tokens) - 1:
            self._position += 1
        return token

    def take_if(self, kind: str) -> bool:
        """Take the next token if it is of this kind."""
        if self.next.kind != kind:
            return False
        self.take()
        return True

    def expect(self, kind: str) -> Token:
        if self.next.kind != kind:
            raise self.unexpected()
        return self.take()

    def unexpected(self) -> ValidationException:
        """The complaint about the next token."""
        return not_well_formed(UNEXPECTED_KEYWORD if self.next.kind in KEYWORDS else UNEXPECTED_TERM)

    def at(self, token: Token) -> str:
        return position(self.text, token)

    def deeper(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise not_well_formed()

    def shallower(self) -> None:
        self._depth -= 1

    def remember(self, error: ValidationException) -> None:
        """A rule that was broken, to be told once the rest of the statement is known to be well formed."""
        self._broken_rule = self._broken_rule or error

    def check_rules(self) -> None:
        if self._broken_rule is not None:
            raise self._broken_rule

    def name(self) -> str:
        if self.next.kind in (NAME, QUOTED):
            return self.take().value
        raise self.unexpected()

    def path(self) -> Path:
        elements: list[PathElement] = [self.name()]
        while True:
            if self.take_if("."):
                elements.append(self._dot_component())
            elif self.take_if("["):
                elements.append(self._bracket_component())
                self.expect("]")
            else:
                self._check_length(len(elements))
                return Path(tuple(elements))

    def _dot_component(self) -> str:
        if self.next.kind not in (NAME, QUOTED):
            raise not_well_formed(INVALID_DOT_COMPONENT)
        return self.take().value

    def _bracket_component(self) -> PathElement:
        """A list index, or a name in single quotes."""
        if self.next.kind == STRING:
            return self.take().value
        token = self.expect(NUMBER)
        if not token.text.isdecimal():
            raise not_well_formed(UNEXPECTED_TERM)
        if len(token.text) > len(str(LIST_INDEX_MAX)) or int(token.text) > LIST_INDEX_MAX:
            self.remember(ValidationException(f"List index is not within the allowable range; index: [{token.text}]"))
            return 0
        return int(token.text)

    def _check_length(self, levels: int) -> None:
        if levels > EXPRESSION_PATH_ELEMENTS_MAX:
            self.remember(
                ValidationException(f"The document path has too many nesting levels; nesting levels: {levels}")
            )

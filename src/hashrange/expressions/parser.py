"""What the grammars have in common: reading tokens, document paths and operands, and the rules that need only the text.

Rules are checked in the order in which DynamoDB reports them: all of the syntax first, then each further rule over
the whole expression. Nothing here recurses into what the client wrote, so nesting costs it nothing but its own
4,096 bytes.
"""

from __future__ import annotations

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    Function,
    NamePlaceholder,
    Node,
    Operand,
    Path,
    PathElement,
    ValuePlaceholder,
)
from hashrange.expressions.kinds import Kind
from hashrange.expressions.reserved import is_reserved
from hashrange.expressions.tokens import (
    END,
    INDEX,
    NAME,
    NAME_PLACEHOLDER,
    VALUE_PLACEHOLDER,
    Token,
    tokens_of,
)
from hashrange.expressions.walk import operator_count, paths_in, walk
from hashrange.limits import (
    EXPRESSION_BYTES_MAX,
    EXPRESSION_OPERATORS_MAX,
    EXPRESSION_PATH_ELEMENTS_MAX,
    LIST_INDEX_MAX,
)


class _Call:
    """A function call whose arguments are being read."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments: list[Operand] = []


class Parser:
    """A position in the tokens of one expression."""

    def __init__(self, text: str, kind: Kind) -> None:
        check_size(text, kind)
        self.text = text
        self.kind = kind
        self.has_redundant_parentheses = False
        self._tokens = tokens_of(text)
        self._position = 0

    @property
    def next_kind(self) -> str:
        """The kind of the token that comes next."""
        return self._tokens[self._position].kind

    def take(self) -> Token:
        token = self._tokens[self._position]
        if token.kind != END:
            self._position += 1
        return token

    def take_if(self, kind: str) -> bool:
        """Take the next token if it is of this kind."""
        if self._tokens[self._position].kind != kind:
            return False
        self.take()
        return True

    def expect(self, kind: str) -> Token:
        if self._tokens[self._position].kind != kind:
            raise self.syntax_error()
        return self.take()

    def syntax_error(self) -> ValidationException:
        """The complaint about the next token, shown between its neighbours."""
        position = self._position
        token = self._tokens[position]
        previous = self._tokens[position - 1] if position else token
        if token.kind == END:
            near = previous.text if position else ""
        else:
            following = self._tokens[position + 1]
            near = self.text[previous.start : token.end if following.kind == END else following.end]
        return self.kind.error(f'Syntax error; token: "{token.text}", near: "{near}"')

    def path(self) -> Path:
        elements: list[PathElement] = [self._path_name()]
        while True:
            if self.take_if("."):
                elements.append(self._path_name())
            elif self.take_if("["):
                elements.append(int(self.expect(INDEX).text))
                self.expect("]")
            else:
                return Path(tuple(elements))

    def _path_name(self) -> str | NamePlaceholder:
        if self.next_kind == NAME:
            return self.take().text
        return NamePlaceholder(self.expect(NAME_PLACEHOLDER).text)

    def value_placeholder(self) -> ValuePlaceholder:
        return ValuePlaceholder(self.expect(VALUE_PLACEHOLDER).text)

    def operand(self) -> Operand:
        """A path, a value, a function of operands, or one of these in parentheses."""
        opened: list[_Call | None] = []  # what is still open around the operand; None is a parenthesis
        while True:
            while self._opens_around_operand(opened):
                pass
            operand = self.value_placeholder() if self.next_kind == VALUE_PLACEHOLDER else self.path()
            closed = self._close_around(operand, opened)
            if closed is not None:
                return closed

    def _opens_around_operand(self, opened: list[_Call | None]) -> bool:
        """Take an opening parenthesis, or a function's name with its own."""
        if self.take_if("("):
            opened.append(None)
            return True
        if self.next_kind == NAME and self._tokens[self._position + 1].kind == "(":
            opened.append(_Call(self.take().text))
            self.take()
            return True
        return False

    def _close_around(self, operand: Operand, opened: list[_Call | None]) -> Operand | None:
        """Close what ends after this operand. None if a function's next argument follows instead."""
        in_parentheses = False
        while opened:
            call = opened[-1]
            if call is None:
                self.expect(")")
                self.has_redundant_parentheses |= in_parentheses
                in_parentheses = True
            else:
                call.arguments.append(operand)
                if self.take_if(","):
                    return None
                self.expect(")")
                operand = Function(call.name, tuple(call.arguments))
                in_parentheses = False
            opened.pop()
        return operand

    def check_parentheses_and_operators(self, root: Node) -> None:
        if self.has_redundant_parentheses:
            raise self.kind.error("The expression has redundant parentheses;")
        count = operator_count(root)
        if count > EXPRESSION_OPERATORS_MAX:
            raise self.kind.error(f"The expression contains too many operators; operator count: {count}")


def check_size(text: str, kind: Kind) -> None:
    if not text:
        raise kind.error("The expression can not be empty;")
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    if size_bytes > EXPRESSION_BYTES_MAX:
        measured = "" if kind is Kind.UPDATE else f" expression size: {size_bytes}"
        raise kind.error(f"Expression size has exceeded the maximum allowed size;{measured}")


def check_function_names(root: Node, known: frozenset[str], kind: Kind) -> None:
    for node in walk(root):
        if isinstance(node, Function) and node.name not in known:
            raise kind.error(f"Invalid function name; function: {node.name}")


def misused(function: Function, kind: Kind) -> ValidationException:
    return kind.error(f"The function is not allowed to be used this way in an expression; function: {function.name}")


def check_paths(root: Node, kind: Kind) -> None:
    """Refuse paths that are too long, indexes that are too large and attribute names that are reserved words."""
    for path in paths_in(root):
        if len(path.elements) > EXPRESSION_PATH_ELEMENTS_MAX:
            levels = len(path.elements)
            raise kind.error(f"The document path has too many nesting levels; nesting levels: {levels}")
        for element in path.elements:
            if isinstance(element, int):
                if element > LIST_INDEX_MAX:
                    raise kind.error(f"List index is not within the allowable range; index: [{element}]")
            elif isinstance(element, str) and is_reserved(element):
                raise kind.error(f"Attribute name is a reserved keyword; reserved keyword: {element}")

"""The grammar of statements.

select   := SELECT ("*" | path ("," path)*) FROM table [WHERE condition] [ORDER BY name [ASC | DESC] ("," ...)*]
insert   := INSERT INTO table VALUE literal
update   := UPDATE table change+ WHERE condition [RETURNING returned]
          | FROM table WHERE condition change+ [RETURNING returned]
delete   := DELETE FROM table WHERE condition [RETURNING returned]
exists   := EXISTS "(" select ")"
table    := name ["." name]
returned := (ALL | MODIFIED) (OLD | NEW) "*"
"""

from __future__ import annotations

from collections.abc import Callable

from hashrange.errors import ValidationException
from hashrange.expressions.paths import BoundPath, bound
from hashrange.partiql.errors import (
    EXPECTED_MANIPULATION,
    UNEXPECTED_AFTER_END,
    not_well_formed,
)
from hashrange.partiql.parse_changes import ChangeParser
from hashrange.partiql.projection import FlatProjection
from hashrange.partiql.statements import (
    Body,
    Delete,
    Exists,
    Insert,
    OrderKey,
    Select,
    Statement,
    TableName,
    UpdateStatement,
)
from hashrange.partiql.tokens import END, NAME, NUMBER, QUOTED, STRING
from hashrange.partiql.where import Where

ALIASING = "Aliasing is not supported"
ORDER_WITHOUT_WHERE = "Must have WHERE clause in the statement when using ORDER BY clause."
TOO_MANY_COMPONENTS = "A path may contain at most 2 components in the FROM clause"
EMPTY_COMPONENT = "Path component cannot be an empty string"
SINGLE_TABLE = "FROM clause may only contain a single table name in data manipulation statements at "

RETURNED = {
    ("ALL", "OLD"): "ALL_OLD",
    ("ALL", "NEW"): "ALL_NEW",
    ("MODIFIED", "OLD"): "UPDATED_OLD",
    ("MODIFIED", "NEW"): "UPDATED_NEW",
}
UNSUPPORTED_CLAUSES = ("LIMIT", "OFFSET", "GROUP", "HAVING")


def parse_statement(text: str) -> Statement:
    """The statement, after all checks that need only its text."""
    parser = StatementParser(text)
    body = parser.body()
    if parser.next.kind != END:
        raise not_well_formed(UNEXPECTED_AFTER_END)
    parser.check_rules()
    return Statement(body, parser.parameter_count, parser.templates)


class StatementParser(ChangeParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._statements: dict[str, Callable[[], Body]] = {
            "SELECT": self._select,
            "INSERT": self._insert,
            "UPDATE": self._update,
            "FROM": self._update_from,
            "DELETE": self._delete,
            "EXISTS": self._exists,
        }

    def body(self) -> Body:
        read = self._statements.get(self.next.kind)
        if read is None:
            raise not_well_formed(EXPECTED_MANIPULATION)
        return read()

    def _select(self) -> Select:
        self.take()
        projection = None if self.take_if("*") else self._projection()
        self.expect("FROM")
        table = self._table()
        self._refuse_alias()
        self._refuse_clauses()
        where = Where(self.condition() if self.take_if("WHERE") else None)
        self._refuse_clauses()
        order = self._order() if self.take_if("ORDER") else ()
        if order and where.is_absent:
            self.remember(ValidationException(ORDER_WITHOUT_WHERE))
        self._refuse_clauses()
        return Select(table, projection, where, order)

    def _projection(self) -> FlatProjection:
        paths = [self._projected()]
        while self.take_if(","):
            paths.append(self._projected())
        return FlatProjection(paths)

    def _projected(self) -> BoundPath:
        token = self.next
        is_call = self.following.kind == "(" and token.text[:1].isalpha()
        if is_call or token.kind in (NUMBER, STRING):
            raise ValidationException(f"Unexpected path component at {self.at(token)}")
        path = bound(self.path(), {})
        self._refuse_alias()
        return path

    def _refuse_alias(self) -> None:
        if self.next.kind in ("AS", NAME, QUOTED):
            raise ValidationException(ALIASING)

    def _refuse_clauses(self) -> None:
        token = self.next
        if token.kind in UNSUPPORTED_CLAUSES:
            raise ValidationException(f"Unsupported clause: {token.kind} at {self.at(token)}")

    def _table(self) -> TableName:
        names = [self.name()]
        while self.take_if("."):
            names.append(self.name())
        if len(names) > 2:
            self.remember(ValidationException(TOO_MANY_COMPONENTS))
        elif not all(names):
            self.remember(ValidationException(EMPTY_COMPONENT))
        return TableName(names[0], names[1] if len(names) > 1 else None)

    def _order(self) -> tuple[OrderKey, ...]:
        self.expect("BY")
        keys = [self._order_key()]
        while self.take_if(","):
            keys.append(self._order_key())
        return tuple(keys)

    def _order_key(self) -> OrderKey:
        name = self.name()
        if self.take_if("DESC"):
            return OrderKey(name, descending=True)
        self.take_if("ASC")
        return OrderKey(name, descending=False)

    def _insert(self) -> Insert:
        self.take()
        self.expect("INTO")
        token = self.next
        table = self._table()
        if table.index is not None:
            self.remember(ValidationException(f"{SINGLE_TABLE}{self.at(token)}"))
        self.expect("VALUE")
        if self.next.kind not in ("{", "?"):
            raise self.unexpected()
        return Insert(table, self.literal())

    def _update(self) -> UpdateStatement:
        self.take()
        table = self._table()
        alteration = self.alteration()
        where = self._required_where()
        return UpdateStatement(table, alteration, where, self._returning())

    def _update_from(self) -> UpdateStatement:
        self.take()
        table = self._table()
        where = self._required_where()
        return UpdateStatement(table, self.alteration(), where, self._returning())

    def _delete(self) -> Delete:
        self.take()
        self.expect("FROM")
        table = self._table()
        self._refuse_alias()
        where = self._required_where()
        returning = self._returning()
        if returning not in ("NONE", "ALL_OLD"):
            words = " ".join(next(words for words, name in RETURNED.items() if name == returning))
            self.remember(
                ValidationException(
                    f"Invalid returning clause: RETURNING {words} *. "
                    "Only RETURNING ALL OLD * is allowed in DELETE statements."
                )
            )
        return Delete(table, where, returning)

    def _required_where(self) -> Where:
        """A write without WHERE is well formed; it lacks the key, which is told when the key is known."""
        return Where(self.condition() if self.take_if("WHERE") else None)

    def _returning(self) -> str:
        if not self.take_if("RETURNING"):
            return "NONE"
        words = tuple(self.take().text.upper() for _ in range(2))
        returned = RETURNED.get(words)  # type: ignore[arg-type]  # anything else is not found
        if returned is None:
            raise self.unexpected()
        self.expect("*")
        return returned

    def _exists(self) -> Exists:
        refusal = self.unrecognized(self.take()).message or ""
        self.expect("(")
        if self.next.kind != "SELECT":
            raise self.unexpected()
        select = self._select()
        self.expect(")")
        return Exists(select, refusal)

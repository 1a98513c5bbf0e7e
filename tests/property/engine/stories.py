"""What is drawn: a table with indexes, and a story of writes to it over a small alphabet, so that they meet."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from hypothesis import strategies as st

from property.engine.expressions_model import Path, Tree
from property.engine.table_model import PARTITION_NAME, SORT_NAME, Index, TableModel
from property.engine.values_model import Attributes, Value, comparable, normal

# Attributes: g, h and l may be index keys; n is a number, s a set, d a map, e a list and t some text, mostly.
KEY_CONTENTS = {
    "S": ["a", "b", "a\x00", "a\x00b", "a\x01", "ab", "é", "\uffff", "\U0001f600", "k" * 600],
    "N": ["0", "1", "-1", "2", "10", "1.5", "-1.5", "1e2", "-100", "1E-5", "3.0"],
    "B": [
        base64.b64encode(data).decode()
        for data in (b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\xff", b"\xff\xff", b"a", b"z" * 700)
    ],
}
PARTITIONS = ["a", "b", "\U0001f600"]


def scalars(kind: str) -> st.SearchStrategy[Value]:
    return st.sampled_from(KEY_CONTENTS[kind]).map(lambda content: {kind: content})


NUMBERS = st.sampled_from(["0", "1", "-1", "7", "0.5", "1e3", "-12.25", "9" * 38, "1e-130", "1E125"])
TEXTS = st.sampled_from(["", "x", "xy", "é\U0001f600", "x" * 900, "x" * 1100, "x" * 5000])
MEMBERS: dict[str, list[str]] = {"SS": ["", "a", "b", "c"], "NS": ["1", "2", "-3.5"], "BS": ["", "AA==", "/w=="]}


def sets() -> st.SearchStrategy[Value]:
    def members(kind: str) -> st.SearchStrategy[Value]:
        unique = st.lists(st.sampled_from(MEMBERS[kind]), min_size=1, unique=True)
        return unique.map(lambda chosen: {kind: chosen})

    return st.sampled_from(list(MEMBERS)).flatmap(members)


LEAVES = st.one_of(
    NUMBERS.map(lambda text: {"N": text}),
    TEXTS.map(lambda text: {"S": text}),
    sets(),
    scalars("B"),
    st.sampled_from([{"BOOL": True}, {"BOOL": False}, {"NULL": True}]),
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements})
        | st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2).map(lambda members: {"M": members})
    ),
    max_leaves=4,
)
LISTS = st.lists(VALUES, max_size=3).map(lambda elements: {"L": elements})
MAPS = st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2).map(lambda members: {"M": members})


@dataclass(frozen=True)
class Schema:
    """The table of a story."""

    types: dict[str, str]
    indexes: tuple[Index, ...]

    def writes(self, *, misfits: int = 3) -> st.SearchStrategy[Tree]:
        return stories(self.types["sk"], self.types["l"], misfits=misfits).writes

    def model(self) -> TableModel:
        return TableModel(self.types, self.indexes)

    def creation(self) -> dict[str, Any]:
        """The members of its CreateTable."""
        used = {PARTITION_NAME, SORT_NAME, *(name for index in self.indexes for name in index.key_names)}
        schema = [{"AttributeName": PARTITION_NAME, "KeyType": "HASH"}]
        members: dict[str, Any] = {
            "TableName": "story",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": definitions(self.types, used),
            "KeySchema": [*schema, {"AttributeName": SORT_NAME, "KeyType": "RANGE"}],
        }
        for member, is_local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            indexes = [index.wire() for index in self.indexes if index.is_local == is_local]
            if indexes:
                members[member] = indexes
        return members


def definitions(types: dict[str, str], names: set[str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": types[name]} for name in sorted(names)]


LOCAL = [Index("local", ("pk",), ("l",), shown, is_local=True) for shown in (None, (), ("n", "d"))]
NARROW = [Index("narrow", ("g",), ("h",), shown) for shown in ((), ("n", "d"))]
WIDE = [
    Index("wide", ("sk",), ("pk",)),
    Index("wide", ("g", "h"), ("l", "sk")),
    Index("wide", ("l",)),
    Index("wide", ("h", "pk"), ("g",)),
]
SCHEMAS = st.builds(
    lambda sort_type, local_type, *indexes: Schema(stories(sort_type, local_type).types, indexes),
    st.sampled_from("SNB"),
    st.sampled_from("SNB"),
    st.sampled_from(LOCAL),
    st.sampled_from(NARROW),
    st.sampled_from(WIDE),
)


@cache
def stories(sort_type: str, local_type: str, *, misfits: int = 3) -> Stories:
    """The stories of every schema with these key types, built once because that takes long."""
    return Stories({"pk": "S", "sk": sort_type, "g": "S", "h": "N", "l": local_type}, misfits=misfits)


class Stories:
    """The writes that can be drawn for one schema. `misfits` is how often (in 100) an index key is of a wrong kind."""

    def __init__(self, types: dict[str, str], *, misfits: int) -> None:
        self.types = types
        few = st.sampled_from(KEY_CONTENTS[types["sk"]][:2]).map(lambda content: {types["sk"]: content})
        crowded = st.fixed_dictionaries({"pk": st.just({"S": PARTITIONS[0]}), "sk": few})
        spread = st.fixed_dictionaries(
            {"pk": st.sampled_from(PARTITIONS).map(lambda text: {"S": text}), "sk": scalars(types["sk"])}
        )
        self.keys = st.one_of(crowded, crowded, spread)  # most writes meet an item that is there
        index_keys = {name: self._mostly(scalars(types[name]), misfits) for name in ("g", "h", "l")}
        self.attributes: dict[str, st.SearchStrategy[Value]] = {
            **index_keys,
            "n": self._mostly(NUMBERS.map(lambda text: {"N": text})),
            "s": self._mostly(sets()),
            "d": self._mostly(MAPS),
            "e": self._mostly(LISTS),
            "t": self._mostly(TEXTS.map(lambda text: {"S": text})),
        }
        some = st.fixed_dictionaries({}, optional=self.attributes)
        others = {name: values for name, values in self.attributes.items() if name not in index_keys}
        usual = st.fixed_dictionaries(index_keys, optional=others)  # found in every index
        self.items = st.tuples(self.keys, some | usual, st.randoms(use_true_random=False)).map(_shuffled)

    @staticmethod
    def _mostly(usual: st.SearchStrategy[Value], misfits: int = 10) -> st.SearchStrategy[Value]:
        return st.integers(0, 99).flatmap(lambda chance: VALUES if chance > 99 - misfits else usual)

    @cached_property
    def paths(self) -> st.SearchStrategy[Path]:
        nested: list[Path] = [("d", "x"), ("d", "y"), ("d", "x", "y"), ("d", "x", 0), ("e", 0), ("e", 1), ("e", 5)]
        nested += [("e", 0, "x"), ("e", 2), ("e", 6), ("e", 1, 0)]
        return st.one_of(st.sampled_from([(name,) for name in self.attributes]), st.sampled_from(nested))

    def operand_values(self, path: Path) -> st.SearchStrategy[Value]:
        """Constants that have a chance to be what is found there."""
        return VALUES if len(path) > 1 else self.attributes[str(path[0])]

    @cached_property
    def conditions(self) -> st.SearchStrategy[Tree]:
        leaves = (self.paths | st.sampled_from([("pk",), ("sk",)])).flatmap(self._leaf)
        return st.recursive(
            leaves,
            lambda inner: st.one_of(
                st.tuples(st.just("not"), inner), st.tuples(st.sampled_from(["and", "or"]), inner, inner)
            ),
            max_leaves=3,
        )

    @cache  # noqa: B019 - stories live as long as the tests
    def _leaf(self, path: Path) -> st.SearchStrategy[Tree]:
        here = st.just(path)
        signs = st.sampled_from(["<", "<=", ">", ">="])
        kind = self.types.get(str(path[0]), "N")
        ordered = scalars(kind)
        values = scalars(kind) if path in (("pk",), ("sk",)) else self.operand_values(path)
        return st.one_of(
            st.tuples(st.sampled_from(["exists", "not_exists"]), here),
            st.tuples(st.just("type"), here, st.sampled_from(["S", "N", "B", "SS", "L", "M", "NULL"])),
            st.tuples(st.just("compare"), st.sampled_from(["=", "<>"]), here, values),
            st.tuples(st.just("compare"), signs, here, ordered),
            st.tuples(st.just("begins_with"), here, scalars("S") | scalars("B")),
            st.tuples(st.just("contains"), here, VALUES),
            st.tuples(st.just("in"), here, st.lists(values, min_size=1, max_size=3)),
            st.tuples(st.just("size"), st.sampled_from(["=", "<", ">="]), here, st.integers(0, 3)),
            st.tuples(ordered, ordered).map(lambda pair: ("between", path, *sorted(pair, key=_order))),
        )

    @cached_property
    def updates(self) -> st.SearchStrategy[list[Tree]]:
        return (
            st.lists(self.paths, min_size=1, max_size=4)
            .map(_apart)
            .flatmap(lambda paths: st.tuples(*(self._action(path) for path in paths)).map(list))
        )

    @cache  # noqa: B019
    def _action(self, path: Path) -> st.SearchStrategy[Tree]:
        here = st.just(path)
        addable = NUMBERS.map(lambda text: {"N": text}) | sets()
        return st.one_of(
            st.tuples(st.just("set"), here, self._operands(path)),
            st.tuples(st.just("set"), here, self.operand_values(path).map(lambda value: ("value", value))),
            st.tuples(st.just("remove"), here),
            st.tuples(st.just("add"), here, addable),
            st.tuples(st.just("delete"), here, sets()),
        )

    def _operands(self, path: Path) -> st.SearchStrategy[Tree]:
        stored = st.tuples(st.just("path"), self.paths | st.just(path))
        numbers = NUMBERS.map(lambda text: ("value", {"N": text}))
        lists = LISTS.map(lambda value: ("value", value))
        default = st.tuples(st.just("default"), self.paths | st.just(path), numbers)
        return st.one_of(
            stored,
            default,
            st.tuples(st.sampled_from(["plus", "minus"]), stored | numbers | default, stored | numbers),
            st.tuples(st.just("append"), stored | lists, stored | lists),
        )

    @cached_property
    def single_writes(self) -> st.SearchStrategy[Tree]:
        condition = st.none() | self.conditions
        return st.one_of(
            st.tuples(st.just("put"), self.items, condition),
            st.tuples(st.just("put"), self.items, st.none()),
            st.tuples(st.just("update"), self.keys, st.none() | self.updates, condition),
            st.tuples(st.just("update"), self.keys, self.updates, st.none()),
            st.tuples(st.just("delete"), self.keys, condition),
        )

    @cached_property
    def writes(self) -> st.SearchStrategy[Tree]:
        element = st.one_of(
            st.tuples(st.just("put"), self.items, st.none()), st.tuples(st.just("delete"), self.keys, st.none())
        )
        check = st.tuples(st.just("check"), self.keys, self.conditions)
        batch = st.lists(element, min_size=1, max_size=8).map(lambda parts: ("batch", parts))
        transaction = st.tuples(
            st.just("transact"),
            st.lists(self.single_writes | check, min_size=1, max_size=4),
            st.sampled_from([None, None, "token"]),
        )
        return st.one_of(self.single_writes, self.single_writes, batch, transaction)


def _shuffled(drawn: tuple[Attributes, Attributes, Any]) -> Attributes:
    """An item whose attributes come in any order, which must not matter."""
    key, attributes, random = drawn
    pairs = [*key.items(), *attributes.items()]
    random.shuffle(pairs)
    return dict(pairs)


def _order(value: Value) -> Any:
    return comparable(normal(value))


def _apart(paths: list[Path]) -> list[Path]:
    """Those paths that neither overlap with nor contradict an earlier one."""
    kept: list[Path] = []
    for path in paths:
        if all(_are_apart(path, other) for other in kept):
            kept.append(path)
    return kept


def _are_apart(a: Path, b: Path) -> bool:
    for left, right in zip(a, b, strict=False):
        if left != right:
            return type(left) is type(right)
    return False

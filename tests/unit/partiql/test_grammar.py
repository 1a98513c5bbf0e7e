"""The grammar as data: statements that are understood, and the exact complaint about those that are not."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ClientError, ValidationException, Wording
from hashrange.partiql import prepare

CASES = Path(__file__).parents[2] / "cases" / "partiql"
STATEMENT_LENGTH_MAX = 8192


def cases(topic: str) -> list[Any]:
    loaded = json.loads((CASES / f"{topic}.json").read_text())
    texts = (case if isinstance(case, str) else case["statement"] for case in loaded)
    return [
        pytest.param(case, id=f"{number} {text}"[:80])
        for number, (case, text) in enumerate(zip(loaded, texts, strict=True))
    ]


@pytest.mark.parametrize("case", cases("refused"))
def test_a_statement_is_refused_with_these_words(case: Any) -> None:
    with pytest.raises(ValidationException) as caught:
        prepare(case["statement"], case.get("parameters"))
    assert caught.value.text(Wording.NEWER, envelope=False) == case["message"]


@pytest.mark.parametrize("text", cases("accepted"))
def test_a_statement_is_understood(text: str) -> None:
    prepare(text, parameters_of(text))


def parameters_of(text: str) -> list[Any]:
    """A value for each parameter that suits where it stands."""
    value = {"M": {}} if text.endswith("?") else {"NS": ["1"]} if "set_delete" in text else {"S": "x"}
    return [value] * text.count("?")


@pytest.mark.parametrize("text", cases("accepted"))
def test_keywords_and_functions_may_be_written_in_any_case(text: str) -> None:
    prepare(text.lower(), parameters_of(text))
    prepare(text.upper(), parameters_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t WHERE " + "(" * STATEMENT_LENGTH_MAX,
        "SELECT * FROM t WHERE " + "NOT " * 2000 + "a = 1",
        "SELECT * FROM t WHERE " + "(a = 1 AND " * 700,
        "SELECT * FROM t WHERE a = " + "1 + " * 2000 + "1",
        "UPDATE t SET a = " + "1-" * 4000 + "1 WHERE pk = 1",
        "UPDATE t SET a = " + "if_not_exists(a, " * 400 + "1" + ")" * 400,
        "INSERT INTO t VALUE {'a': " + "[" * STATEMENT_LENGTH_MAX,
        "INSERT INTO t VALUE " + "{'a': " * 1300,
        "INSERT INTO t VALUE {'a': " + "<<" * 4000,
        "/*" * 4000,
        "'" * 8191,
        '"' * 8191,
        "SELECT a" + ".a" * 4000 + " FROM t",
    ],
)
def test_nothing_a_client_nests_exhausts_the_stack(text: str) -> None:
    with pytest.raises(ValidationException):
        prepare(text[:STATEMENT_LENGTH_MAX], None)


TEXT = (
    "SELECT * FROM t WHERE ORDER BY DESC INSERT INTO VALUE UPDATE SET REMOVE DELETE RETURNING ALL OLD AND OR NOT IN "
    "BETWEEN IS NULL MISSING a b.c 'str' 1 -2.5 ( ) [ ] { } << >> , . : = <> < + - size( contains( list_append( "
    "set_add( attribute_type( EXISTS( foo( TRUE LIKE 'k':1 l[0] pk sk"
)
WORDS = TEXT.split()
BEGINNINGS = (
    "SELECT * FROM t WHERE",
    "UPDATE t SET a =",
    "INSERT INTO t VALUE {'a':",
    "SELECT",
    "DELETE FROM t WHERE",
    "",
)


@pytest.mark.parametrize("seed", range(20))
def test_any_words_in_any_order_are_understood_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        words = [chance.choice(BEGINNINGS), *chance.choices(WORDS, k=chance.randint(1, 12))]
        with contextlib.suppress(ClientError):
            prepare(" ".join(words), None)

"""docs/keyspace.md and the docstring of engine/keyspace.py are the map of the disk, and the map is complete."""

from __future__ import annotations

import doctest
import re

from architecture.source import DOCS
from hashrange.cli.manual import docstring
from hashrange.engine import keyspace

PAGE = (DOCS / "keyspace.md").read_text(encoding="utf-8")
WHAT_IS_COUNTED = ("ITEMS", "BYTES")  # the last byte of a counter's key, not the first byte of any


def kinds() -> dict[str, str]:
    """The constants that say what kind of entry a key is, with the byte that each stands for."""
    return {
        name: value.decode()
        for name, value in vars(keyspace).items()
        if name.isupper() and isinstance(value, bytes) and len(value) == 1 and name not in WHAT_IS_COUNTED
    }


def test_every_kind_of_key_has_a_byte_of_its_own() -> None:
    assert len(set(kinds().values())) == len(kinds())


def test_the_docstring_lists_every_kind_of_key() -> None:
    assert re.findall(r"^    (\w)  ", docstring(keyspace), re.MULTILINE) == sorted(kinds().values())


def test_the_page_lists_every_kind_of_key() -> None:
    rows = re.findall(r"^\| `(\w)` \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert {constant: byte for byte, constant in rows} == kinds()


def test_the_page_calls_every_function_that_builds_a_key() -> None:
    builders = [name for name in vars(keyspace) if name.endswith(("_key", "_prefix")) and not name.startswith("_")]
    assert [name for name in builders if f"keyspace.{name}(" not in PAGE] == []


def test_the_examples_are_true() -> None:
    # The fence that closes a block would be taken for output.
    examples = doctest.DocTestParser().get_doctest(PAGE.replace("```", ""), {}, "keyspace.md", "keyspace.md", 0)
    assert examples.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert "".join(report) == ""

"""Wildcards mean what a simple definition says, and cost little whatever is held against them."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from hashrange.auth.policy.wildcard import Pattern, parts_of


def oracle(pattern: str, text: str) -> bool:
    """The definition, character by character: all prefixes of the text that the pattern so far can be."""
    reached = {0}
    for character in pattern:
        if character == "*":
            reached = set(range(min(reached, default=len(text) + 1), len(text) + 1))
        else:
            reached = {end + 1 for end in reached if end < len(text) and character in ("?", text[end])}
    return len(text) in reached


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=16))
def test_a_pattern_matches_what_its_definition_says(pattern: str, text: str) -> None:
    assert Pattern(parts_of(pattern)).matches(text) is oracle(pattern, text)


@given(st.text(max_size=30))
def test_a_text_without_wildcards_matches_itself_only(text: str) -> None:
    plain = text.replace("*", "").replace("?", "")
    assert Pattern(parts_of(plain)).matches(plain)
    assert not Pattern(parts_of(plain)).matches(plain + "x")


def test_hostile_patterns_are_matched_quickly() -> None:
    text = "a" * 60_000
    patterns = [
        "*a" * 10_000 + "b",
        "*" + "a" * 10_000 + "b*",
        "*" + "a?" * 5_000 + "b*",
        "*".join(["a?a"] * 5_000) + "*b",
    ]
    started = time.perf_counter()
    assert not any(Pattern(parts_of(pattern)).matches(text) for pattern in patterns)
    assert time.perf_counter() - started < 2.0

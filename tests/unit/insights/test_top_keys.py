"""The sketch that finds the heaviest keys keeps what its docstring promises."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hashrange.insights.top_keys import KEYS_KEPT, KEYS_MERGED, TopKeys
from hashrange.insights.window import Window

KEPT = 4

streams = st.lists(st.tuples(st.integers(0, 30).map(lambda n: f"key {n}"), st.integers(1, 50)), max_size=300)


def sketch_of(stream: list[tuple[str, int]]) -> TopKeys:
    sketch = TopKeys(KEPT)
    for key, weight in stream:
        sketch.add(key, weight)
    return sketch


def exact(*streams: list[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for key, weight in itertools.chain(*streams):
        counts[key] += weight
    return counts


def assert_promise_is_kept(sketch: TopKeys, truth: Counter[str]) -> None:
    assert sketch.total == truth.total()
    assert sketch.forgotten <= truth.total() / (KEPT + 1)
    assert len(sketch.counts) <= 2 * KEPT
    for key, weight in truth.items():
        assert weight - sketch.forgotten <= sketch.counts.get(key, 0) <= weight
    assert set(sketch.counts) <= set(truth)


@given(streams)
def test_every_count_is_within_the_error_bound(stream: list[tuple[str, int]]) -> None:
    assert_promise_is_kept(sketch_of(stream), exact(stream))


@given(streams, streams, streams)
def test_the_bound_survives_merging_in_any_shape(
    one: list[tuple[str, int]], two: list[tuple[str, int]], three: list[tuple[str, int]]
) -> None:
    sketch = sketch_of(one)
    inner = sketch_of(two)
    inner.merge(sketch_of(three))
    sketch.merge(inner)
    assert_promise_is_kept(sketch, exact(one, two, three))


@given(streams)
def test_a_key_with_more_than_its_share_is_never_lost(stream: list[tuple[str, int]]) -> None:
    truth = exact(stream)
    heavy = {key for key, weight in truth.items() if weight > truth.total() / (KEPT + 1)}
    assert heavy <= set(sketch_of(stream).counts)


def test_few_keys_are_counted_exactly() -> None:
    sketch = TopKeys()
    for number in range(2 * KEYS_KEPT):
        sketch.add(str(number), 1.0)
    assert (len(sketch.counts), sketch.forgotten) == (2 * KEYS_KEPT, 0.0)


def test_zipf_traffic_shows_its_real_top_ten() -> None:
    """A hundred thousand requests for ten thousand keys, over three processes and twenty minutes."""
    chance = random.Random(7)
    keys = [f"user {number}" for number in range(10_000)]
    drawn = chance.choices(keys, weights=[1 / rank for rank in range(1, len(keys) + 1)], k=100_000)
    pieces = [TopKeys() for _ in range(60)]
    for number, key in enumerate(drawn):
        pieces[number * len(pieces) // len(drawn)].add(key, 1.0)
    together = TopKeys(KEYS_MERGED)
    for piece in pieces:
        together.merge(piece)
    found = together.top(10)
    truth = Counter(drawn).most_common(10)
    assert [key for key, _ in found] == [key for key, _ in truth]


def test_a_window_is_the_same_after_it_was_stored() -> None:
    window = Window()
    for number in range(3 * KEYS_KEPT):
        window.add(f"key {number % 300} é\n", 0.5 + number % 3)
    loaded = Window.load(window.dump())
    assert (loaded.observations, loaded.minimum, loaded.maximum) == (3 * KEYS_KEPT, 0.5, 2.5)
    assert (loaded.keys.counts, loaded.keys.total, loaded.keys.forgotten) == (
        window.keys.counts,
        window.keys.total,
        window.keys.forgotten,
    )

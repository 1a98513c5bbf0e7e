"""Statistics add up in any order, and percentiles are right to a few per cent."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.metrics.statistic import Statistic, bucket_of, distribution

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=50)


@given(VALUES, VALUES)
def test_the_statistic_of_two_lists_is_the_sum_of_theirs(one: list[float], other: list[float]) -> None:
    together = Statistic.distributed(one + other)
    added = Statistic.distributed(one)
    added.add(Statistic.distributed(other))
    assert (added.count, added.minimum, added.maximum) == (together.count, together.minimum, together.maximum)
    assert math.isclose(added.sum, together.sum, abs_tol=1e-6)
    assert added.buckets == together.buckets


@given(VALUES)
def test_what_is_stored_is_what_is_loaded(values: list[float]) -> None:
    for statistic in (Statistic.of(values), Statistic.distributed(values)):
        assert Statistic.load(statistic.dump()) == statistic


@given(VALUES)
def test_looking_for_bounds_finds_the_same_buckets_as_looking_at_values(values: list[float]) -> None:
    found = distribution(sorted(values))
    assert sum(found.values()) == len(values)
    for bucket, count in found.items():
        assert abs(count - sum(1 for value in values if bucket_of(value) == bucket)) <= sum(
            1 for value in values if math.isclose(bucket_of(value) - bucket, 0, abs_tol=1)
        )


@pytest.mark.parametrize("percent", [50, 90, 99, 99.9])
def test_percentiles_are_right_to_six_per_cent(percent: float) -> None:
    chance = random.Random(7)
    values = sorted(chance.lognormvariate(0, 2) for _ in range(20_000))
    exact = values[math.ceil(len(values) * percent / 100) - 1]
    found = Statistic.distributed(values).percentile(percent)
    assert found == pytest.approx(exact, rel=0.06)


def test_the_percentile_of_one_value_is_that_value() -> None:
    assert Statistic.distributed([12.5]).percentile(99) == 12.5


def test_percentiles_are_unknown_where_nobody_kept_them() -> None:
    assert Statistic.of([1.0, 2.0]).percentile(50) is None
    assert Statistic.distributed([-1.0, 2.0]).percentile(50) is None


def test_percentiles_are_unknown_where_some_values_were_given_as_sums() -> None:
    statistic = Statistic.distributed([1.0, 2.0, 3.0])
    statistic.add(Statistic(10, 100.0, 1.0, 50.0))
    assert statistic.percentile(50) is None

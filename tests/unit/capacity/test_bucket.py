"""Credit: five minutes of it, filled every second."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hashrange.capacity.bucket import BURST_SECONDS, Bucket, Minute


def test_a_new_bucket_holds_exactly_five_minutes() -> None:
    assert Bucket(10, BURST_SECONDS, second=0).level(0, 0.0) == 3000


def test_what_flows_in_above_five_minutes_is_lost() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    assert bucket.level(100, 0.0) == 3000
    assert bucket.level(100, 40.0) == 2960
    assert bucket.level(101, 40.0) == 2970
    assert bucket.level(10_000, 40.0) == 3000


def test_a_debt_is_paid_by_the_following_seconds() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    assert bucket.level(0, 3025.0) == -25
    assert bucket.level(2, 3025.0) == -5
    assert bucket.level(3, 3025.0) == 5


def test_more_capacity_is_there_at_once_and_less_takes_credit_away() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.level(0, 3000.0)
    bucket.resize(25)
    assert bucket.level(0, 3000.0) == 15
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.resize(1)
    assert bucket.level(0, 0.0) == 300


def test_a_clock_that_is_set_back_does_not_stop_the_flow() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=1000)
    assert bucket.level(1000, 3000.0) == 0
    assert bucket.level(10, 3000.0) == 0
    assert bucket.level(11, 3000.0) == 10


def test_a_bucket_made_later_remembers_the_minutes_before() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.replay([Minute(0.0), Minute(1800.0), Minute(600.0)])  # 3000, 1800, 1800
    assert bucket.level(0, 0.0) == 1800


def test_the_minute_that_is_not_over_has_brought_only_its_part() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.replay([Minute(0.0), Minute(3000.0, seconds=20)])
    assert bucket.level(0, 0.0) == 200


def test_a_minute_in_which_somebody_was_refused_left_nothing() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.replay([Minute(600.0, throttled=True), Minute(100.0)])
    assert bucket.level(0, 0.0) == 500


def test_a_bucket_made_later_begins_without_debt() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.replay([Minute(1_000_000.0, seconds=30)])
    assert bucket.level(0, 0.0) == 0


def test_looking_at_a_bucket_changes_nothing() -> None:
    bucket = Bucket(10, BURST_SECONDS, second=0)
    bucket.level(0, 100.0)
    assert bucket.at(5, 200.0) == 2850
    assert bucket.at(5, 200.0) == 2850
    assert bucket.level(0, 100.0) == 2900


@given(
    rate=st.integers(1, 100),
    demands=st.lists(st.tuples(st.integers(0, 20), st.floats(0.5, 400)), min_size=1, max_size=200),
)
def test_no_more_is_let_in_than_flowed_in_but_for_the_last_request(rate: int, demands: list[tuple[int, float]]) -> None:
    bucket = Bucket(rate, BURST_SECONDS, second=0)
    used, second, largest = 0.0, 0, 0.0
    for pause, units in demands:
        second += pause
        if bucket.level(second, used) > 0:
            used += units
            largest = max(largest, units)
    assert used <= rate * (BURST_SECONDS + second) + largest

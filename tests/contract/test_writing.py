"""What every store promises about plans."""

from __future__ import annotations

import threading

import pytest

from hashrange.storage import Plan, Result, Snapshot, Store, Unavailable, write_and_wait


class Refused(Exception):
    pass


def number(value: bytes | None) -> int:
    return int.from_bytes(value or b"", "little", signed=True)


def read(store: Store, key: bytes) -> bytes | None:
    with store.read() as snapshot:
        return snapshot.get(key)


def increment(snapshot: Snapshot) -> Plan:
    value = number(snapshot.get(b"count")) + 1
    return Plan([(b"count", value.to_bytes(8, "little"))], answer=value)


def refuse(snapshot: Snapshot) -> Plan:
    raise Refused


def test_a_plan_answers_what_it_decided(store: Store) -> None:
    assert write_and_wait(store, lambda snapshot: Plan(answer="yes")) == "yes"


def test_mutations_apply_in_order(store: Store) -> None:
    write_and_wait(store, lambda _: Plan([(b"a", b"1"), (b"a", None), (b"b", None), (b"b", b"2"), (b"b", b"3")]))
    assert read(store, b"a") is None
    assert read(store, b"b") == b"3"


def test_a_plan_that_raises_leaves_no_trace(store: Store) -> None:
    write_and_wait(store, lambda _: Plan([(b"a", b"1")]))
    with pytest.raises(Refused):
        write_and_wait(store, refuse)
    assert read(store, b"a") == b"1"


def test_a_plan_with_a_key_that_is_not_allowed_leaves_no_trace(store: Store) -> None:
    for wrong in (b"\xffmine", b""):
        with pytest.raises((AssertionError, IndexError)):
            write_and_wait(store, lambda _, wrong=wrong: Plan([(b"a", b"1"), (wrong, b"1")]))
    assert read(store, b"a") is None


def test_a_plan_that_raises_does_not_disturb_the_others(store: Store) -> None:
    results: list[Result] = []
    for plan in (increment, refuse, increment, refuse, increment):
        store.write(plan, results.append)
    write_and_wait(store, lambda _: Plan())
    assert [result.answer for result in results] == [1, None, 2, None, 3]
    assert [type(result.error) for result in results] == [type(None), Refused, type(None), Refused, type(None)]


def test_plans_see_what_earlier_plans_wrote(store: Store) -> None:
    results: list[Result] = []
    for _ in range(50):
        store.write(increment, results.append)
    assert write_and_wait(store, increment) == 51
    assert [result.answer for result in results] == list(range(1, 51))


def test_an_error_is_delivered_after_the_commit_of_what_caused_it(store: Store) -> None:
    """Whoever hears of the failure finds its cause in the store."""
    seen: list[bytes | None] = []
    finished = threading.Event()

    def refuse_if_there(snapshot: Snapshot) -> Plan:
        if snapshot.get(b"a"):
            raise Refused
        return Plan()

    def done(result: Result) -> None:
        assert isinstance(result.error, Refused)
        seen.append(read(store, b"a"))
        finished.set()

    store.write(lambda _: Plan([(b"a", b"1")]), lambda result: None)
    store.write(refuse_if_there, done)
    assert finished.wait(10)
    assert seen == [b"1"]


def test_a_finished_plan_is_visible_when_it_is_answered(store: Store) -> None:
    seen: list[bytes | None] = []
    store.write(lambda _: Plan([(b"a", b"1")]), lambda result: seen.append(read(store, b"a")))
    write_and_wait(store, lambda _: Plan())
    assert seen == [b"1"]


def test_a_plan_can_be_submitted_when_another_is_answered(store: Store) -> None:
    finished = threading.Event()
    answers: list[int] = []

    def done(result: Result) -> None:
        answers.append(result.unwrap())
        if len(answers) == 20:
            finished.set()
        else:
            store.write(increment, done)

    store.write(increment, done)
    assert finished.wait(10)
    assert answers == list(range(1, 21))


def test_adds_count_from_zero_and_below(store: Store) -> None:
    long = b"counter" * 200
    for amount in (5, -7, -(2**40)):
        store.write(lambda _, amount=amount: Plan(adds=[(b"c", amount), (b"c", 1), (long, 1)]), lambda result: None)
    write_and_wait(store, lambda _: Plan())
    assert number(read(store, b"c")) == 1 - 2**40
    assert number(read(store, long)) == 3
    assert len(read(store, b"c") or b"") == 8


def test_adds_come_after_the_mutations_of_their_plan_and_before_those_of_later_plans(store: Store) -> None:
    ten = (10).to_bytes(8, "little")
    store.write(lambda _: Plan([(b"a", ten), (b"b", None)], adds=[(b"a", 1), (b"b", 1), (b"c", 1)]), lambda _: None)
    store.write(lambda _: Plan([(b"b", None), (b"c", ten)]), lambda _: None)
    store.write(lambda _: Plan(adds=[(b"c", 2)]), lambda _: None)
    write_and_wait(store, lambda _: Plan())
    assert number(read(store, b"a")) == 11
    assert read(store, b"b") is None
    assert number(read(store, b"c")) == 12


def test_a_plan_that_raises_adds_nothing(store: Store) -> None:
    def plan(snapshot: Snapshot) -> Plan:
        Plan(adds=[(b"c", 1)])
        raise Refused

    with pytest.raises(Refused):
        write_and_wait(store, plan)
    assert read(store, b"c") is None


def test_writers_in_several_threads_take_turns(store: Store) -> None:
    def write() -> None:
        for _ in range(40):
            write_and_wait(store, increment)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number(read(store, b"count")) == 160


def test_readers_and_a_writer_in_different_threads_see_whole_plans(store: Store) -> None:
    torn: list[list[bytes | None]] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            with store.read() as snapshot:
                pair = snapshot.get_many([b"a", b"b" * 600])
            if pair[0] != pair[1]:
                torn.append(pair)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for turn in range(60):
        value = b"%d" % turn
        write_and_wait(store, lambda _, value=value: Plan([(b"a", value), (b"b" * 600, value)]))
    stop.set()
    watcher.join()
    assert torn == []


def test_closing_finishes_what_was_accepted(store: Store) -> None:
    results: list[Result] = []
    for _ in range(300):
        store.write(increment, results.append)
    store.close()
    assert [result.answer for result in results] == list(range(1, 301))
    refused: list[Result] = []
    store.write(increment, refused.append)
    assert isinstance(refused[0].error, Unavailable)
    store.close()

"""What every store promises about reading."""

from __future__ import annotations

import pytest

from hashrange.storage import Plan, Snapshot, Store, write_and_wait

LONG = b"h" * 480


def put(store: Store, *entries: tuple[bytes, bytes | None]) -> None:
    write_and_wait(store, lambda snapshot: Plan(list(entries)))


def keys(store: Store, start: bytes, end: bytes, **how: object) -> list[bytes]:
    with store.read() as snapshot:
        return [key for key, _ in snapshot.scan(start, end, **how)]  # type: ignore[arg-type]


def test_what_was_put_is_read(store: Store) -> None:
    put(store, (b"a", b"1"), (b"b", b""))
    with store.read() as snapshot:
        assert snapshot.get(b"a") == b"1"
        assert snapshot.get(b"b") == b""
        assert snapshot.get(b"c") is None


def test_a_put_replaces_and_a_delete_removes(store: Store) -> None:
    put(store, (b"a", b"1"), (b"b", b"1"))
    put(store, (b"a", b"2"), (b"b", None), (b"never there", None))
    with store.read() as snapshot:
        assert snapshot.get_many([b"b", b"a", b"b"]) == [None, b"2", None]


def test_a_value_can_be_larger_than_an_item(store: Store) -> None:
    put(store, (b"a", b"x" * 3_000_000))
    with store.read() as snapshot:
        assert snapshot.get(b"a") == b"x" * 3_000_000


def test_a_scan_is_in_byte_order(store: Store) -> None:
    unordered = [b"b", b"a\x00", b"\x00", b"a", b"\xfe\xff", b"ab", b"a\xff"]
    put(store, *((key, key) for key in unordered))
    assert keys(store, b"", b"\xff") == sorted(unordered)
    assert keys(store, b"", b"\xff", reverse=True) == sorted(unordered, reverse=True)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (b"b", b"d", [b"b", b"c"]),
        (b"bb", b"dd", [b"c", b"d"]),
        (b"", b"b", [b"a"]),
        (b"d", b"\xff", [b"d", b"e"]),
        (b"b", b"b", []),
        (b"d", b"b", []),
        (b"x", b"y", []),
        (b"", b"", []),
    ],
)
def test_a_scan_includes_its_start_and_excludes_its_end(
    store: Store, start: bytes, end: bytes, expected: list[bytes]
) -> None:
    put(store, *((bytes([letter]), b"") for letter in b"abcde"))
    assert keys(store, start, end) == expected
    assert keys(store, start, end, reverse=True) == expected[::-1]


def test_a_limit_counts_from_where_the_scan_begins(store: Store) -> None:
    put(store, *((bytes([letter]), b"") for letter in b"abcde"))
    assert keys(store, b"b", b"\xff", limit=2) == [b"b", b"c"]
    assert keys(store, b"b", b"e", limit=2, reverse=True) == [b"d", b"c"]
    assert keys(store, b"b", b"e", limit=0) == []
    assert keys(store, b"b", b"e", limit=9) == [b"b", b"c", b"d"]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 600])
def test_the_first_values_of_a_range_are_those_that_a_scan_meets_first(
    store: Store, length: int, *, reverse: bool
) -> None:
    ordered = [bytes([letter]) * length for letter in b"abcde"]
    put(store, *((key, b"value of " + key) for key in ordered))
    for start in (b"", ordered[1], ordered[3]):
        for end in (ordered[1], ordered[4], b"\xff"):
            for count in (1, 2, 5, 9):
                with store.read() as snapshot:
                    entries = list(snapshot.scan(start, end, reverse=reverse, limit=count))
                    values, last = snapshot.first_values(start, end, count, reverse=reverse)
                assert values == [value for _, value in entries]
                assert last == (entries[-1][0] if entries else b"")


def test_an_empty_store_has_nothing_to_scan(store: Store) -> None:
    assert keys(store, b"", b"\xff\xff\xff") == []
    assert keys(store, b"", b"\xff\xff\xff", reverse=True) == []


def test_a_scan_never_meets_the_records_of_the_store_itself(store: Store) -> None:
    put(store, (b"a", b""), (b"b" * 3000, b""))
    assert keys(store, b"", b"\xff" * 600) == [b"a", b"b" * 3000]
    assert keys(store, b"", b"\xff" * 600, reverse=True) == [b"b" * 3000, b"a"]


def test_long_keys_sort_between_their_neighbours(store: Store) -> None:
    ordered = [
        LONG[:-1],
        LONG,
        LONG + b"\x00",
        LONG + b"\x00\x00",
        LONG + b"\x01",
        LONG + b"h" * 463,
        LONG + b"h" * 464,
        LONG + b"h" * 2000,
        LONG + b"i",
        LONG + b"\xff" * 600,
        LONG[:-1] + b"i",
    ]
    put(store, *((key, key[-1:]) for key in reversed(ordered)))
    assert keys(store, b"", b"\xff") == ordered
    assert keys(store, b"", b"\xff", reverse=True) == ordered[::-1]
    for low, start in enumerate(ordered):
        for high, end in enumerate(ordered):
            assert keys(store, start, end) == ordered[low:high]
            assert keys(store, start, end, reverse=True) == ordered[low:high][::-1]
    with store.read() as snapshot:
        assert snapshot.get_many(ordered) == [key[-1:] for key in ordered]


def test_deleting_a_long_key_leaves_its_neighbours(store: Store) -> None:
    family = [LONG + b"h" * length for length in (0, 1, 463, 464, 1000)]
    put(store, *((key, b"") for key in family))
    for key in list(family):
        put(store, (key, None), (key + b"never there", None))
        family.remove(key)
        assert keys(store, b"", b"\xff") == family


def test_a_snapshot_does_not_see_what_is_written_while_it_is_open(store: Store) -> None:
    put(store, (b"a", b"old"))
    finished: list[object] = []
    with store.read() as snapshot:
        scan = snapshot.scan(b"", b"\xff")
        store.write(lambda _: Plan([(b"a", b"new"), (b"b", b"new")]), finished.append)
        assert snapshot.get(b"a") == b"old"
        assert list(scan) == [(b"a", b"old")]
    write_and_wait(store, lambda _: Plan())
    assert len(finished) == 1
    with store.read() as snapshot:
        assert list(snapshot.scan(b"", b"\xff")) == [(b"a", b"new"), (b"b", b"new")]


def test_snapshots_can_be_nested(store: Store) -> None:
    put(store, (b"a", b"1"))
    with store.read() as outer:
        with store.read() as inner:
            assert inner.get(b"a") == b"1"
        assert outer.get(b"a") == b"1"
    put(store, (b"a", b"2"))


def test_an_error_inside_a_snapshot_closes_it(store: Store) -> None:
    def read_and_fail() -> None:
        with store.read() as snapshot:
            snapshot.get(b"a")
            raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        read_and_fail()
    put(store, (b"a", b"1"))


def test_a_plan_can_scan(store: Store) -> None:
    put(store, (b"a", b"1"), (b"b", b"2"))

    def plan(snapshot: Snapshot) -> Plan:
        return Plan(answer=list(snapshot.scan(b"", b"\xff", reverse=True, limit=1)))

    assert write_and_wait(store, plan) == [(b"b", b"2")]

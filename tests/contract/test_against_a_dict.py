"""Every store against a plain dict, with keys of 1 to 5,000 bytes that share long beginnings."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hashrange.storage import LmdbStore, Plan, Store, write_and_wait

BYTES = st.sampled_from([b"\x00", b"\x01", b"a", b"\xfe", b"\xff"])
LENGTHS = st.one_of(
    st.integers(0, 3), st.sampled_from([462, 463, 464, 479, 480, 481, 482, 942, 943, 944, 1405, 1406, 1407, 4990])
)


@st.composite
def made_keys(draw: st.DrawFn) -> bytes:
    """A first byte that is allowed, a long run of one byte, and a short tail."""
    first = draw(st.sampled_from([b"\x00", b"a", b"\xfe"]))
    run = draw(st.sampled_from([b"\x00", b"a", b"\xff"])) * draw(LENGTHS)
    tail = b"".join(draw(st.lists(BYTES, max_size=3)))
    return first + run + tail


KEYS = made_keys()
BOUNDS = st.one_of(KEYS, st.sampled_from([b"", b"\xff", b"\xff" * 500]))
CHANGES = st.lists(st.tuples(KEYS, st.one_of(st.none(), st.binary(max_size=3))), max_size=12)
SCANS = st.lists(
    st.tuples(BOUNDS, BOUNDS, st.booleans(), st.one_of(st.none(), st.integers(0, 4))), min_size=1, max_size=8
)


def expected_scan(
    model: dict[bytes, bytes], start: bytes, end: bytes, reverse: bool, limit: int | None
) -> list[tuple[bytes, bytes]]:
    entries = sorted((item for item in model.items() if start <= item[0] < end), reverse=reverse)
    return entries[:limit]


def empty(store: Store) -> None:
    with store.read() as snapshot:
        keys = [key for key, _ in snapshot.scan(b"", b"\xff")]
    write_and_wait(store, lambda _: Plan([(key, None) for key in keys]))


def test_every_scan_and_get_agrees_with_a_dict(open_store: Callable[[], Store]) -> None:
    store = open_store()

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(groups=st.lists(CHANGES, min_size=1, max_size=3), scans=SCANS)
    def agree(
        groups: list[list[tuple[bytes, bytes | None]]], scans: list[tuple[bytes, bytes, bool, int | None]]
    ) -> None:
        model: dict[bytes, bytes] = {}
        touched: set[bytes] = set()
        empty(store)
        for changes in groups:
            write_and_wait(store, lambda _, changes=changes: Plan(list(changes)))
            for key, value in changes:
                touched.add(key)
                if value is None:
                    model.pop(key, None)
                else:
                    model[key] = value
        with store.read() as snapshot:
            assert [snapshot.get(key) for key in touched] == [model.get(key) for key in touched]
            for start, end, reverse, limit in [*scans, (b"", b"\xff", False, None)]:
                found = list(snapshot.scan(start, end, reverse=reverse, limit=limit))
                assert found == expected_scan(model, start, end, reverse, limit)
                if limit:
                    values, last = snapshot.first_values(start, end, limit, reverse=reverse)
                    assert values == [value for _, value in found]
                    assert last == (found[-1][0] if found else b"")
        if isinstance(store, LmdbStore):
            assert list(store.verify()) == []

    agree()
    empty(store)
    if isinstance(store, LmdbStore):
        assert store.stats()["records"] == 1  # every link went with the last key below it
    store.close()

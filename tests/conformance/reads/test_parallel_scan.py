"""Parallel scans: segments are disjoint and together the whole."""

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import all_items, wire

COUNT = 200


@pytest.fixture(scope="module")
def filled(create_table):
    table = create_table("pk / sk:N", local={"lsi": "pk / v"}, global_={"gsi": "v"})
    table.fill({"pk": f"p{number % 60}", "sk": number, "v": str(number % 40)} for number in range(COUNT))
    yield table
    table.delete_table()


def numbers(items):
    return [int(item["sk"]["N"]) for item in items]


@pytest.mark.parametrize("total", range(1, 8))
@pytest.mark.parametrize("index", [None, "lsi", "gsi"])
def test_segments_are_disjoint_and_complete(filled, total, index):
    request = {"TotalSegments": total} | ({"IndexName": index} if index else {})
    segments = [numbers(all_items(filled.scan, **request, Segment=number, Limit=7)) for number in range(total)]
    assert sorted(number for segment in segments for number in segment) == list(range(COUNT))
    assert sum(bool(segment) for segment in segments) == total


def test_there_may_be_far_more_segments_than_items(filled):
    found = []
    for number in range(0, 1_000_000, 250_000):
        found += numbers(filled.scan(Segment=number, TotalSegments=1_000_000)["Items"])
    assert len(found) == len(set(found))


def test_a_partition_is_in_one_segment(filled):
    for number in range(5):
        items = all_items(filled.scan, Segment=number, TotalSegments=5)
        partitions = {item["pk"]["S"] for item in items}
        assert len(items) == sum(1 for sk in range(COUNT) if f"p{sk % 60}" in partitions)


def test_a_start_key_belongs_to_its_segment(filled):
    first = filled.scan(Segment=0, TotalSegments=2, Limit=1)["LastEvaluatedKey"]
    with invalid(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
        "Segment. TotalSegments: 2 Segment: 1"
    ):
        filled.scan(Segment=1, TotalSegments=2, ExclusiveStartKey=first)


REFUSED = {
    "no total": (
        {"Segment": 0},
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    ),
    "no segment": (
        {"TotalSegments": 2},
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
    ),
    "segment too large": (
        {"Segment": 5, "TotalSegments": 5},
        "The Segment parameter is zero-based and must be less than parameter TotalSegments",
    ),
    "segment negative": (
        {"Segment": -1, "TotalSegments": 5},
        "1 validation error detected: Value at 'Segment' failed to satisfy constraint: "
        "Member must have value greater than or equal to 0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_segments_are_numbered_from_zero(filled, case):
    request, message = REFUSED[case]
    assert error_of(filled.scan, **request) == ("ValidationException", message)


def test_a_scan_goes_partition_by_partition_in_sort_order(filled):
    items = all_items(filled.scan)
    partitions = list(dict.fromkeys(item["pk"]["S"] for item in items))
    assert len(partitions) == 60
    expected = [wire(pk=pk, sk=sk, v=str(sk % 40)) for pk in partitions for sk in range(COUNT) if f"p{sk % 60}" == pk]
    assert items == expected

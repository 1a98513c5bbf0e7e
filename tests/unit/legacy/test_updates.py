"""AttributeUpdates: what becomes of the item, what ReturnValues shows, and the exact words of refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ConditionalCheckFailedException, ValidationException, Wording
from unit.legacy.server import Server, server_with_tables, told

CASES = Path(__file__).parents[2] / "cases" / "legacy" / "updates.json"
LOADED = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
KEY = {"pk": {"S": "k"}}
Case = dict[str, Any]


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_tables()


def store(server: Server, stored: Case | None) -> None:
    server.empty("plain", "pk")
    if stored is not None:
        server.put("plain", {**KEY, **stored})


def update(server: Server, updates: Case | None, **more: Any) -> Case:
    members = {} if updates is None else {"AttributeUpdates": updates}
    return server.call("UpdateItem", TableName="plain", Key=KEY, **members, **more)


@pytest.mark.parametrize("case", [pytest.param(case, id=json.dumps(case)[:100]) for case in LOADED])
def test_updates_change_the_item_or_are_refused(server: Server, case: Case) -> None:
    store(server, case["stored"])
    if "error" not in case:
        update(server, case["updates"])
        assert server.get("plain", KEY) == (None if case["after"] is None else {**KEY, **case["after"]})
        return
    before = server.get("plain", KEY)
    with pytest.raises(ValidationException) as caught:
        update(server, case["updates"])
    prefix = "" if case.get("bare") else ValidationException.ENVELOPE
    assert told(caught.value, "UpdateItem", Wording.OLDER) == case["error"]
    assert told(caught.value, "UpdateItem", Wording.NEWER) == prefix + str(case.get("newer", case["error"]))
    assert server.get("plain", KEY) == before


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=json.dumps(case)[:100]) for case in LOADED if "error" not in case]
)
def test_return_values_show_what_was_updated(server: Server, case: Case) -> None:
    for wanted in ("UPDATED_OLD", "UPDATED_NEW"):
        store(server, case["stored"])
        answer = update(server, case["updates"], ReturnValues=wanted)
        shown = case[wanted.lower()]
        assert answer == ({"Attributes": shown} if shown else {})


def test_all_old_and_all_new_show_whole_items(server: Server) -> None:
    store(server, {"a": {"N": "1"}, "b": {"S": "x"}})
    changes = {"a": {"Action": "ADD", "Value": {"N": "1"}}}
    assert update(server, changes, ReturnValues="ALL_OLD")["Attributes"] == {**KEY, "a": {"N": "1"}, "b": {"S": "x"}}
    assert update(server, changes, ReturnValues="ALL_NEW")["Attributes"] == {**KEY, "a": {"N": "3"}, "b": {"S": "x"}}


def test_a_failed_expectation_wins_over_a_type_mismatch(server: Server) -> None:
    store(server, {"a": {"S": "x"}})
    mismatch = {"a": {"Action": "ADD", "Value": {"N": "1"}}}
    with pytest.raises(ConditionalCheckFailedException):
        update(server, mismatch, Expected={"a": {"Exists": False}})


def test_an_update_that_only_expects_creates_the_item(server: Server) -> None:
    store(server, None)
    update(server, None, Expected={"pk": {"Exists": False}})
    assert server.get("plain", KEY) == KEY


def test_the_stored_item_does_not_change_under_those_who_read_it(server: Server) -> None:
    store(server, {"a": {"L": [{"S": "x"}]}})
    before = server.get("plain", KEY)
    update(server, {"a": {"Action": "ADD", "Value": {"L": [{"S": "y"}]}}})
    assert before == {**KEY, "a": {"L": [{"S": "x"}]}}


def test_an_index_key_of_the_wrong_type_is_refused(server: Server) -> None:
    key = {"artist": {"S": "Ann"}, "title": {"S": "Be"}}
    with pytest.raises(ValidationException):
        server.call("UpdateItem", TableName="songs", Key=key, AttributeUpdates={"year": {"Value": {"S": "late"}}})

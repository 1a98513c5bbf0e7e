"""What changed from one version of an item to the next."""

from __future__ import annotations

from hashrange.history.differences import Differences, differences

TEA = {"S": "tea"}
ONE, TWO = {"N": "1"}, {"N": "2"}


def test_attributes_are_added_changed_and_removed() -> None:
    found = differences({"same": TEA, "n": ONE, "gone": TEA}, {"same": TEA, "n": TWO, "new": ONE})
    assert found == Differences(added={"new": ONE}, changed={"n": (ONE, TWO)}, removed={"gone": TEA})


def test_no_item_has_no_attributes() -> None:
    assert differences(None, {"n": ONE}) == Differences(added={"n": ONE})
    assert differences({"n": ONE}, None) == Differences(removed={"n": ONE})
    assert differences(None, None) == Differences()


def test_maps_are_compared_inside() -> None:
    old = {"address": {"M": {"city": TEA, "zip": ONE, "inner": {"M": {"deep": ONE}}}}}
    new = {"address": {"M": {"city": TEA, "zip": TWO, "inner": {"M": {}}, "street": TEA}}}
    assert differences(old, new) == Differences(
        added={"address.street": TEA}, changed={"address.zip": (ONE, TWO)}, removed={"address.inner.deep": ONE}
    )


def test_a_value_of_another_type_and_a_list_change_whole() -> None:
    shorter, longer = {"L": [ONE]}, {"L": [ONE, TWO]}
    found = differences({"a": {"M": {}}, "b": shorter}, {"a": TEA, "b": longer})
    assert found == Differences(changed={"a": ({"M": {}}, TEA), "b": (shorter, longer)})

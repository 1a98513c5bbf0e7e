"""What changed from one version of an item to the next, attribute by attribute, also inside maps."""

from __future__ import annotations

from dataclasses import dataclass, field

from hashrange.values.types import Attributes, AttributeValue

NOTHING: Attributes = {}


@dataclass(frozen=True, slots=True)
class Differences:
    """Values by their document path, such as `address.city`."""

    added: dict[str, AttributeValue] = field(default_factory=dict)
    changed: dict[str, tuple[AttributeValue, AttributeValue]] = field(default_factory=dict)
    removed: dict[str, AttributeValue] = field(default_factory=dict)


def differences(old: Attributes | None, new: Attributes | None) -> Differences:
    """How `old` became `new`; None stands for no item, whose attributes are all missing."""
    found = Differences()
    _compare("", old or NOTHING, new or NOTHING, found)
    return found


def _compare(prefix: str, old: Attributes, new: Attributes, found: Differences) -> None:
    for name, before in old.items():
        path = prefix + name
        if name not in new:
            found.removed[path] = before
        elif before != new[name]:
            _compare_values(path, before, new[name], found)
    for name, after in new.items():
        if name not in old:
            found.added[prefix + name] = after


def _compare_values(path: str, before: AttributeValue, after: AttributeValue, found: Differences) -> None:
    if "M" in before and "M" in after:
        _compare(f"{path}.", before["M"], after["M"], found)
    else:
        found.changed[path] = (before, after)

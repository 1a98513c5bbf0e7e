"""The price list: a TOML file that people can edit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

BUILT_IN = Path(__file__).with_name("prices.toml")

Section = TypeVar("Section", "ClassPrices", "OtherPrices")


class BadPrices(Exception):
    """A price list that is not one. The text is for people."""


@dataclass(frozen=True, slots=True)
class ClassPrices:
    """What a table class costs."""

    write_million: float
    read_million: float
    write_unit_hour: float
    read_unit_hour: float
    storage_gb_month: float


@dataclass(frozen=True, slots=True)
class OtherPrices:
    """What costs the same in every class."""

    recovery_gb_month: float
    backup_gb_month: float
    stream_reads_100k: float


@dataclass(frozen=True, slots=True)
class Prices:
    """All prices, in one currency."""

    hours_per_month: float
    standard: ClassPrices
    infrequent_access: ClassPrices
    other: OtherPrices

    @classmethod
    def parse(cls, text: str) -> Prices:
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadPrices(f"The prices are not TOML: {error}.") from None
        unknown = set(data) - {field.name for field in fields(cls)}
        if unknown:
            raise BadPrices(f"There is no such price: {', '.join(sorted(unknown))}.")
        return cls(
            hours_per_month=_number(data.get("hours_per_month"), "hours_per_month"),
            standard=_section(ClassPrices, data, "standard"),
            infrequent_access=_section(ClassPrices, data, "infrequent_access"),
            other=_section(OtherPrices, data, "other"),
        )


def _section(kind: type[Section], data: dict[str, Any], name: str) -> Section:
    given = data.get(name)
    if not isinstance(given, dict):
        raise BadPrices(f"The prices lack the section [{name}].")
    names = [field.name for field in fields(kind)]
    unknown = set(given) - set(names)
    if unknown:
        raise BadPrices(f"There is no such price: {name}.{sorted(unknown)[0]}.")
    return kind(**{each: _number(given.get(each), f"{name}.{each}") for each in names})


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise BadPrices(f"The price {name} must be a number of at least 0.")
    return float(value)

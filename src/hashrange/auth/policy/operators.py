"""The comparisons that conditions are made of.

Each operator becomes a `Comparison`: from a value that a policy gives, a test for values of the request. A value that
cannot be read as what the operator compares (a number, a time, an address) satisfies no comparison.
"""

from __future__ import annotations

import binascii
import operator
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple, TypeVar

from hashrange.auth.policy.context import Context
from hashrange.auth.policy.template import Template

Test = Callable[[str, Context], bool]
Compare = Callable[[Any, Any], bool]
Read = TypeVar("Read")

ARN_PARTS = 6
READ_CHARACTERS_MAX = 128  # no number, time or address is longer
BOOLEANS = {"true": True, "false": False}


class Comparison(NamedTuple):
    """How an operator tests a value. `is_negated`: the value may satisfy none of those that the policy gives."""

    test_of: Callable[[str, bool], Test]  # of a value in the policy, and whether it may hold variables
    is_negated: bool = False


def _text(written: str, variables: bool, *, wildcards: bool = False, folds_case: bool = False) -> Test:
    return Template(written, variables=variables, wildcards=wildcards, folds_case=folds_case).matches


def _arn(written: str, variables: bool) -> Test:
    """ARNs are compared part by part: a star does not reach beyond a colon, but in the last part."""
    if written == "*":
        return lambda value, context: value.startswith("arn:")
    parts = written.split(":", ARN_PARTS - 1) if not variables else _split_arn(written)
    if len(parts) != ARN_PARTS:
        return lambda value, context: False
    templates = [Template(part, variables=variables) for part in parts]

    def test(value: str, context: Context) -> bool:
        given = value.split(":", ARN_PARTS - 1)
        return len(given) == ARN_PARTS and all(
            template.matches(part, context) for template, part in zip(templates, given, strict=True)
        )

    return test


def _split_arn(written: str) -> list[str]:
    """The parts of an ARN; colons inside of variables are none of its own."""
    parts: list[str] = []
    start = depth = 0
    for position, character in enumerate(written):
        if character == "{" and written[position - 1 : position] == "$":
            depth += 1
        elif character == "}" and depth:
            depth -= 1
        elif character == ":" and not depth and len(parts) < ARN_PARTS - 1:
            parts.append(written[start:position])
            start = position + 1
    return [*parts, written[start:]]


def _read_as(read: Callable[[str], Any], compare: Compare, written: str, variables: bool) -> Test:
    """A comparison of two texts as something that both can be read as."""
    template = Template(written, variables=variables, wildcards=False)

    def test(value: str, context: Context) -> bool:
        wanted = template.text(context)
        known = None if wanted is None else read(wanted)
        given = read(value)
        return known is not None and given is not None and compare(given, known)

    return test


def remembered(read: Callable[[str], Read | None]) -> Callable[[str], Read | None]:
    """The same, done once for each text. What is too long to mean anything is neither read nor kept: requests bring
    such texts."""
    known = lru_cache(maxsize=1024)(read)
    return lambda text: known(text) if len(text) <= READ_CHARACTERS_MAX else None


@remembered
def number_of(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@remembered
def moment_of(text: str) -> float | None:
    """Seconds since 1970, of a time in one of the forms of ISO 8601 or in seconds."""
    number = number_of(text)
    if number is not None:
        return float(number)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def boolean_of(text: str) -> bool | None:
    return BOOLEANS.get(text.lower())


@remembered
def network_of(text: str) -> IPv4Network | IPv6Network | None:
    """An address is a network of its own. An IPv4 address in the clothes of an IPv6 one is an IPv4 address."""
    try:
        if "/" not in text:
            address = ip_address(text)
            if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
                address = address.ipv4_mapped
            return ip_network(address)
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _is_within(given: IPv4Network | IPv6Network, wanted: IPv4Network | IPv6Network) -> bool:
    if isinstance(given, IPv4Network) and isinstance(wanted, IPv4Network):
        return given.subnet_of(wanted)
    return isinstance(given, IPv6Network) and isinstance(wanted, IPv6Network) and given.subnet_of(wanted)


def bytes_of(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _both(name: str, test_of: Callable[[str, bool], Test], negative: str) -> dict[str, Comparison]:
    """An operator and its negation."""
    return {name: Comparison(test_of), negative: Comparison(test_of, is_negated=True)}


def _ordered(kind: str, read: Callable[[str], Any]) -> dict[str, Comparison]:
    comparisons = {
        f"{kind}{name}": Comparison(partial(_read_as, read, compare))
        for name, compare in (
            ("lessthan", operator.lt),
            ("lessthanequals", operator.le),
            ("greaterthan", operator.gt),
            ("greaterthanequals", operator.ge),
        )
    }
    return comparisons | _both(f"{kind}equals", partial(_read_as, read, operator.eq), f"{kind}notequals")


COMPARISONS: dict[str, Comparison] = {
    **_both("stringequals", _text, "stringnotequals"),
    **_both("stringequalsignorecase", partial(_text, folds_case=True), "stringnotequalsignorecase"),
    **_both("stringlike", partial(_text, wildcards=True), "stringnotlike"),
    **_both("arnequals", _arn, "arnnotequals"),
    **_both("arnlike", _arn, "arnnotlike"),
    **_both("ipaddress", partial(_read_as, network_of, _is_within), "notipaddress"),
    **_ordered("numeric", number_of),
    **_ordered("date", moment_of),
    "bool": Comparison(partial(_read_as, boolean_of, operator.eq)),
    "binaryequals": Comparison(partial(_read_as, bytes_of, operator.eq)),
}
"""By the lower-case name of the operator. `Null` is missing: it compares nothing."""

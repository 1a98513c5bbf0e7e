"""Policy documents: from JSON to statements, with every rule that a document can break.

Documents are remembered by their texts, so a policy that many requests meet is parsed once.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from hashrange.auth.policy.condition import NULL, Condition, UnknownOperator, comparison_of, taken_apart
from hashrange.auth.policy.operators import BOOLEANS
from hashrange.auth.policy.principal import OTHER_KINDS, Principals, is_principal
from hashrange.auth.policy.statement import ALLOW, DENY, Choice, Statement
from hashrange.auth.policy.template import Template

WITH_VARIABLES = "2012-10-17"
VERSIONS = (WITH_VARIABLES, "2008-10-17")
DOCUMENT_MEMBERS = frozenset({"Version", "Id", "Statement"})
STATEMENT_MEMBERS = frozenset(
    {"Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"}
)
SID = re.compile(r"[A-Za-z0-9]*")
ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")

# For each kind of policy. Full of the most wasteful ones we could think of (thousands of values of one character) this
# is 60 MB, full of ordinary ones 5 MB: some two thousand.
REMEMBERED_CHARACTERS_MAX = 512 * 1024
QUESTIONS_REMEMBERED = 64  # for each document
RESOURCE_CHARACTERS_MAX = 512  # of those that are remembered


class MalformedPolicy(Exception):
    """A document that breaks a rule; the text says which."""


class InvalidPrincipal(MalformedPolicy):
    """A principal that cannot be one, which services say in words of their own."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A document that is in order."""

    statements: tuple[Statement, ...]
    _about: dict[tuple[str, str], tuple[Statement, ...]] = field(default_factory=dict, repr=False, compare=False)

    def about(self, action: str, resource: str) -> tuple[Statement, ...]:
        """The statements that may have something to say. Of a long document that is mostly the same few for a table."""
        found = self._about.get((action, resource))
        if found is None:
            found = tuple(each for each in self.statements if each.may_be_about(action, resource))
            if len(self._about) >= QUESTIONS_REMEMBERED:
                self._about.clear()
            if len(resource) <= RESOURCE_CHARACTERS_MAX:
                self._about[action, resource] = found
        return found


class Remembered:
    """Parses documents, and forgets those that were not asked for the longest once their texts add up to too much."""

    def __init__(self, *, with_principals: bool, characters_max: int = REMEMBERED_CHARACTERS_MAX) -> None:
        self._with_principals = with_principals
        self._characters_max = characters_max
        self._characters = 0
        self._policies: OrderedDict[str, Policy] = OrderedDict()

    def __call__(self, text: str) -> Policy:
        policy = self._policies.get(text)
        if policy is not None:
            self._policies.move_to_end(text)
            return policy
        policy = self._policies[text] = _parse(text, with_principals=self._with_principals)
        self._characters += len(text)
        while self._characters > self._characters_max:
            forgotten, _ = self._policies.popitem(last=False)
            self._characters -= len(forgotten)
        return policy


def _parse(text: str, *, with_principals: bool) -> Policy:
    try:
        orjson.loads(text)  # it is strict, and says what is wrong
        document = json.loads(text, object_pairs_hook=_once)
    except (orjson.JSONDecodeError, RecursionError) as error:
        known = "This policy contains invalid Json"  # seen on the service
        raise MalformedPolicy(known if with_principals else f"Syntax errors in policy: {error}.") from None
    if not isinstance(document, dict):
        raise MalformedPolicy("Syntax errors in policy: it is not a JSON object.")
    _check_members(document, DOCUMENT_MEMBERS, "the policy")
    version = document.get("Version", VERSIONS[-1])
    if version not in VERSIONS:
        raise MalformedPolicy(f"The policy must contain a valid version string: one of {' and '.join(VERSIONS)}.")
    statements = document.get("Statement")
    listed = [statements] if isinstance(statements, dict) else statements
    if listed == []:
        raise MalformedPolicy("Could not parse the policy: Statement is empty!")
    if not isinstance(listed, list):
        raise MalformedPolicy("Missing required field Statement")
    reader = _Reader(variables=version == WITH_VARIABLES, with_principals=with_principals)
    return Policy(tuple(reader.statement(number, members) for number, members in enumerate(listed, start=1)))


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which nothing is said twice: of two conditions by the same name one would be lost."""
    found = dict(members)
    if len(found) != len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedPolicy(f"Syntax errors in policy: {twice} is given twice.")
    return found


identity_policy = Remembered(with_principals=False)
"""A policy of somebody, about himself."""

resource_policy = Remembered(with_principals=True)
"""A policy of a resource, about those whom it names."""


class _Reader:
    """Reads the statements of one document."""

    def __init__(self, *, variables: bool, with_principals: bool) -> None:
        self._variables = variables
        self._with_principals = with_principals
        self._sids: set[str] = set()

    def statement(self, number: int, members: Any) -> Statement:
        if not isinstance(members, dict):
            raise MalformedPolicy("Syntax errors in policy: a statement is not a JSON object.")
        _check_members(members, STATEMENT_MEMBERS, f"statement {number}")
        effect = members.get("Effect")
        if effect is None:
            raise MalformedPolicy("Missing required field Effect")
        if effect not in (ALLOW, DENY):
            raise MalformedPolicy(f"Invalid effect: {effect}.")
        principals, not_principals = self._principals(members)
        return Statement(
            number=number,
            sid=self._sid(members),
            effect=effect,
            actions=self._choice(members, "Action", folds_case=True),
            resources=self._choice(members, "Resource", folds_case=False),
            principals=principals,
            not_principals=not_principals,
            conditions=tuple(self._conditions(members.get("Condition"), allows=effect == ALLOW)),
        )

    def _sid(self, members: dict[str, Any]) -> str | None:
        sid = members.get("Sid")
        if sid is None:
            return None
        is_plain = isinstance(sid, str) and (self._with_principals or SID.fullmatch(sid))
        if not is_plain:
            raise MalformedPolicy(f"Statement IDs (SID) must be alpha-numeric: {sid}.")
        if sid in self._sids:
            known = "The Statement Ids in the policy are not unique"  # seen on the service
            raise MalformedPolicy(
                known if self._with_principals else "Statement IDs (SID) in a single policy must be unique."
            )
        if sid:
            self._sids.add(sid)
        return str(sid)

    def _choice(self, members: dict[str, Any], name: str, *, folds_case: bool) -> Choice:
        """Action or NotAction, Resource or NotResource: one of the two, and not both."""
        given = [each for each in (name, f"Not{name}") if each in members]
        if len(given) > 1:
            raise MalformedPolicy(f"Policy statement cannot contain both kinds of {name.lower()}s.")
        texts = _texts(members[given[0]], given[0]) if given else []
        if not texts:
            known = f"Missing required field {name}"  # seen on the service
            raise MalformedPolicy(known if self._with_principals else f"Policy statement must contain {name.lower()}s.")
        if name == "Action":
            _check_actions(texts)
        else:
            _check_resources(texts)
        variables = self._variables and name == "Resource"
        templates = tuple(Template(text, variables=variables, folds_case=folds_case) for text in texts)
        return Choice(templates, is_negated=given[0] != name)

    def _principals(self, members: dict[str, Any]) -> tuple[Principals | None, Principals | None]:
        given = [name for name in ("Principal", "NotPrincipal") if name in members]
        if not self._with_principals:
            if given:
                raise MalformedPolicy("Policy document should not specify a principal.")
            return None, None
        if len(given) != 1:
            raise MalformedPolicy("Missing required field Principal" if not given else "Principal is given twice.")
        principals = Principals(_names(members[given[0]]))
        return (principals, None) if given[0] == "Principal" else (None, principals)

    def _conditions(self, block: Any, *, allows: bool) -> Iterator[Condition]:
        if block is None:
            return
        if not isinstance(block, dict):
            raise MalformedPolicy("Syntax errors in policy: Condition is not a JSON object.")
        for operator, keys in block.items():
            name = taken_apart(operator)[0]
            _check_operator(operator, name)
            if not isinstance(keys, dict):
                raise MalformedPolicy(f"Syntax errors in policy: {operator} is not a JSON object.")
            for key, given in keys.items():
                values = _texts(given, key)
                if name == NULL:
                    _check_booleans(values, key)
                yield Condition(operator, key, values, variables=self._variables, allows=allows)


def _check_members(given: dict[str, Any], known: frozenset[str], place: str) -> None:
    for name in given:
        if name not in known:
            raise MalformedPolicy(f"Syntax errors in policy: {place} has an unknown field {name}.")


def _check_operator(operator: str, name: str) -> None:
    if name == NULL:
        return
    try:
        comparison_of(name)
    except UnknownOperator:
        raise MalformedPolicy(f"Invalid Condition type : {operator}.") from None


def _check_booleans(values: Sequence[str], key: str) -> None:
    if not values or any(value.lower() not in BOOLEANS for value in values):
        raise MalformedPolicy(f"Null asks whether {key} is missing: true or false.")


def _check_actions(texts: Sequence[str]) -> None:
    for text in texts:
        if not ACTION.fullmatch(text):
            raise MalformedPolicy(
                f"Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.: {text}."
            )


def _check_resources(texts: Sequence[str]) -> None:
    for text in texts:
        if text != "*" and (not text.startswith("arn:") or text.count(":") < 5):
            raise MalformedPolicy(f'Resource {text} must be in ARN format or "*".')


def _names(given: Any) -> list[str]:
    """The stars, account ids and ARNs of an element Principal."""
    if given == "*":
        return ["*"]
    if not isinstance(given, dict):
        raise InvalidPrincipal("Invalid principal in policy.")
    names: list[str] = []
    for kind, members in given.items():
        texts = _texts(members, "Principal")
        if kind not in OTHER_KINDS and (kind != "AWS" or not all(map(is_principal, texts))):
            raise InvalidPrincipal("Invalid principal in policy.")
        names += texts if kind == "AWS" else []
    return names


def _texts(given: Any, name: str) -> list[str]:
    """One value or a list of them, as texts; a policy may write numbers and booleans without quotes."""
    values = given if isinstance(given, list) else [given]
    return [_text(value, name) for value in values]


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return orjson.dumps(value).decode()
    raise MalformedPolicy(f"Syntax errors in policy: {name} has a value that is not a text.")

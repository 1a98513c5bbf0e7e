"""`hashrange policy`: check policies, and tell what they decide about a request and why."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from hashrange.access.keyring import find_key
from hashrange.auth.identity import Identity
from hashrange.auth.policy.decision import Decision
from hashrange.auth.policy.document import MalformedPolicy, Policy, identity_policy, resource_policy
from hashrange.auth.policy.explanation import findings
from hashrange.auth.policy.statement import Question
from hashrange.cli.directory import in_words, open_database
from hashrange.cli.options import ConfigurationError
from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.errors import ClientError, ValidationException
from hashrange.operations import registry
from hashrange.operations.operation import Operation, Request
from hashrange.operations.policies.authorise import Caller, decisions
from hashrange.operations.policies.rules import STREAM_PART, check_policy
from hashrange.validation.shape import load

GOOD, BAD = 0, 1
HOLDS = {True: "yes", False: "no"}

NamedPolicies = Sequence[tuple[str, Policy]]


def run(arguments: argparse.Namespace) -> int:
    return check(arguments) if arguments.action == "check" else explain(arguments)


def check(arguments: argparse.Namespace) -> int:
    text = text_of(arguments.subject)
    try:
        if arguments.resource_policy:
            policy = resource_policy(check_policy(text, is_stream=STREAM_PART in text))
        else:
            policy = identity_policy(text)
    except (MalformedPolicy, ValidationException) as error:
        print(f"{arguments.subject}: {error}")
        return BAD
    count = len(policy.statements)
    print(f"{arguments.subject}: a policy of {count} {'statement' if count == 1 else 'statements'}")
    return GOOD


def explain(arguments: argparse.Namespace) -> int:
    operation = operation_named(arguments.subject)
    with closing((db := open_database(arguments)).store):
        identity, own = sender(db, arguments)
        request = Request(members_of(operation, arguments), scope_of(identity.account, arguments.region))
        caller = Caller(identity, arguments.region, db.clock, arguments.source_ip, arguments.tls)
        is_allowed = True
        try:
            for need, question, decision in decisions(db, caller, operation, request):
                is_allowed = is_allowed and decision.is_allowed
                with db.read() as snapshot:
                    theirs = need.place.policy(db, snapshot)
                show(question, decision, own, theirs)
        except ClientError as error:
            raise ConfigurationError(f"The request is refused before policies are asked: {in_words(error)}") from None
    if identity.is_root and is_allowed:
        print("A key with full access may do everything in its own account.")
    return GOOD if is_allowed else BAD


def operation_named(name: str) -> Operation:
    others = (*registry.SCALING_CONTENTS, *registry.CLOUDWATCH_CONTENTS)
    rest = (module for _, _, _, module in registry.REST_CONTENTS)
    for module in (*registry.CONTENTS, *others, *rest):
        if registry.name_of(module) == name:
            return registry.load(module)
    raise ConfigurationError(f"There is no operation {name}.")


def sender(db: Database, arguments: argparse.Namespace) -> tuple[Identity, NamedPolicies]:
    """Who sends the request, and the policies that he has."""
    if (arguments.key is None) == (arguments.policy is None):
        raise ConfigurationError("Say who sends the request: --key ID or --policy FILE.")
    if arguments.policy is not None:
        texts = {path: text_of(path) for path in arguments.policy}
        arn = f"arn:aws:iam::{arguments.account}:user/{arguments.user}"
        identity = Identity(arguments.user, arn, arguments.account, tuple(texts.values()), is_root=False)
        return identity, named(texts)
    with db.read() as snapshot:
        key = find_key(snapshot, arguments.key)
    if key is None:
        raise ConfigurationError(f"There is no access key {arguments.key}; `hashrange keys list` shows them.")
    return key.identity, named(dict(key.policies))


def named(texts: dict[str, str]) -> NamedPolicies:
    try:
        return [(name, identity_policy(text)) for name, text in texts.items()]
    except MalformedPolicy as error:
        raise ConfigurationError(f"A policy cannot be read, so nothing is allowed: {error}") from None


def members_of(operation: Operation, arguments: argparse.Namespace) -> dict[str, Any]:
    """The members of the request, as they would reach the operation."""
    text = sys.stdin.read() if arguments.request == "-" else arguments.request or "{}"
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(f"The request is not JSON: {error}.") from None
    if not isinstance(members, dict):
        raise ConfigurationError("The request is not a JSON object.")
    if not operation.service.startswith("dynamodb"):
        return members
    try:
        return load(operation.service)[operation.name].explain(members)
    except ClientError as error:
        raise ConfigurationError(f"The request is refused before policies are asked: {in_words(error)}") from None


def text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The file {path} cannot be read: {error}.") from None


def show(question: Question, decision: Decision, own: NamedPolicies, theirs: Policy | None) -> None:
    print(f"{'allowed' if decision.is_allowed else 'denied'}: {question.action} on {question.resource}")
    print(f"  {reason(decision)}")
    policies = [(f"identity-based policy {name}", policy) for name, policy in own]
    if theirs is not None:
        policies.append(("resource-based policy", theirs))
    for title, policy in policies:
        print(f"  {title}")
        for statement in policy.statements:
            found = list(findings(statement, question))
            applies = all(finding.holds for finding in found)
            print(f"    {statement.name} ({statement.effect}): {'applies' if applies else 'does not apply'}")
            for finding in found:
                print(f"      {HOLDS[finding.holds]:<3}  {finding.part}: {finding.detail}")


def reason(decision: Decision) -> str:
    if decision.statement is None:
        return f"because no {decision.kind} policy allows it"
    return f"by {decision.statement.name} of {'an' if decision.kind[0] == 'i' else 'a'} {decision.kind} policy"

"""Whether the sender of a request may do what it asks for.

Asked of every request whose sender has proved who he is; root may do everything in its own account. What a request
needs is held against the policies of its sender and of the resource, one need after the other, and the first that is
refused refuses the request. In a transaction it is a reason to cancel, and in a batch of statements that statement
fails alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from hashrange.auth.identity import Identity
from hashrange.auth.policy.context import Context, Values
from hashrange.auth.policy.decision import Decision, decide, refusal
from hashrange.auth.policy.document import MalformedPolicy, Policy, identity_policy, resource_policy
from hashrange.auth.policy.principal import Asker
from hashrange.auth.policy.statement import Question
from hashrange.clock import Clock
from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.errors import AccessDeniedException, ClientError, ValidationException
from hashrange.operations.operation import Operation, Request
from hashrange.operations.policies.needs import Need, Needs
from hashrange.operations.policies.places import arn_place
from hashrange.operations.policies.rules import STREAM_PART, check_policy
from hashrange.operations.policies.tags import Tags
from hashrange.operations.transactions.transaction import Reasons

TRANSACTIONS = {
    "TransactGetItems": "TransactItems",
    "TransactWriteItems": "TransactItems",
    "ExecuteTransaction": "TransactStatements",
}
LOCKED_OUT = f"{INVALID}The new resource policy will not allow you to update the resource policy in the future."


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, and how it came."""

    identity: Identity
    region: str
    clock: Clock
    peer: str
    secure: bool
    user_agent: str = ""

    def find(self, key: str) -> Values | None:
        """The values of a condition key that is the same for all services."""
        find = GENERAL_KEYS.get(key)
        value = None if find is None else find(self)
        return None if value is None else (value,)


def _current_time(caller: Caller) -> str:
    return datetime.fromtimestamp(caller.clock.micros() // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _user_name(caller: Caller) -> str | None:
    """Root has none."""
    return None if caller.identity.arn.endswith(":root") else caller.identity.arn.rpartition("/")[2]


GENERAL_KEYS: dict[str, Callable[[Caller], str | None]] = {
    "aws:currenttime": _current_time,
    "aws:epochtime": lambda caller: str(caller.clock.micros() // 1_000_000),
    "aws:principalaccount": lambda caller: caller.identity.account,
    "aws:principalarn": lambda caller: caller.identity.arn,
    "aws:principaltype": lambda caller: "Account" if _user_name(caller) is None else "User",
    "aws:requestedregion": lambda caller: caller.region,
    "aws:securetransport": lambda caller: "true" if caller.secure else "false",
    "aws:sourceip": lambda caller: caller.peer,
    "aws:useragent": lambda caller: caller.user_agent,
    "aws:userid": lambda caller: caller.identity.access_key_id,
    "aws:username": _user_name,
}


class PartlyRefused(Request):
    """A request of which some parts are refused, and the others are to be carried out."""

    __slots__ = ("refused",)

    def __init__(self, request: Request, refused: Mapping[int, ClientError]) -> None:
        super().__init__(request.members, request.scope)
        self.refused = refused


def authorise(db: Database, caller: Caller, operation: Operation, request: Request) -> Request:
    """The request as it may be carried out; raises AccessDeniedException if it may not."""
    denied: dict[int, ClientError] = {}
    for need, question, decision in decisions(db, caller, operation, request):
        if decision.is_allowed:
            continue
        error = AccessDeniedException(refusal(question, decision))
        if need.element is None:
            raise error
        denied.setdefault(need.element, error)
    if denied:
        return _partly(operation, request, denied)
    if operation.name == "PutResourcePolicy":
        _check_not_locked_out(caller, request)
    return request


def _partly(operation: Operation, request: Request, denied: dict[int, ClientError]) -> Request:
    if operation.name not in TRANSACTIONS:
        return PartlyRefused(request, denied)
    reasons = Reasons(len(request[TRANSACTIONS[operation.name]]))
    for number, error in denied.items():
        reasons.add(number, error)
    reasons.raise_if_any()
    raise AssertionError("there was a reason")


def decisions(
    db: Database, caller: Caller, operation: Operation, request: Request
) -> Iterator[tuple[Need, Question, Decision]]:
    """What is decided about each need of a request. What root does in its own account is not in question."""
    asker = Asker(caller.identity.arn, caller.identity.account)
    own = identity_policies(caller.identity)
    with db.read() as snapshot:
        tags = Tags(db, snapshot, request)
        for need in Needs(db, snapshot, operation, request).all():
            question = Question(need.action, need.place.arn, asker, context_of(caller, need, tags))
            account = need.place.account
            is_same = account is None or account == asker.account
            if is_same and caller.identity.is_root:
                continue
            yield need, question, decide(question, own, need.place.policy(db, snapshot), is_same_account=is_same)


def identity_policies(identity: Identity) -> tuple[Policy, ...]:
    """The policies of somebody. One that cannot be read might deny anything, so nothing is allowed."""
    try:
        return tuple(map(identity_policy, identity.policies))
    except MalformedPolicy:
        return ()


def context_of(caller: Caller, need: Need, tags: Tags | None = None) -> Context:
    def find(key: str) -> Values | None:
        if key.startswith("dynamodb:"):
            return need.find(key)
        if key == "aws:resourceaccount":
            return None if need.place.account is None else (need.place.account,)
        return caller.find(key) or (None if tags is None else tags.find(key, need.place))

    return Context(find)


def _check_not_locked_out(caller: Caller, request: Request) -> None:
    """Whoever puts a policy must be able to put the next one too, unless he says that he means it."""
    if request.get("ConfirmRemoveSelfResourceAccess") or caller.identity.is_root:
        return
    arn: str = request["ResourceArn"]
    policy = resource_policy(check_policy(request["Policy"], is_stream=STREAM_PART in arn))
    need = Need("dynamodb:PutResourcePolicy", arn_place(arn))
    asker = Asker(caller.identity.arn, caller.identity.account)
    question = Question(need.action, need.place.arn, asker, context_of(caller, need))
    is_same = need.place.account == asker.account
    if not decide(question, identity_policies(caller.identity), policy, is_same_account=is_same).is_allowed:
        raise ValidationException(LOCKED_OUT)

"""A server in this process that knows who sends a request: whoever has the access key of a user."""

from __future__ import annotations

import json
from typing import Any

from harness import Engine
from hashrange import app
from hashrange.auth.credentials import credential_of
from hashrange.auth.identity import EVERYTHING, Identity
from hashrange.http.dispatch import Dispatcher
from hashrange.http.exchange import Exchange

ACCOUNT = "111111111111"
OTHER_ACCOUNT = "222222222222"
REGION = "us-east-1"


def arn_of(name: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:iam::{account}:user/{name}"


def table_arn(name: str = "table", account: str = ACCOUNT) -> str:
    return f"arn:aws:dynamodb:{REGION}:{account}:table/{name}"


def policy_of(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def allow(*actions: str, resource: str | list[str] = "*", **members: Any) -> dict[str, Any]:
    actions_named = [f"dynamodb:{action}" for action in actions]
    return {"Effect": "Allow", "Action": actions_named, "Resource": resource, **members}


def deny(*actions: str, **members: Any) -> dict[str, Any]:
    return {**allow(*actions, **members), "Effect": "Deny"}


class Guarded(Engine):
    """`root` has full access; other users have the policies that they were given."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, Identity] = {}
        self.add_root("root", ACCOUNT)
        self.add_root("other-root", OTHER_ACCOUNT)
        self._handle = Dispatcher(self.db, app.contents(), account=ACCOUNT, region=REGION, authenticator=self)

    def add_root(self, name: str, account: str) -> None:
        self.users[name] = Identity(name, f"arn:aws:iam::{account}:root", account, (EVERYTHING,), is_root=True)

    def user(self, name: str, *statements: dict[str, Any], account: str = ACCOUNT) -> str:
        """Give a user one policy, in the place of the ones he had."""
        policies = (policy_of(*statements),) if statements else ()
        self.users[name] = Identity(name, arn_of(name, account), account, policies, is_root=False)
        return name

    def create_table_in(self, account: str) -> None:
        """A table like that of the tests, in another account."""
        names = ("pk", "sk")
        self.call(
            "CreateTable",
            key={ACCOUNT: "root", OTHER_ACCOUNT: "other-root"}[account],
            TableName="table",
            KeySchema=[{"AttributeName": n, "KeyType": k} for n, k in zip(names, ("HASH", "RANGE"), strict=True)],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
            BillingMode="PAY_PER_REQUEST",
        )

    def identify(self, request: Exchange, service: str) -> tuple[Identity, str]:
        credential = credential_of(request.url, request.headers)
        return self.users[credential.access_key], credential.region

    def call(self, operation: str, *, key: str = "root", region: str = REGION, **members: Any) -> Any:
        return super().call(operation, key=key, region=region, **members)


def denied(action: str, resource: str, name: str = "ada") -> str:
    """What somebody is told whom nothing allows it."""
    return (
        f"User: {arn_of(name)} is not authorized to perform: dynamodb:{action} on resource: {resource} "
        f"because no identity-based policy allows the dynamodb:{action} action"
    )

"""A server that verifies: who gets in, as whom, and what a change of a key does to the next request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from hashrange import app
from hashrange.access.key import AccessKey, new_salt
from hashrange.access.keyring import change, keep
from hashrange.access.server_key import VARIABLE, ServerKey
from hashrange.auth.signing import SigningKeys, signed_headers
from hashrange.clock import ManualClock, OffsetClock
from hashrange.http.clock_control import CLOCK_URL
from hashrange.storage import write_and_wait
from hashrange.storage.memory import MemoryStore

SERVER_KEY = "of at least thirty-two characters"
BOOTSTRAP = SigningKeys("BOOTSTRAP", "bootstrap secret")
INVALID = ("UnrecognizedClientException", "The security token included in the request is invalid.")


class Sent:
    """A request that keeps its answer."""

    def __init__(self, method: str, url: str, headers: dict[str, str], body: bytes) -> None:
        self.method = method.encode()
        self.url = url.encode()
        self.headers = {name.encode(): value.encode() for name, value in headers.items()}
        self.body = self.body_as_sent = body
        self.peer = "127.0.0.1"
        self.secure = False
        self.answer: tuple[int, bytes, bytes] | None = None

    def respond(self, status: int, headers: bytes, body: bytes) -> None:
        self.answer = (status, headers, body)


class Server:
    """A server that verifies signatures, in this process."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        self.server_key = ServerKey(SERVER_KEY.encode())
        self.moved = OffsetClock(self.clock)
        settings = app.Settings(verify_signatures=True, bootstrap=BOOTSTRAP, dev_clock=True)
        db = app.build_database(self.store, settings, self.moved)
        self.handle = app.build_handler(db, settings)

    def add(self, key_id: str = "KEY", **members: Any) -> SigningKeys:
        """A key in the store, and what its holder knows."""
        salt = new_salt()
        check = self.server_key.check_of(key_id, salt)
        key = AccessKey(key_id, members.pop("account", "000000000000"), salt, check, 0, **members)
        write_and_wait(self.store, keep(key))
        return self.keys_of(key)

    def keys_of(self, key: AccessKey) -> SigningKeys:
        token = self.server_key.token_of(key) if key.is_temporary else None
        return SigningKeys(key.id, self.server_key.secret_of(key), token)

    def change(self, key_id: str, **members: Any) -> AccessKey:
        old = write_and_wait(self.store, change(key_id, lambda key: replace(key, **members)))
        return replace(old, **members)

    def send(
        self,
        keys: SigningKeys,
        url: str = "/",
        *,
        method: str = "POST",
        service: str = "dynamodb",
        body: bytes = b"{}",
        **headers: str,
    ) -> tuple[int, bytes]:
        signed = signed_headers(
            keys,
            service=service,
            region="us-east-1",
            method=method,
            host="localhost",
            path=url,
            body=body,
            headers={"content-type": "application/x-amz-json-1.0", **headers},
            now_seconds=self.clock.seconds(),
        )
        sent = Sent(method, url, signed, body)
        self.handle(sent)  # type: ignore[arg-type]
        assert sent.answer is not None
        return sent.answer[0], sent.answer[2]

    def call(self, keys: SigningKeys, operation: str, body: bytes) -> Any:
        """What the server answers: the answer, or the code and text of an error."""
        status, body = self.send(keys, body=body, **{"x-amz-target": f"DynamoDB_20120810.{operation}"})
        answer = orjson.loads(body)
        return answer if status == 200 else (answer["__type"].partition("#")[2], answer.get("message"))

    def list_tables(self, keys: SigningKeys, operation: str = "DynamoDB_20120810.ListTables") -> Any:
        """What the server answers: the answer, or the code and text of an error."""
        status, body = self.send(keys, **{"x-amz-target": operation})
        answer = orjson.loads(body)
        return answer if status == 200 else (answer["__type"].partition("#")[2], answer.get("message"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv(VARIABLE, SERVER_KEY)
    return Server()


def test_the_key_of_the_environment_gets_in(server: Server) -> None:
    assert server.list_tables(BOOTSTRAP) == {"TableNames": []}
    assert server.list_tables(replace(BOOTSTRAP, secret_key="another"))[0] == "InvalidSignatureException"


def test_a_key_of_the_store_gets_in(server: Server) -> None:
    keys = server.add(full_access=True)
    assert server.list_tables(keys) == {"TableNames": []}
    assert server.list_tables(replace(keys, secret_key="another"))[0] == "InvalidSignatureException"


def test_an_unknown_key_is_refused_before_its_signature_is_looked_at(server: Server) -> None:
    assert server.list_tables(SigningKeys("UNKNOWN", "x")) == INVALID


def test_the_account_is_that_of_the_key(server: Server) -> None:
    keys = server.add("111122223333", account="444455556666", full_access=True)
    identity, _ = server.handle._authenticator.identify(signed_request(server, keys), "dynamodb")  # type: ignore
    assert (identity.account, identity.arn) == ("444455556666", "arn:aws:iam::444455556666:root")


def signed_request(server: Server, keys: SigningKeys) -> Sent:
    headers = signed_headers(
        keys,
        service="dynamodb",
        region="us-east-1",
        method="POST",
        host="localhost",
        path="/",
        body=b"{}",
        headers={},
        now_seconds=server.clock.seconds(),
    )
    return Sent("POST", "/", headers, b"{}")


def test_an_identity_has_the_policies_of_its_key(server: Server) -> None:
    keys = server.add(user="ada", policies={"read": '{"Statement": []}'})
    identity, region = server.handle._authenticator.identify(signed_request(server, keys), "dynamodb")  # type: ignore
    assert identity.arn == "arn:aws:iam::000000000000:user/ada"
    assert (identity.policies, identity.is_root, region) == (('{"Statement": []}',), False, "us-east-1")


TABLE = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize("escape", [b"arn:", b"\\u0061rn:", b"arn\\u003a"])
def test_full_access_ends_with_the_account(server: Server, escape: bytes) -> None:
    """An ARN can name a table of another account, which only that account's own policy opens."""
    other = server.add("OTHER", account="444455556666", full_access=True)
    server.call(other, "CreateTable", orjson.dumps(TABLE))
    request = {"TableName": "arn:aws:dynamodb:us-east-1:444455556666:table/orders", "Key": {"pk": {"S": "a"}}}
    body = orjson.dumps(request).replace(b"arn:", escape)
    assert server.call(other, "GetItem", body) == {}
    code, message = server.call(server.add(full_access=True), "GetItem", body)
    assert (code, message.partition(" on resource")[0]) == (
        "AccessDeniedException",
        "User: arn:aws:iam::000000000000:root is not authorized to perform: dynamodb:GetItem",
    )


def test_a_disabled_key_is_unknown_from_the_next_request_on(server: Server) -> None:
    keys = server.add(full_access=True)
    assert server.list_tables(keys) == {"TableNames": []}
    server.change("KEY", disabled=True)
    assert server.list_tables(keys) == INVALID
    server.change("KEY", disabled=False)
    assert server.list_tables(keys) == {"TableNames": []}


def test_a_deleted_key_is_unknown_from_the_next_request_on(server: Server) -> None:
    keys = server.add(full_access=True)
    assert server.list_tables(keys) == {"TableNames": []}
    write_and_wait(server.store, change("KEY", lambda key: None))
    assert server.list_tables(keys) == INVALID


def test_rotating_a_key_ends_the_old_secret(server: Server) -> None:
    old = server.add(full_access=True)
    assert server.list_tables(old) == {"TableNames": []}
    salt = new_salt()
    new = server.keys_of(server.change("KEY", salt=salt, check=server.server_key.check_of("KEY", salt)))
    assert server.list_tables(old)[0] == "InvalidSignatureException"
    assert server.list_tables(new) == {"TableNames": []}


def test_a_key_made_with_another_server_key_is_unknown(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    keys = server.add(full_access=True)
    server.change("KEY", check=ServerKey(b"x" * 32).check_of("KEY", "salt"))
    assert server.list_tables(keys) == INVALID
    assert "made with another server key" in caplog.text


def test_a_temporary_key_needs_its_token_and_ends(server: Server) -> None:
    expires = int(server.clock.seconds()) + 3600
    keys = server.add(full_access=True, expires_at_seconds=expires)
    assert keys.session_token is not None
    assert server.list_tables(keys) == {"TableNames": []}
    assert server.list_tables(replace(keys, session_token=None)) == INVALID
    assert server.list_tables(replace(keys, session_token=keys.session_token[:-1])) == INVALID
    server.clock.advance(3600)
    assert server.list_tables(keys) == (
        "ExpiredTokenException",
        "The security token included in the request is expired",
    )


def test_a_token_that_does_not_belong_to_a_key_is_refused(server: Server) -> None:
    assert server.list_tables(replace(BOOTSTRAP, session_token="token")) == INVALID


def test_streams_are_signed_for_as_dynamodb(server: Server) -> None:
    assert server.list_tables(BOOTSTRAP, "DynamoDBStreams_20120810.ListStreams") == {"Streams": []}


def test_an_unknown_target_is_told_before_a_bad_signature(server: Server) -> None:
    assert (
        server.list_tables(SigningKeys("UNKNOWN", "x"), "DynamoDB_20120810.Nothing")[0] == "UnknownOperationException"
    )


def test_a_bad_signature_is_told_before_a_wrong_member(server: Server) -> None:
    assert server.list_tables(SigningKeys("UNKNOWN", "x"), "DynamoDB_20120810.GetItem") == INVALID


MAPPINGS = "/2015-03-31/event-source-mappings/"


def test_operations_with_a_path_are_behind_the_same_door(server: Server) -> None:
    status, body = server.send(SigningKeys("UNKNOWN", "x"), MAPPINGS, method="GET", service="lambda")
    assert (status, orjson.loads(body)["message"]) == (403, INVALID[1])
    assert server.send(BOOTSTRAP, MAPPINGS, method="GET", service="lambda")[0] == 200
    status, body = server.send(BOOTSTRAP, MAPPINGS, method="GET", service="dynamodb")
    assert (status, orjson.loads(body)["message"]) == (
        403,
        "Credential should be scoped to correct service: 'lambda'. ",
    )


def test_the_clock_is_for_keys_with_full_access(server: Server) -> None:
    url = CLOCK_URL.decode()
    limited = server.add(user="ada")
    assert server.send(BOOTSTRAP, url, method="GET")[0] == 200
    assert server.send(limited, url, method="GET") == (
        403,
        b"AccessDeniedException: This page is for access keys with full access.\n",
    )
    assert server.send(SigningKeys("UNKNOWN", "x"), url, method="GET")[0] == 403


def test_signatures_go_by_the_true_time_where_the_clock_was_moved(server: Server) -> None:
    server.moved.offset_micros = 10**12
    assert server.list_tables(BOOTSTRAP) == {"TableNames": []}


def test_health_and_preflights_need_no_signature(server: Server) -> None:
    for method in ("GET", "OPTIONS"):
        sent = Sent(method, "/", {"origin": "https://example.com"}, b"")
        server.handle(sent)  # type: ignore[arg-type]
        assert sent.answer is not None
        assert sent.answer[0] == 200


def test_nothing_shows_a_secret(server: Server) -> None:
    keys = server.add(full_access=True, expires_at_seconds=2_000_000_000)
    server.list_tables(keys)
    [entry] = server.handle._authenticator._entries.values()  # type: ignore[union-attr]
    shown = repr((entry, keys, server.server_key, BOOTSTRAP))
    assert not any(secret in shown for secret in (keys.secret_key, keys.session_token, SERVER_KEY, "bootstrap secret"))


LONG = b"[" + b"[]," * 100_000 + b"[]"  # and no end: whoever reads it finds out


def test_the_long_body_of_a_stranger_is_not_read(server: Server) -> None:
    assert server.call(SigningKeys("UNKNOWN", "x"), "PutItem", LONG) == INVALID
    assert server.call(replace(BOOTSTRAP, secret_key="x"), "PutItem", LONG)[0] == "InvalidSignatureException"
    assert server.call(BOOTSTRAP, "PutItem", LONG) == ("SerializationException", None)
    assert server.call(SigningKeys("UNKNOWN", "x"), "NoSuchThing", LONG) == ("UnknownOperationException", None)


def test_a_short_body_is_read_before_its_sender_is_known(server: Server) -> None:
    assert server.call(SigningKeys("UNKNOWN", "x"), "PutItem", b"[") == ("SerializationException", None)

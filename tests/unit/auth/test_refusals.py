"""What is wrong with a signature is told in the service's words, one thing before the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hashrange.auth import canonical, claim, credentials
from hashrange.auth.claim import basic_date, claim_of
from hashrange.auth.credentials import credential_of
from hashrange.errors import ClientError, InvalidSignatureException
from unit.auth.signed import HEADERS, KEY_ID, NOW, SECRET, Sent, check, sign

DATE = basic_date(NOW)


def refusal(sent: Sent, **arguments: object) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        check(sent, **arguments)  # type: ignore[arg-type]
    return caught.value.code, str(caught.value.message)


def in_header(old: bytes, new: bytes) -> Callable[[Sent], None]:
    def change(sent: Sent) -> None:
        assert old in sent.headers[b"authorization"]
        sent.headers[b"authorization"] = sent.headers[b"authorization"].replace(old, new)

    return change


def test_a_request_that_is_not_signed_is_refused() -> None:
    sent = sign()
    del sent.headers[b"authorization"]
    assert refusal(sent) == ("MissingAuthenticationTokenException", "Request is missing Authentication Token")


def test_a_request_is_signed_in_one_place() -> None:
    sent = sign(in_query=True)
    sent.headers[b"authorization"] = sign().headers[b"authorization"]
    assert refusal(sent) == (
        "InvalidSignatureException",
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    )


def test_all_that_is_missing_in_a_header_is_named() -> None:
    assert refusal(Sent(b"POST", b"/", {b"authorization": b"AWS4-HMAC-SHA256"})) == (
        "IncompleteSignatureException",
        "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a "
        "'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256",
    )


def test_all_that_is_missing_in_a_query_is_named() -> None:
    assert refusal(Sent(b"POST", b"/?X-Amz-Date=1&X-Amz-Algorithm=a", {})) == (
        "IncompleteSignatureException",
        "AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters must include "
        "'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the "
        "query-string parameters.",
    )


@pytest.mark.parametrize("in_query", [False, True])
def test_another_algorithm_is_refused(in_query: bool) -> None:
    sent = sign(in_query=in_query)
    sent.url = sent.url.replace(b"AWS4-HMAC-SHA256", b"AWS4-HMAC-SHA1")
    if not in_query:
        in_header(b"AWS4-HMAC-SHA256", b"AWS4-HMAC-SHA1")(sent)
    assert refusal(sent) == ("IncompleteSignatureException", "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1'.")


@pytest.mark.parametrize("date", ["", "yesterday", "2026-01-01T00:00:00Z", "20261301T000000Z"])
def test_a_date_has_one_form(date: str) -> None:
    sent = sign()
    sent.headers[b"x-amz-date"] = date.encode()
    assert refusal(sent) == (
        "IncompleteSignatureException",
        f"Date must be in ISO-8601 'basic format'. Got '{date}'. See http://en.wikipedia.org/wiki/ISO_8601",
    )


def test_the_host_must_be_signed() -> None:
    sent = sign()
    in_header(b";host;", b";")(sent)
    assert refusal(sent) == (
        "InvalidSignatureException",
        "'Host' must be a 'SignedHeader' in the AWS Authorization.",
    )


@pytest.mark.parametrize("name", ["X-Amz-Target", "X-Amz-Security-Token", "X-Amz-Whatever"])
def test_a_header_with_a_meaning_must_be_signed(name: str) -> None:
    sent = sign(headers={"Content-Type": "application/json"})
    sent.headers[name.lower().encode()] = b"added"
    assert refusal(sent) == (
        "InvalidSignatureException",
        f"'{name}' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_all_that_is_wrong_with_the_scope_is_named() -> None:
    sent = sign()
    in_header(f"{DATE[:8]}/us-east-1/dynamodb/aws4_request".encode(), b"b/C/d/e")(sent)
    assert refusal(sent) == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region, not 'C'. "
        "Credential should be scoped to correct service: 'dynamodb'. "
        "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. "
        f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: 'b' != "
        f"'{DATE[:8]}', from '{DATE}'. ",
    )


def test_a_signature_for_another_service_is_refused() -> None:
    assert refusal(sign(service="monitoring")) == (
        "InvalidSignatureException",
        "Credential should be scoped to correct service: 'dynamodb'. ",
    )
    check(sign(service="monitoring"), service="monitoring")


def test_a_signature_is_good_for_five_minutes() -> None:
    check(sign(), now=NOW + 300)
    code, message = refusal(sign(), now=NOW + 600)
    assert (code, message) == (
        "InvalidSignatureException",
        f"Signature expired: {DATE} is now earlier than {basic_date(NOW + 300)} ({basic_date(NOW + 600)} - 5 min.)",
    )


def test_a_signature_of_the_future_is_not_good_yet() -> None:
    check(sign(), now=NOW - 300)
    assert refusal(sign(), now=NOW - 301) == (
        "InvalidSignatureException",
        f"Signature not yet current: {DATE} is still later than {basic_date(NOW - 1)} "
        f"({basic_date(NOW - 301)} + 5 min.)",
    )


def test_a_presigned_request_is_good_for_as_long_as_it_says() -> None:
    sent = sign(in_query=True, lifetime_seconds=3600)
    check(sent, now=NOW + 3600)
    assert refusal(sent, now=NOW + 3601) == (
        "InvalidSignatureException",
        f"Signature expired: {DATE} is now earlier than {basic_date(NOW + 1)} ({basic_date(NOW + 3601)} - 60 min.)",
    )


@pytest.mark.parametrize("lifetime", ["0", "-1", "604801", "x", "1e3", "٣", "9" * 5000])
def test_the_lifetime_of_a_presigned_request_is_at_most_a_week(lifetime: str) -> None:
    sent = sign(in_query=True)
    sent.url = sent.url.replace(b"X-Amz-Expires=300", f"X-Amz-Expires={lifetime}".encode())
    code, message = refusal(sent)
    assert code == "IncompleteSignatureException"
    assert message.startswith("X-Amz-Expires must be a number of seconds from 1 to 604800, not '")


def test_a_mismatch_shows_what_should_have_been_signed() -> None:
    code, message = refusal(sign(), secret="another")
    assert code == "InvalidSignatureException"
    assert message.startswith(
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access "
        "Key and signing method. Consult the service documentation for details.\n\n"
        "The Canonical String for this request should have been\n'POST\n/\n\ncontent-type:application/x-amz-json-1.0\n"
    )
    assert f"The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n{DATE}\n" in message


@pytest.mark.parametrize("in_query", [False, True])
def test_a_mismatch_shows_no_secrets(in_query: bool) -> None:
    message = refusal(sign(token="session-token", in_query=in_query), secret="another-secret")[1]
    assert not any(secret in message for secret in (SECRET, "another-secret", "session-token"))


def test_what_comes_first_speaks_first() -> None:
    """Each request is wrong in one way more than the one before it."""
    sent = sign(at=NOW - 1000)
    messages = [refusal(sent, secret="another")[1]]
    in_header(b"/dynamodb/", b"/s3/")(sent)
    messages.append(refusal(sent, secret="another")[1])
    in_header(b";host;", b";")(sent)
    messages.append(refusal(sent, secret="another")[1])
    del sent.headers[b"x-amz-date"]
    messages.append(refusal(sent, secret="another")[1])
    starts = ("Signature expired", "Credential should be", "'Host' must be", "Authorization header requires existence")
    assert [message.startswith(start) for message, start in zip(messages, starts, strict=True)] == [True] * 4


@pytest.mark.parametrize(
    "url",
    [
        b"/?X-Amz-Algorithm=%FF&X-Amz-Credential=%FF&X-Amz-Signature=&X-Amz-SignedHeaders=%00&X-Amz-Date=%E1%88%B4",
        b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%E1%88%B4/a/b/c/d&X-Amz-Signature=%E1%88%B4"
        b"&X-Amz-SignedHeaders=host&X-Amz-Date=20270115T080000Z",
        b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k/20270115/us-east-1/dynamodb/aws4_request"
        b"&X-Amz-Signature=%E1%88%B4&X-Amz-SignedHeaders=host;%E1%88%B4&X-Amz-Date=20270115T080000Z",
    ],
)
def test_nonsense_is_refused_like_any_other_mistake(url: bytes) -> None:
    refusal(Sent(b"POST", url, {b"host": b"\xff\xfe"}, b""))


def test_the_key_id_may_have_slashes() -> None:
    sent = sign(headers=HEADERS)
    in_header(KEY_ID.encode(), b"a/b")(sent)
    check(sent)


def test_a_region_that_could_not_be_stored_is_refused() -> None:
    """Also where nothing is verified."""
    scope = b"k/20270115/us%00east/dynamodb/aws4_request"
    url = b"/?X-Amz-Algorithm=a&X-Amz-Credential=" + scope + b"&X-Amz-Signature=&X-Amz-SignedHeaders=&X-Amz-Date="
    with pytest.raises(InvalidSignatureException, match="valid region"):
        credential_of(url, {})


def test_what_strangers_send_is_not_kept() -> None:
    claim._heads.clear()
    credentials._heads.clear()
    canonical._remembered_template.cache_clear()
    for number in range(3):
        sent = sign()
        many = b";".join(b"x-own-%d-%d" % (number, place) for place in range(2000))
        in_header(b"SignedHeaders=", b"SignedHeaders=" + many + b";")(sent)
        refusal(sent)
        in_header(KEY_ID.encode(), b"K" * 5000 + b"%d" % number)(sent)
        refusal(sent)
    assert not claim._heads
    assert canonical._remembered_template.cache_info().currsize == 0
    assert not credentials._heads


def test_the_heads_that_are_kept_are_counted() -> None:
    sent = sign()
    before = sent.headers[b"authorization"]
    for number in range(2 * claim.HEADS_KEPT):
        sent.headers[b"authorization"] = before.replace(KEY_ID.encode(), b"K%d" % number)
        claim_of(sent.url, sent.headers)
    assert len(claim._heads) <= claim.HEADS_KEPT


def test_the_credentials_that_are_kept_are_counted() -> None:
    sent = sign()
    before = sent.headers[b"authorization"]
    for number in range(2 * credentials.HEADS_KEPT):
        sent.headers[b"authorization"] = before.replace(KEY_ID.encode(), b"K%d" % number)
        assert credential_of(sent.url, sent.headers).access_key == f"K{number}"
    assert len(credentials._heads) <= credentials.HEADS_KEPT


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        (b"AWS4-HMAC-SHA256 Credential=k/d/r/s/t, SignedHeaders=host, ", "'Signature'"),
        (b"AWS4-HMAC-SHA256 Credential=k/d/r/s/t, Signature=0", "'SignedHeaders'"),
        (b"AWS4-HMAC-SHA256 SignedHeaders=host, Signature=0", "'Credential'"),
    ],
)
def test_a_header_with_a_known_beginning_must_be_whole_all_the_same(header: bytes, missing: str) -> None:
    dated = {b"x-amz-date": b"20270115T080000Z"}
    for whole in (
        b"AWS4-HMAC-SHA256 Credential=k/d/r/s/t, SignedHeaders=host, Signature=0",
        b"AWS4-HMAC-SHA256 Credential=k/d/r/s/t, Signature=0, SignedHeaders=host",
        b"AWS4-HMAC-SHA256 SignedHeaders=host, Signature=0, Credential=k/d/r/s/t",
    ):
        assert credential_of(b"/", {**dated, b"authorization": whole}).access_key == "k"
        with pytest.raises(ClientError, match="Date"):
            credential_of(b"/", {b"authorization": whole})
    with pytest.raises(ClientError, match=missing):
        credential_of(b"/", {**dated, b"authorization": header})


@pytest.mark.parametrize(
    "parts", ["Credential={0}, Signature={2}, SignedHeaders={1}", "SignedHeaders={1},Credential={0},Signature={2}"]
)
def test_the_parts_of_a_header_come_in_any_order(parts: str) -> None:
    sent = sign()
    found = claim_of(sent.url, sent.headers)
    scope = f"{KEY_ID}/{DATE[:8]}/us-east-1/dynamodb/aws4_request"
    written = parts.format(scope, b";".join(found.names).decode(), found.signature.decode())
    for _ in range(2):  # the second time it is known
        sent.headers[b"authorization"] = f"AWS4-HMAC-SHA256 {written}".encode()
        check(sent)
    sent.headers[b"authorization"] = sent.headers[b"authorization"].replace(found.signature, b"0" * 64)
    assert refusal(sent)[0] == "InvalidSignatureException"


def test_a_date_is_read_with_its_zone() -> None:
    sent = sign()
    del sent.headers[b"x-amz-date"]
    sent.headers[b"date"] = b"Fri, 15 Jan 2027 13:00:00 +0500"
    assert claim_of(sent.url, sent.headers).date == "20270115T080000Z"

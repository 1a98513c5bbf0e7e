"""What botocore signs is accepted, and nothing that was changed on its way."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.auth import sigv4
from hashrange.auth.canonical import canonical_path, canonical_query
from hashrange.auth.claim import claim_of
from hashrange.auth.signing import SigningKeys, signed_headers
from hashrange.errors import ClientError, InvalidSignatureException
from unit.auth.signed import HEADERS, KEY_ID, NOW, SECRET, Sent, check, sign

FRIENDLY = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
WORDS = st.lists(FRIENDLY, min_size=1, max_size=3).map("  ".join)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map("x-own-".__add__)
SEGMENTS = st.text(min_size=1, max_size=8).map(lambda text: quote(text, safe=""))
REQUESTS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["POST", "GET", "PUT", "DELETE"]),
        "url": st.lists(SEGMENTS, max_size=3).map(lambda parts: "http://localhost:8000/" + "/".join(parts)),
        "body": st.binary(max_size=50),
        "headers": st.dictionaries(NAMES, WORDS, max_size=3).map(lambda more: {**HEADERS, **more}),
        "token": st.none() | FRIENDLY,
        "region": st.sampled_from(["us-east-1", "eu-central-2", "local"]),
        "params": st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=3) | st.none(),
        "in_query": st.booleans(),
    }
)


@settings(max_examples=150, deadline=None)
@given(REQUESTS)
def test_whatever_botocore_signs_is_accepted(request_: dict[str, object]) -> None:
    check(sign(**request_))  # type: ignore[arg-type]


def flip(text: bytes, position: int) -> bytes:
    """The text with one character of it changed to another of the same kind."""
    position %= len(text)
    old = text[position : position + 1]
    return text[:position] + (b"b" if old != b"b" else b"c") + text[position + 1 :]


@settings(max_examples=300, deadline=None)
@given(REQUESTS, st.sampled_from(["method", "url", "header", "body", "lost", "secret"]), st.integers(0, 10**6))
def test_whatever_is_changed_on_the_way_is_refused(request_: dict[str, object], what: str, position: int) -> None:
    sent = sign(**request_)  # type: ignore[arg-type]
    secret = SECRET
    signed = sorted(claim_of(sent.url, sent.headers).names)
    name = signed[position % len(signed)]
    if what == "method":
        sent.method = b"PATCH"
    elif what == "url":
        sent.url = b"/changed" + sent.url
    elif what == "header":
        sent.headers[name] = flip(sent.headers[name], position)
    elif what == "lost":
        del sent.headers[name]
    elif what == "body":
        sent.body_as_sent += b" "
    else:
        secret = "another"
    with pytest.raises(ClientError):
        check(sent, secret=secret)


@pytest.mark.parametrize("in_query", [False, True])
def test_every_character_of_a_signature_counts(in_query: bool) -> None:
    sent = sign(in_query=in_query)
    signature = claim_of(sent.url, sent.headers).signature
    for position in range(len(signature)):
        changed = signature[:position] + (b"0" if signature[position] != 48 else b"1") + signature[position + 1 :]
        forged = replace(sent, headers=dict(sent.headers), url=sent.url.replace(signature, changed))
        if not in_query:
            forged.headers[b"authorization"] = sent.headers[b"authorization"].replace(signature, changed)
        with pytest.raises(InvalidSignatureException):
            check(forged)
    check(sent)


@pytest.mark.parametrize(("length", "tail"), [(0, b""), (62, b""), (64, b"00"), (63, b"\xff")])
def test_a_signature_is_not_matched_by_a_part_of_it_or_more(length: int, tail: bytes) -> None:
    sent = sign()
    signature = claim_of(sent.url, sent.headers).signature
    sent.headers[b"authorization"] = sent.headers[b"authorization"].replace(signature, signature[:length] + tail)
    with pytest.raises(InvalidSignatureException, match="does not match"):
        check(sent)


def test_our_own_signer_agrees() -> None:
    headers = signed_headers(
        SigningKeys(KEY_ID, SECRET),
        service="dynamodb",
        region="us-east-1",
        method="POST",
        host="localhost:8000",
        path="/",
        body=b"{}",
        headers={"x-amz-target": "DynamoDB_20120810.ListTables"},
        now_seconds=NOW,
    )
    check(Sent(b"POST", b"/", {name.encode(): value.encode() for name, value in headers.items()}, b"{}"))


def test_spaces_inside_a_header_are_collapsed() -> None:
    sent = sign(headers={**HEADERS, "x-own": "a   b\tc"})
    sent.headers[b"x-own"] = b"a b    c"
    check(sent)


def test_a_repeated_header_is_signed_as_one_with_commas() -> None:
    sent = sign(headers={**HEADERS, "x-own": "a,b"})
    sent.headers[b"x-own"] = b"a,b"
    check(sent)


def test_a_date_header_will_do_where_there_is_no_other() -> None:
    sent = sign(headers={**HEADERS, "Date": "now"})
    assert b"x-amz-date" not in sent.headers
    check(sent)


def test_the_signature_need_not_come_last() -> None:
    sent = sign()
    head, _, signature = sent.headers[b"authorization"].rpartition(b", Signature=")
    algorithm, _, parameters = head.partition(b" ")
    sent.headers[b"authorization"] = b"%b Signature=%b,%b" % (algorithm, signature, parameters)
    check(sent)


def test_a_body_may_be_left_unsigned_if_that_is_signed() -> None:
    sent = sign(url="https://localhost:8000/", context={"payload_signing_enabled": False})
    assert sent.headers[b"x-amz-content-sha256"] == b"UNSIGNED-PAYLOAD"
    check(sent)
    check(replace(sent, body_as_sent=b"another body"))


def test_nobody_else_may_say_that_a_body_is_unsigned() -> None:
    sent = sign()
    sent.headers[b"x-amz-content-sha256"] = b"UNSIGNED-PAYLOAD"
    with pytest.raises(InvalidSignatureException, match="'X-Amz-Content-Sha256' must be a 'SignedHeader'"):
        check(replace(sent, body_as_sent=b"another body"))


def test_the_hash_of_another_body_is_no_help() -> None:
    sent = sign(headers={**HEADERS, "X-Amz-Content-SHA256": "0" * 64})
    with pytest.raises(InvalidSignatureException):
        check(sent)


def test_the_example_of_the_aws_documentation_has_the_signing_key_it_says() -> None:
    key = sigv4.signing_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20120215", "us-east-1", "iam")
    assert key.hex() == "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d"


VANILLA = {b"host": b"example.amazonaws.com", b"x-amz-date": b"20150830T123600Z"}
PUBLISHED = {
    "get-vanilla": (
        Sent(b"GET", b"/", VANILLA),
        "service",
        b"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    ),
    "post-vanilla": (
        Sent(b"POST", b"/", VANILLA),
        "service",
        b"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    ),
    "get-vanilla-query-order-key-case": (
        Sent(b"GET", b"/?Param2=value2&Param1=value1", VANILLA),
        "service",
        b"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ),
    "get-header-value-trim": (
        Sent(b"GET", b"/", {**VANILLA, b"my-header1": b"value1", b"my-header2": b'"a   b   c"'}),
        "service",
        b"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ),
    "the example of the documentation": (
        Sent(
            b"GET",
            b"/?Action=ListUsers&Version=2010-05-08",
            {
                b"content-type": b"application/x-www-form-urlencoded; charset=utf-8",
                b"host": b"iam.amazonaws.com",
                b"x-amz-date": b"20150830T123600Z",
            },
        ),
        "iam",
        b"5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_signatures_that_aws_has_published_are_accepted(name: str) -> None:
    sent, service, signature = PUBLISHED[name]
    names = b";".join(sorted(sent.headers))
    scope = f"AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request".encode()
    authorization = b"AWS4-HMAC-SHA256 Credential=%b, SignedHeaders=%b, Signature=%b" % (scope, names, signature)
    signed = replace(sent, headers={**sent.headers, b"authorization": authorization})
    check(signed, secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", service=service, now=1_440_938_160)


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        (b"/", b"/"),
        (b"/example/..", b"/"),
        (b"/./example", b"/example"),
        (b"//example//", b"/example/"),
        (b"/%E1%88%B4", b"/%25E1%2588%25B4"),
        (b"/a b", b"/a%20b"),
        (b"/-._~0aZ", b"/-._~0aZ"),
        (b"/../../etc", b"/etc"),
    ],
)
def test_paths_are_normalised_and_encoded_once_more(path: bytes, canonical: bytes) -> None:
    assert canonical_path(path) == canonical


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        (b"", b""),
        (b"Param2=value2&Param1=value1", b"Param1=value1&Param2=value2"),
        (b"a=2&a=1", b"a=1&a=2"),
        (b"Z=1&a=1", b"Z=1&a=1"),
        (b"empty", b"empty="),
        (b"a=%2f&b=/", b"a=%2F&b=%2F"),
        (b"space=a+b&plus=a%2Bb", b"plus=a%2Bb&space=a%20b"),
        (b"%E1%88%B4=bar", b"%E1%88%B4=bar"),
        (b"X-Amz-Signature=1&X-Amz-Date=2", b"X-Amz-Date=2"),
    ],
)
def test_queries_are_sorted_and_encoded_in_one_way(query: bytes, canonical: bytes) -> None:
    assert canonical_query(query) == canonical

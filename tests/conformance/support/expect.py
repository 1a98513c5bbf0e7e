"""How tests say what a call is refused with: the code and the message, to the letter."""

from contextlib import contextmanager

import pytest
from botocore.exceptions import ClientError

ENVELOPE = "1 validation error detected: "


@contextmanager
def refuses(code, message):
    with pytest.raises(ClientError) as caught:
        yield caught
    error = caught.value.response["Error"]
    assert (error["Code"], error["Message"]) == (code, message)


def invalid(message):
    """A ValidationException whose message stands bare."""
    return refuses("ValidationException", message)


def enveloped(message):
    """A ValidationException about the shape of the request, as the newer validation layer reports it."""
    return refuses("ValidationException", ENVELOPE + message)


def not_found(message="Requested resource not found"):
    return refuses("ResourceNotFoundException", message)


def condition_failed():
    return refuses("ConditionalCheckFailedException", "The conditional request failed")


def error_of(call, **request):
    """The code and message that a call is refused with."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]

"""Shard iterators: a position in a shard, in a form that clients hand back."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from dataclasses import dataclass

import orjson

from hashrange.errors import ExpiredIteratorException, ValidationException
from hashrange.limits import SHARD_ITERATOR_SECONDS

ITERATOR_MICROS = SHARD_ITERATOR_SECONDS * 1_000_000
POSITION_MAX = 2**64 - 1
SEQUENCE_BASE = 10**20  # makes every sequence number 21 digits long, as clients demand


def sequence_text(sequence: int) -> str:
    return str(SEQUENCE_BASE + sequence)


def parse_sequence(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < SEQUENCE_BASE:
        raise ValidationException(f"Invalid SequenceNumber: {text}")
    return int(text) - SEQUENCE_BASE


@dataclass(frozen=True, slots=True)
class ShardIterator:
    """The next sequence number to read from a shard."""

    stream_arn: str
    shard_id: str
    position: int
    issued_at_micros: int

    def text(self) -> str:
        inner = orjson.dumps([self.shard_id, self.position, self.issued_at_micros])
        return f"{self.stream_arn}|1|{b64encode(inner).decode()}"

    @classmethod
    def parse(cls, text: str, now_micros: int) -> ShardIterator:
        parts = text.split("|")
        try:
            arn, version, inner = parts
            shard_id, position, issued_at_micros = orjson.loads(b64decode(inner, validate=True))
            iterator = cls(arn, str(shard_id), int(position), int(issued_at_micros))
        except (ValueError, TypeError, OverflowError, binascii.Error):
            raise ValidationException("Invalid ShardIterator") from None
        if version != "1" or not 0 <= iterator.position <= POSITION_MAX:
            raise ValidationException("Invalid ShardIterator")
        if now_micros - iterator.issued_at_micros > ITERATOR_MICROS:
            raise ExpiredIteratorException("Iterator expired. It was created more than 15 minutes ago.")
        return iterator

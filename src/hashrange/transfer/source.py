"""The objects that an import reads, one after the other, as one sequence of records with places to come back to."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hashrange.transfer.decompression import MalformedObject, pieces
from hashrange.transfer.input_formats import BadRecord, InputFormat, Put
from hashrange.transfer.objects import Body, Objects

ERRORS_PER_OBJECT_MAX = 10_000  # an object with more of them is not what it was taken for; the rest is not read


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the input: so many records of an object are done, and all objects before it.

    `errors` counts those of the records that were bad. Once an object is done, the place is behind its last record.
    """

    key: str = ""
    records: int = 0
    errors: int = 0
    is_object_done: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """A record, or the rest of an object, that no item can be made of."""

    reason: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that was read, how many bytes of the object were taken for it, and the place behind it."""

    found: Put | Bad | None  # None: an object has ended
    size_bytes: int
    place: Place


class Counted:
    """A body that counts what was read of it."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._bytes = 0

    def read(self, size: int, /) -> bytes:
        data = self._body.read(size)
        self._bytes += len(data)
        return data

    def close(self) -> None:
        self._body.close()

    def take_count(self) -> int:
        """The bytes read since this was last asked."""
        count, self._bytes = self._bytes, 0
        return count


class Source:
    """Reads on from a place. It is an iterator that knows where it is, so it can be kept between two steps."""

    def __init__(
        self, objects: Objects, bucket: str, prefix: str, compression: str, input_format: InputFormat, place: Place
    ) -> None:
        self._objects = objects
        self._bucket = bucket
        self._prefix = prefix
        self._compression = compression
        self._format = input_format
        self._body: Counted | None = None
        self._returned: Reading | None = None
        self.place = place
        self._readings = self._read(place)

    def __iter__(self) -> Iterator[Reading]:
        return self

    def __next__(self) -> Reading:
        if self._returned is not None:
            reading, self._returned = self._returned, None
        else:
            reading = next(self._readings)
        self.place = reading.place
        return reading

    def give_back(self, reading: Reading, place: Place) -> None:
        """Return what was just read, to be read again; the place is the one before it."""
        self._returned = reading
        self.place = place

    def close(self) -> None:
        self._readings.close()
        if self._body is not None:
            self._body.close()

    def _read(self, place: Place) -> Generator[Reading, None, None]:
        if place.key and not place.is_object_done:
            yield from self._read_object(place)
        for found in self._objects.list(self._bucket, self._prefix, after=place.key):
            yield from self._read_object(Place(found.key))

    def _read_object(self, place: Place) -> Iterator[Reading]:
        """The records of one object from a place on, and at last a reading that says that it has ended."""
        self._body = body = Counted(self._objects.get(self._bucket, place.key))
        records, errors = place.records, place.errors
        try:
            split = self._format.records(pieces(body, self._compression))
            is_again = records > 0
            for record in islice(split, records, None):
                if is_again:
                    body.take_count()  # these bytes were counted when they were first read
                    is_again = False
                records += 1
                found = self._found(record)
                errors += isinstance(found, Bad)
                yield Reading(found, body.take_count(), Place(place.key, records, errors))
                if errors >= ERRORS_PER_OBJECT_MAX:
                    raise MalformedObject(f"The object has {errors} bad records; the rest of it is not read")
        except MalformedObject as error:
            done = Place(place.key, records, errors + 1, is_object_done=True)
            yield Reading(Bad(str(error)), body.take_count(), done)
        else:
            yield Reading(None, body.take_count(), Place(place.key, records, errors, is_object_done=True))
        finally:
            body.close()

    def _found(self, record: Any) -> Put | Bad:
        try:
            return self._format.put_of(record)
        except BadRecord as error:
            return Bad(str(error), shown(record))


def shown(record: Any) -> str:
    """A record as a report tells it: its beginning; nothing of one that is nested too deeply to be written down."""
    try:
        text = record.decode(errors="replace") if isinstance(record, bytes) else str(record)
    except RecursionError:
        return ""
    return text[:200]

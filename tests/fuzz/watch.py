"""What must be true of every input, and the book in which it is written down when it is not.

An input may be refused in any way that a client understands. It may not make us fail: no unexpected exception, nothing
logged as an error, no answer that is not well formed, no second of processor time.
"""

from __future__ import annotations

import logging
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

SECONDS_MAX = 1.0  # of processor time: the machine may be busy with something else
HANG_SECONDS = 10.0
SHOWN_BYTES = 4000


class Broken(Exception):
    """A property does not hold. The text says which."""


class Hang(BaseException):
    """An input that would never have ended."""


@dataclass(slots=True)
class Finding:
    """One way to fail: the first input that did it, and how often it was seen."""

    signature: str
    target: str
    seed: int
    round: int
    input: bytes
    details: str
    times: int = 1

    def __str__(self) -> str:
        shown = self.input[:SHOWN_BYTES].decode(errors="backslashreplace")
        where = f"--target {self.target} --seed {self.seed} --round {self.round}"
        return f"{self.signature}  ({self.times} times, first: {where})\n  input: {shown}\n{self.details}"


class Errors(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@dataclass
class Watch:
    """Runs inputs one by one and keeps what they do."""

    target: str
    seed: int
    round: int = 0
    rounds: int = 0
    inputs: int = 0
    slowest_seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    _errors: Errors = field(default_factory=Errors)

    def each(self, data: bytes, run: Callable[[], str | None]) -> None:
        """Run one input; what `run` returns is counted as its outcome."""
        self.inputs += 1
        self._errors.records.clear()
        signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS, HANG_SECONDS)
        started = time.process_time()
        try:
            outcome = run()
        except Exception as error:
            self._note(signature_of(error), data, "".join(traceback.format_exception(error)))
            outcome = "finding"
        except Hang as hang:
            self._note("hang: " + signature_of(hang), data, "".join(traceback.format_exception(hang)))
            outcome = "finding"
        took = time.process_time() - started
        self.slowest_seconds = max(self.slowest_seconds, took)
        if took > SECONDS_MAX:
            self._note(f"slow: {outcome}", data, f"  {took:.2f} s")
        for record in self._errors.records:
            error = record.exc_info[1] if record.exc_info else None
            signature = record.getMessage() if error is None else signature_of(error)
            details = "" if error is None else "".join(traceback.format_exception(error))
            self._note(f"logged: {signature}", data, details)
        if outcome is not None:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def _note(self, signature: str, data: bytes, details: str) -> None:
        known = self.findings.get(signature)
        if known is not None:
            known.times += 1
            return
        self.findings[signature] = Finding(signature, self.target, self.seed, self.round, data, details)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Listen to the log, and end what hangs."""
        logger = logging.getLogger("hashrange")
        before = (logger.propagate, logger.level, list(logger.handlers))
        logger.propagate = False
        logger.setLevel(logging.ERROR)
        logger.handlers[:] = [self._errors]
        handler = signal.signal(signal.SIGPROF, raise_hang)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, handler)
            logger.propagate, _, logger.handlers[:] = before
            logger.setLevel(before[1])  # assigned, it would leave other loggers with what they remember of ours

    def started(self, number: int) -> None:
        """A new round, whose inputs are told apart from those of others by its number."""
        self.round = number
        self.rounds += 1


def raise_hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def signature_of(error: BaseException) -> str:
    """What tells one way to fail from another: the kind of error and the places it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/hashrange/" in frame.filename and "/tests/" not in frame.filename][-2:]
    places = " < ".join(f"{frame.filename.rpartition('/hashrange/')[2]}:{frame.name}" for frame in reversed(ours))
    text = str(error)[:100] if isinstance(error, Broken) else ""
    return f"{type(error).__name__} {text}{places}"

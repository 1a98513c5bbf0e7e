"""Numbers: 38 significant digits, magnitudes from 1E-130 to 9.99E+125, exact.

A number travels as text. `normalise` gives every number one spelling, its *canonical* text: plain decimal without
exponent, plus sign or needless zeros. Everything else here takes canonical text, so its length is bounded (some
170 characters) and arithmetic on it cannot be made expensive by a client.

A number other than zero is seen as significant digits and the power of ten of the first of them, its *magnitude*:
1200 is ("12", 3) and 0.05 is ("5", -2).
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

from hashrange.errors import InvalidContent, ValidationException
from hashrange.limits import NUMBER_DIGITS_MAX, NUMBER_EXPONENT_MAX, NUMBER_EXPONENT_MIN

NOT_NUMERIC = "The parameter cannot be converted to a numeric value"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_MANY_DIGITS = "Attempting to store more than 38 significant digits in a Number"

_WRITTEN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]+))?")

_CANONICAL = re.compile(r"0|-?(?:[1-9][0-9]*(?:\.[0-9]*[1-9])?|0\.[0-9]*[1-9])")

_EXPONENT_DIGITS_MAX = 9
_EXPONENT_BEYOND = 10**9  # more than the digits that fit into a request, so they cannot make up for it

# The sum of the largest and the smallest number has fewer than 300 digits, so nothing is ever rounded.
_EXACT = Context(prec=320)


def normalise(text: str) -> str:
    """The canonical text of a number as a client may write it."""
    if len(text) <= NUMBER_DIGITS_MAX:  # which is surely within the range
        if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
            return text
        if _CANONICAL.fullmatch(text) is not None:
            return text
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise _not_numeric(text)
    sign, whole, fraction, exponent_sign, exponent = match.groups(default="")
    if not whole and not fraction:
        raise _not_numeric(text)
    written = (whole + fraction).lstrip("0")
    # Zero has no first digit: the service goes by its last one, which refuses 0e126 and takes 0.0e126.
    last = _exponent(exponent_sign, exponent) - len(fraction)
    magnitude = last + len(written) - 1 if written else last
    digits = written.rstrip("0")
    _check_range(digits, magnitude)
    return _plain(sign == "-", digits, magnitude) if digits else "0"


def size_bytes(canonical: str) -> int:
    """What a number counts towards the size of its item: a byte, and one for each two digits on either side of the
    decimal point, and one for a minus sign."""
    if canonical.isdecimal():
        return 1 + (len(canonical.rstrip("0")) + 1) // 2
    negative = canonical[0] == "-"
    whole, _, fraction = canonical[negative:].partition(".")
    if whole == "0":  # zeros at either end do not count
        whole, fraction = "", fraction.lstrip("0")
    elif not fraction:
        whole = whole.rstrip("0")
    return 1 + (len(whole) + 1) // 2 + (len(fraction) + 1) // 2 + negative


def add(a: str, b: str) -> str:
    """The exact sum, or an error if it cannot be stored."""
    if _is_short_integer(a) and _is_short_integer(b):
        return str(int(a) + int(b))
    return _storable(_EXACT.add(Decimal(a), Decimal(b)))


def subtract(a: str, b: str) -> str:
    """The exact difference, or an error if it cannot be stored."""
    if _is_short_integer(a) and _is_short_integer(b):
        return str(int(a) - int(b))
    return _storable(_EXACT.subtract(Decimal(a), Decimal(b)))


def compare(a: str, b: str) -> int:
    """-1, 0 or 1: how `a` stands to `b`."""
    if a == b:
        return 0
    if _is_short_integer(a) and _is_short_integer(b):
        return -1 if int(a) < int(b) else 1
    return -1 if Decimal(a) < Decimal(b) else 1


def _is_short_integer(canonical: str) -> bool:
    """Whether a sum with another one has at most 38 digits."""
    return len(canonical) < NUMBER_DIGITS_MAX and "." not in canonical


def _storable(result: Decimal) -> str:
    """An operation says "overflow" for everything it cannot store, be it too large, too small or too exact."""
    if not result:
        return "0"
    try:
        return normalise(str(result))
    except ValidationException:
        raise ValidationException(OVERFLOW) from None


def _not_numeric(text: str) -> ValidationException:
    newer = f"{NOT_NUMERIC}: {text}"
    return InvalidContent(newer if text else NOT_NUMERIC, newer=newer, enveloped=True)


def _exponent(sign: str, digits: str) -> int:
    """The written exponent. One too long to be read is replaced by one that is certainly out of range."""
    digits = digits.lstrip("0")
    if len(digits) > _EXPONENT_DIGITS_MAX:
        value = _EXPONENT_BEYOND
    else:
        value = int(digits or "0")
    return -value if sign == "-" else value


def _check_range(digits: str, magnitude: int) -> None:
    if magnitude > NUMBER_EXPONENT_MAX:
        raise InvalidContent(OVERFLOW, enveloped=True)
    if magnitude < NUMBER_EXPONENT_MIN:
        raise InvalidContent(UNDERFLOW, enveloped=True)
    if len(digits) > NUMBER_DIGITS_MAX:
        raise InvalidContent(TOO_MANY_DIGITS, enveloped=True)


def _plain(negative: bool, digits: str, magnitude: int) -> str:
    """Canonical text from significant digits."""
    point = magnitude + 1  # how many digits stand left of the decimal point
    if point <= 0:
        text = "0." + "0" * -point + digits
    elif point >= len(digits):
        text = digits + "0" * (point - len(digits))
    else:
        text = f"{digits[:point]}.{digits[point:]}"
    return "-" + text if negative else text


def _split(canonical: str) -> tuple[bool, str, int]:
    """Sign, significant digits and magnitude of a number other than zero."""
    negative = canonical[0] == "-"
    whole, _, fraction = (canonical[1:] if negative else canonical).partition(".")
    if whole != "0":
        return negative, (whole + fraction).rstrip("0"), len(whole) - 1
    digits = fraction.lstrip("0")
    return negative, digits, len(digits) - len(fraction) - 1


# --- Bytes that sort like the numbers -------------------------------------------------------------------------------
#
#     positive   header  pair  pair ...  00         header = 80 + magnitude in powers of 100, counted from 1E-130
#     zero       80  00                             pair   = two decimal digits, as hexadecimal, plus 01
#     negative   every byte of the positive number, inverted
#
# A pair is never 00, so the end of a number sorts before any further digit, and whatever follows a number in a key
# cannot change the order. The 128 powers of 100 leave no header for zero, which borrows that of the smallest numbers.

_HEADER_POSITIVE = 0x80
_HEADER_SHIFT = _HEADER_POSITIVE - NUMBER_EXPONENT_MIN // 2
_ZERO = bytes((_HEADER_POSITIVE, 0))
_PAIR_TO_BYTE = bytes((value + 1) % 256 for value in range(256))
_INVERTED = bytes(255 - value for value in range(256))


def ordered(canonical: str) -> bytes:
    """Bytes that compare as the numbers do, and tell where they end: at most 22 of them."""
    if canonical == "0":
        return _ZERO
    negative, digits, magnitude = _split(canonical)
    if magnitude % 2 == 0:
        digits = "0" + digits  # the first pair holds one digit
    if len(digits) % 2:
        digits += "0"
    pairs = bytes.fromhex(digits).translate(_PAIR_TO_BYTE)
    positive = bytes((_HEADER_SHIFT + magnitude // 2,)) + pairs + b"\x00"
    return positive.translate(_INVERTED) if negative else positive

"""JSON number literals to Python numbers that compare exactly."""

from __future__ import annotations

from decimal import Decimal

#: Digits of one number, and the size of its exponent, that are judged.
MAX_DIGITS = 4_300
MAX_EXPONENT = 1_000_000
#: From here on a double no longer holds every integer.
EXACT_FLOAT = 2.0**53

_INT_DIGITS = 600  # below the smallest limit that Python can be told to put on int(str) and str(int)


class OverLimitError(Exception):
    """A number too long to be judged; the message is a sentence that names the limit."""


def read_number(whole: str, fraction: str, exponent: str) -> int | float | Decimal:
    """Return the value of a literal given in its three parts, ``fraction`` with its point, ``exponent`` with its e.

    An ``int`` where the value is integral and was written without a point or is too large for a double to hold every
    integer, a ``float`` where a double is near enough, a ``Decimal`` for all that neither holds.

    Raises:
        OverLimitError: there are more digits than ``MAX_DIGITS``, or an exponent beyond ``MAX_EXPONENT``.

    """
    if not fraction and not exponent and len(whole) <= _INT_DIGITS:
        return int(whole)
    digits = whole.lstrip("-") + fraction[1:]
    literal = whole + fraction + exponent
    if fraction or exponent:
        number = float(literal)
        if -EXACT_FLOAT < number < EXACT_FLOAT and (number != 0.0 or not digits.strip("0")):
            return number
    if len(digits) > MAX_DIGITS:
        raise OverLimitError(f"a number has more than {MAX_DIGITS:,} digits, the limit")
    power = exponent.lstrip("eE+-0") or "0"
    if len(power) > len(str(MAX_EXPONENT)) or int(power) > MAX_EXPONENT:
        raise OverLimitError(f"a number's exponent is beyond {MAX_EXPONENT:,}, the limit")
    exact = Decimal(literal)
    if 0 <= exact.adjusted() < _INT_DIGITS and exact == exact.to_integral_value():
        return int(exact)
    return exact

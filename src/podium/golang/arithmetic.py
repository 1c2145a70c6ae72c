"""Arithmetic that gives the very numbers Go gives.

Scores are compared for equality with kube-scheduler's, so a last bit of a logarithm or a half
rounded the other way is a different decision. Python and numpy differ from Go in four places that
scoring meets: integer division of negative numbers, rounding of halves, the natural logarithm and
the reading of integers. Each has its Go twin here, or for whole arrays in `array_arithmetic`, so
that who reads a quantity does not load numpy; everything else (`+ - * /`, `sqrt`) is IEEE
exact in both, as long as the order of operations is kept.
"""

import math
import re

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

_DECIMAL_INTEGER = re.compile(r"[+-]?[0-9]+")

# Go's math.Log on linux/amd64 (FreeBSD's e_log.c): ln 2 in two parts and seven coefficients.
_SQRT_HALF = 0.70710678118654752440
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_L1 = 6.666666666666735130e-01
_L2 = 3.999999999940941908e-01
_L3 = 2.857142874366239149e-01
_L4 = 2.222219843214978396e-01
_L5 = 1.818357216161805012e-01
_L6 = 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01


def wrap_int64(number: int) -> int:
    """What is left of a number when Go's int64 overflows: its low 64 bits."""
    return (number - INT64_MIN) % 2**64 + INT64_MIN


def quotient(dividend: int, divisor: int) -> int:
    """`dividend / divisor` as Go divides integers: truncated toward zero, so -7 / 2 is -3."""
    magnitude = abs(dividend) // abs(divisor)
    return magnitude if (dividend < 0) == (divisor < 0) else -magnitude


def go_log(number: float) -> float:
    """Go's `math.Log` of a positive number, bit for bit.

    `math.log` differs in about 1% of the integers up to 200,000, first at 3, which is the size
    that a topology with one domain has in PodTopologySpread's weights.
    """
    fraction, exponent = math.frexp(number)
    if fraction < _SQRT_HALF:
        fraction *= 2.0
        exponent -= 1
    f = fraction - 1.0
    s = f / (2.0 + f)
    s2 = s * s
    s4 = s2 * s2
    t1 = s2 * (_L1 + s4 * (_L3 + s4 * (_L5 + s4 * _L7)))
    t2 = s4 * (_L2 + s4 * (_L4 + s4 * _L6))
    half_square = 0.5 * f * f
    return exponent * _LN2_HIGH - (
        (half_square - (s * (half_square + (t1 + t2)) + exponent * _LN2_LOW)) - f
    )


def parse_int(text: str) -> int | None:
    """Go's `ParseInt(text, 10, 64)`, None where it fails.

    Unlike `int()` it takes no spaces, underscores or digits of other scripts, and nothing that
    an int64 cannot hold.
    """
    # No label or taint value is longer; the limit bounds what a hostile text can make `int` read.
    if len(text) > 400 or _DECIMAL_INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if INT64_MIN <= number <= INT64_MAX else None

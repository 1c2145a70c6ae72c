"""JSON values as Go's `%v` prints them, for error texts that show them so, and numbers in JSON.

Worked example: `{"b": [1, true], "a": null}` prints as `map[a:<nil> b:[1 true]]`.
"""

import re
from decimal import Decimal

from podium.golang.json_values import JsonValue


def go_value(value: JsonValue) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return go_float(value)
        case dict():
            return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_value, value))}]"
        case _:
            return str(value)


def go_float(number: float) -> str:
    """The shortest text that reads back as the number; large and small ones with an exponent."""
    if number != 0 and not 1e-4 <= abs(number) < 1e21:
        mantissa, _, exponent = repr(number).partition("e")
        if exponent:
            return f"{mantissa.removesuffix('.0')}e{int(exponent):+03d}"
    text = f"{number:.0f}" if number == int(number) else repr(number)
    return text.removesuffix(".0")


def json_number(number: float) -> str:
    """A number as Go's JSON encoder writes it.

    >>> json_number(1e20), json_number(1e21), json_number(0.00001), json_number(1e-7)
    ('100000000000000000000', '1e+21', '0.00001', '1e-7')
    """
    text = repr(number)
    if isinstance(number, int):
        return text
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return format(Decimal(text), "f").removesuffix(".0")
    return re.sub(r"\.0(?=e|$)", "", re.sub(r"e-0(?=\d$)", "e-", text))

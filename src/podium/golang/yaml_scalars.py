"""What a YAML scalar means to kubectl.

kubectl reads YAML as go-yaml v2 does (a YAML 1.1 of its own: `yes` and `on` are booleans, `017` and
`0o17` octal, dates and base-60 numbers plain strings) and hands it on as JSON. Reading manifests
any other way would schedule other pods than `kubectl apply` creates, so these rules are followed
to the letter (go-yaml v2 `resolve.go`, sigs.k8s.io/yaml `yaml.go`).
"""

import math
import re
from base64 import b64decode

Scalar = str | int | float | bool | None

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
# Only scalars that start with one of these can be anything but a string.
_NUMBER_STARTS = frozenset("+-.0123456789")
_WORD_STARTS = frozenset("yYnNtTfFoO~")

_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = ((2, 16), (3, 2), (4, 8), (5, 10))
# Far more digits than 64 bits can have, and fewer than Python refuses to convert.
_LONGEST_INTEGER = 1000
# From here on Go writes floats into JSON with an exponent, and they stay floats.
_LAST_PLAIN_FLOAT = 1e21


class ScalarError(ValueError):
    """A scalar that cannot become JSON; the message says why."""


def plain(text: str) -> Scalar:
    """The value of an unquoted scalar without a tag."""
    start = text[:1]
    if start in _NUMBER_STARTS:
        number = _number(text)
        return text if number is None else number
    if not start or start in _WORD_STARTS:
        return _WORDS.get(text, text)
    return text


def read_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag, quoted or not.

    upstream: a tag that go-yaml does not know makes the scalar a string.
    """
    short = tag.removeprefix(_TAG)
    if short == "binary":
        try:
            return b64decode(text, validate=True).decode()
        except ValueError:
            raise ScalarError("!!binary value is not base64 of UTF-8 text") from None
    if short not in ("bool", "int", "float", "null"):
        return text
    value = plain(text)
    if _fits(short, value):
        return value
    raise ScalarError(f'"{text}" is not of the type its tag !!{short} demands')


def key_text(value: Scalar) -> str:
    """A map key as JSON has it: a string."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value).removesuffix(".0")
    raise ScalarError("a key is null")


def _number(text: str) -> int | float | None:
    word = _WORDS.get(text)
    if isinstance(word, float):
        raise ScalarError(f"{text} is not a number that JSON can express")
    digits = text.replace("_", "") if text[0] != "." else text
    match = _INTEGER.fullmatch(digits)
    if match is not None and len(digits) <= _LONGEST_INTEGER:
        number = next(int(match[group], base) for group, base in _BASES if match[group])
        number = -number if match[1] == "-" else number
        if -(2**63) <= number < (2**64 if not match[1] else 2**63):
            return number
    if _FLOAT.fullmatch(digits) is None:
        return None
    value = float(digits)
    if math.isinf(value):
        return None  # upstream: what overflows a float stays a string
    return int(value) if value.is_integer() and abs(value) < _LAST_PLAIN_FLOAT else value


def _fits(short: str, value: Scalar) -> bool:
    match short:
        case "bool":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, int | float) and not isinstance(value, bool)

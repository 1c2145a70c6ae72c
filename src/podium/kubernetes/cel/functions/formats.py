"""`format.dns1123Label().validate(x)`: the name formats Kubernetes knows, as CEL values.

`validate` gives `optional.none()` for a good text, otherwise the list of what is wrong with it.
"""

import base64
import binascii
import datetime
import re
from collections.abc import Callable

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.functions.moments import parse_timestamp
from podium.kubernetes.cel.functions.urls import is_url
from podium.kubernetes.cel.library import Functions, parsing_cost
from podium.kubernetes.cel.values import NONE, Opaque, Optional, some

FORMATS = Functions()

Validation = Callable[[str], list[str]]


class NamedFormat(Opaque):
    __slots__ = ("name", "problems")
    TYPE_NAME = "kubernetes.NamedFormat"

    def __init__(self, name: str, problems: Validation) -> None:
        self.name = name
        self.problems = problems

    def same(self, other: "NamedFormat") -> bool:
        return self.name == other.name


def _pattern(expression: str, longest: int, text: str) -> Validation:
    compiled = re.compile(expression)

    def problems(value: str) -> list[str]:
        found: list[str] = []
        if len(value.encode()) > longest:
            found.append(f"must be no more than {longest} bytes")
        if compiled.fullmatch(value) is None:
            found.append(text)
        return found

    return problems


def _allow_suffix(inner: Validation) -> Validation:
    """A name that may still get a suffix: a trailing dash is fine."""
    return lambda value: inner(value[:-1] + "a" if value.endswith("-") else value)


def _check_qualified_name(value: str) -> list[str]:
    prefix, slash, name = value.rpartition("/")
    if slash and ("/" in prefix or not prefix):
        return [f"a qualified name {_NAME_TEXT}"]
    found = [f"prefix part {text}" for text in _SUBDOMAIN(prefix)] if slash else []
    return found + [f"name part {text}" for text in _NAME(name)]


def _label_value(value: str) -> list[str]:
    return [] if not value else _LABEL_VALUE(value)


def _attempt(read: Callable[[str], object], text: str) -> Validation:
    def problems(value: str) -> list[str]:
        try:
            read(value)
        except (CelError, ValueError, binascii.Error):
            return [text]
        return []

    return problems


def _date(value: str) -> object:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value) is None:
        raise ValueError(value)
    return datetime.date.fromisoformat(value)


_NAME_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LABEL = _pattern(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?",
    63,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
)
_SUBDOMAIN = _pattern(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*",
    253,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
)
_LABEL_1035 = _pattern(
    r"[a-z](?:[-a-z0-9]*[a-z0-9])?",
    63,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123',"
    " regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
)
_NAME = _pattern(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", 63, _NAME_TEXT)
_LABEL_VALUE = _pattern(
    r"(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    63,
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or"
    " '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
)

_FORMATS: dict[str, Validation] = {
    "dns1123Label": _LABEL,
    "dns1123Subdomain": _SUBDOMAIN,
    "dns1035Label": _LABEL_1035,
    "qualifiedName": _check_qualified_name,
    "dns1123LabelPrefix": _allow_suffix(_LABEL),
    "dns1123SubdomainPrefix": _allow_suffix(_SUBDOMAIN),
    "dns1035LabelPrefix": _allow_suffix(_LABEL_1035),
    "labelValue": _label_value,
    "uri": lambda value: [] if is_url(value) else ["invalid URI"],
    "uuid": _pattern(
        r"(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})",
        1 << 20,
        "does not match the UUID format",
    ),
    "byte": _attempt(lambda value: base64.b64decode(value, validate=True), "invalid base64"),
    "date": _attempt(_date, "invalid date"),
    "datetime": _attempt(parse_timestamp, "invalid datetime"),
}


def _declare(name: str, problems: Validation) -> None:
    named = NamedFormat(name, problems)

    @FORMATS.define(f"format.{name}() -> namedFormat")
    def _get() -> NamedFormat:
        return named


for _name, _problems in _FORMATS.items():
    _declare(_name, _problems)


@FORMATS.define("format.named(string) -> optional<namedFormat>")
def _named(name: str) -> Optional:
    problems = _FORMATS.get(name)
    return NONE if problems is None else some(NamedFormat(name, problems))


@FORMATS.define("(namedFormat).validate(string) -> optional<list<string>>", cost=parsing_cost)
def _validate(named: NamedFormat, value: str) -> Optional:
    problems = named.problems(value)
    return some(problems) if problems else NONE

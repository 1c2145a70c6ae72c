"""What counts as a name, and the words in which a bad one is refused.

Each function gives every problem of a text, and an empty list for a good one. Names of objects may
be prefixes that get a suffix (`generateName`): there a dash at the end is no problem, which
`as_prefix` says. Texts are upstream's (`apimachinery/pkg/util/validation`).
"""

import re
from collections.abc import Callable
from typing import Final

from podium.golang.text_cache import cache_short_texts

NameRule = Callable[[str], list[str]]

_LABEL_FORM: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORM: Final = f"{_LABEL_FORM}(\\.{_LABEL_FORM})*"
_DNS1035_FORM: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_WILDCARD_FORM: Final = f"\\*\\.{_SUBDOMAIN_FORM}"
_LOOSE_LABEL_FORM: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_LOOSE_SUBDOMAIN_FORM: Final = f"{_LOOSE_LABEL_FORM}(\\.{_LOOSE_LABEL_FORM})*"
_CONFIG_KEY_FORM: Final = "[-._a-zA-Z0-9]+"
_HEADER_FORM: Final = "[-A-Za-z0-9]+"
_PERCENT_FORM: Final = "[0-9]+%"

_LABEL: Final = re.compile(_LABEL_FORM)
# Possessive: nothing is gained by giving a part back, and remembering how takes 200 bytes a part.
_SUBDOMAIN: Final = re.compile(f"{_SUBDOMAIN_FORM}+")
_WILDCARD: Final = re.compile(_WILDCARD_FORM)
_LOOSE_SUBDOMAIN: Final = re.compile(f"{_LOOSE_SUBDOMAIN_FORM}+")
_DNS1035: Final = re.compile(_DNS1035_FORM)
_CONFIG_KEY: Final = re.compile(_CONFIG_KEY_FORM)
_HEADER: Final = re.compile(_HEADER_FORM)
_PERCENT: Final = re.compile(_PERCENT_FORM)
_PORT_CHARACTERS: Final = re.compile(r"[-a-z0-9]+")
_PRINTABLE: Final = re.compile(r"[ -<>-~]+")

_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253
_MAX_PORT_NAME: Final = 15

_ENDS: Final = "and must start and end with an alphanumeric character"
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    f"{_ENDS} (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL_FORM}')"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    f"'.', {_ENDS} (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORM}')"
)
_WILDCARD_RULE: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    f"character (e.g. '*.example.com', regex used for validation is '{_WILDCARD_FORM}')"
)
_LOOSE_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    f"or '.', {_ENDS} (e.g. 'example.com', regex used for validation is '{_LOOSE_SUBDOMAIN_FORM}')"
)
_DNS1035_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_DNS1035_FORM}')"
)
_CONFIG_KEY_RULE: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
    f" or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY_FORM}')"
)
_HEADER_RULE: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    f"regex used for validation is '{_HEADER_FORM}')"
)
_PERCENT_RULE: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    f"'93%', regex used for validation is '{_PERCENT_FORM}')"
)


def in_range(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def at_most(limit: int) -> str:
    return f"must be no more than {limit} characters"


def as_prefix(name: str) -> str:
    """The name that a prefix may grow into, for rules that know only whole names."""
    # upstream: the last two characters are dropped for the one that stands for the suffix.
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@cache_short_texts(4096)
def _is_subdomain(text: str) -> bool:
    return len(text) <= _MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def subdomain_problems(text: str) -> list[str]:
    """The rule for the names of most objects."""
    if _is_subdomain(text):
        return []
    problems = [at_most(_MAX_SUBDOMAIN)] if _size(text) > _MAX_SUBDOMAIN else []
    if not _SUBDOMAIN.fullmatch(text):
        problems.append(_SUBDOMAIN_RULE)
    return problems


@cache_short_texts(4096)
def _is_label(text: str) -> bool:
    return len(text) <= _MAX_LABEL and _LABEL.fullmatch(text) is not None


def label_problems(text: str) -> list[str]:
    """The rule for namespaces, containers and volumes: a subdomain without dots."""
    if _is_label(text):
        return []
    problems = [at_most(_MAX_LABEL)] if _size(text) > _MAX_LABEL else []
    if not _LABEL.fullmatch(text):
        dotted = _SUBDOMAIN.fullmatch(text) is not None
        problems.append("must not contain dots" if dotted else _LABEL_RULE)
    return problems


def dns1035_problems(text: str) -> list[str]:
    problems = [at_most(_MAX_LABEL)] if _size(text) > _MAX_LABEL else []
    if not _DNS1035.fullmatch(text):
        problems.append(_DNS1035_RULE)
    return problems


def wildcard_problems(text: str) -> list[str]:
    """Of a host such as `*.example.com`."""
    problems = [at_most(_MAX_SUBDOMAIN)] if _size(text) > _MAX_SUBDOMAIN else []
    if not _WILDCARD.fullmatch(text):
        problems.append(_WILDCARD_RULE)
    return problems


def search_domain_problems(text: str) -> list[str]:
    """Search domains of a resolver may have underscores."""
    problems = [at_most(_MAX_SUBDOMAIN)] if _size(text) > _MAX_SUBDOMAIN else []
    if not _LOOSE_SUBDOMAIN.fullmatch(text):
        problems.append(_LOOSE_SUBDOMAIN_RULE)
    return problems


def path_segment_problems(text: str) -> list[str]:
    """The least that every name keeps to: it is in a URL."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in text]


def port_name_problems(text: str) -> list[str]:
    problems = [at_most(_MAX_PORT_NAME)] if _size(text) > _MAX_PORT_NAME else []
    if not _PORT_CHARACTERS.fullmatch(text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= character <= "z" for character in text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def port_number_problems(port: int) -> list[str]:
    return [] if 1 <= port <= 65535 else [in_range(1, 65535)]


def variable_name_problems(text: str) -> list[str]:
    """Environment variables may have any name that a shell could not even write."""
    if not text:
        return ["environment variable name must be non-empty"]
    if not _PRINTABLE.fullmatch(text):
        return [
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        ]
    return []


def config_key_problems(text: str) -> list[str]:
    """Keys of config maps and secrets become file names."""
    problems = [at_most(_MAX_SUBDOMAIN)] if _size(text) > _MAX_SUBDOMAIN else []
    if not _CONFIG_KEY.fullmatch(text):
        problems.append(_CONFIG_KEY_RULE)
    if text in (".", ".."):
        problems.append(f"must not be '{text}'")
    elif text.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def header_name_problems(text: str) -> list[str]:
    return [] if _HEADER.fullmatch(text) else [_HEADER_RULE]


def percent_problems(text: str) -> list[str]:
    return [] if _PERCENT.fullmatch(text) else [_PERCENT_RULE]

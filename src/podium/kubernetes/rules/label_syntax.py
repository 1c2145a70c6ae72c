"""What counts as a label key or value, and the words in which a bad one is refused.

Selectors, node affinity and extended resource names share these rules. kube-scheduler shows the
texts to users (`parsing pod: key: Invalid value: ...`), so they keep upstream's wording
(`staging/src/k8s.io/apimachinery/pkg/api/validate/content`).
"""

import re

_NAME_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORM = f"({_NAME_FORM})?"
_SUBDOMAIN_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

_NAME = re.compile(_NAME_FORM)
_VALUE = re.compile(_VALUE_FORM)
# Possessive: nothing is gained by giving a part back, and remembering how takes 200 bytes a part.
_SUBDOMAIN = re.compile(f"{_SUBDOMAIN_FORM}+")

# Most keys and values look like this, and are good.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PLAIN_KEY = re.compile(rf"(?:(?=[^/]{{1,253}}/){_SUBDOMAIN_FORM}/)?{_PLAIN_VALUE.pattern}")

_MAX_NAME = 63
_MAX_VALUE = 63
_MAX_SUBDOMAIN = 253

_ALPHANUMERIC_ENDS = (
    "consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
# upstream: the list of examples really has two spaces after each comma.
_NAME_RULE = (
    f"must {_ALPHANUMERIC_ENDS} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_NAME_FORM}')"
)
_VALUE_RULE = (
    f"a valid label must be an empty string or {_ALPHANUMERIC_ENDS} (e.g. 'MyValue',  or "
    f"'my_value',  or '12345', regex used for validation is '{_VALUE_FORM}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN_FORM}')"
)


def is_plain_key(key: str) -> bool:
    """Whether a label key is seen to be valid at first sight."""
    return _PLAIN_KEY.fullmatch(key) is not None


def is_plain_value(value: str) -> bool:
    """Whether a label value is seen to be valid at first sight."""
    return _PLAIN_VALUE.fullmatch(value) is not None


def key_problems(key: str) -> list[str]:
    """Everything wrong with a label key (`name` or `prefix/name`); empty if it is valid."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    elif "/" in name:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems.extend(f"prefix part {problem}" for problem in _subdomain_problems(prefix))
    if not name:
        problems.append("name part must be non-empty")
    elif _size(name) > _MAX_NAME:
        problems.append(f"name part {_too_long(_MAX_NAME)}")
    if not _NAME.fullmatch(name):
        problems.append(f"name part {_NAME_RULE}")
    return problems


def value_problems(value: str) -> list[str]:
    """Everything wrong with a label value; empty if it is valid."""
    problems = []
    if _size(value) > _MAX_VALUE:
        problems.append(_too_long(_MAX_VALUE))
    if not _VALUE.fullmatch(value):
        problems.append(_VALUE_RULE)
    return problems


def _subdomain_problems(text: str) -> list[str]:
    problems = []
    if _size(text) > _MAX_SUBDOMAIN:
        problems.append(_too_long(_MAX_SUBDOMAIN))
    if not _SUBDOMAIN.fullmatch(text):
        problems.append(_SUBDOMAIN_RULE)
    return problems


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"

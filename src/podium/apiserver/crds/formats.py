"""The formats of texts that schemas of custom resources may ask for.

A format that is not listed is no condition, as upstream has it.
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import Final

from podium.kubernetes.schema.scalars import ScalarError, canonical_time
from podium.kubernetes.validation.names import label_problems, subdomain_problems

_UUID: Final = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_DURATION: Final = re.compile(r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)\s*)+")
_LONGEST_DURATION: Final = 1000
"""The expression tries again at every digit."""
_HOSTNAME: Final = re.compile(
    r"(?=.{1,255}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*",
    re.IGNORECASE,
)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _parses(parse: Callable[[str], object], *errors: type[Exception]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except errors:
            return False
        return True

    return check


def _is_network(text: str) -> bool:
    return "/" in text and _parses(lambda each: ipaddress.ip_network(each, False), ValueError)(text)


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "datetime": _parses(canonical_time, ScalarError),
    "date": _parses(date.fromisoformat, ValueError),
    "duration": lambda text: (
        len(text) <= _LONGEST_DURATION and _DURATION.fullmatch(text) is not None
    ),
    "ipv4": _parses(ipaddress.IPv4Address, ValueError),
    "ipv6": _parses(ipaddress.IPv6Address, ValueError),
    "cidr": _is_network,
    "mac": _matches(r"([0-9a-f]{2}[:-]){5}([0-9a-f]{2}[:-][0-9a-f]{2}[:-])?[0-9a-f]{2}"),
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _matches(_UUID % ("4", "[89ab]")),
    "uuid5": _matches(_UUID % ("5", "[89ab]")),
    "hexcolor": _matches("#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "hostname": lambda text: _HOSTNAME.fullmatch(text) is not None,
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "uri": _matches(r"(/|[a-z][-+.a-z0-9]*:)\S*"),
    "byte": _parses(lambda text: base64.b64decode(text, validate=True), binascii.Error, ValueError),
    "password": lambda _text: True,
    "k8sshortname": lambda text: not label_problems(text),
    "k8slongname": lambda text: not subdomain_problems(text),
}


def is_known(format_name: str) -> bool:
    return format_name.replace("-", "") in _CHECKS


def fits(format_name: str, text: str) -> bool:
    return _CHECKS[format_name.replace("-", "")](text)

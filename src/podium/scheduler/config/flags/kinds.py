"""The types of flags, versions included: how each reads its text, adds up, and shows itself.

A kind is what pflag calls a value. Of a scalar the last setting wins; a list, a map or a set of
patterns grows with every further one, and the first replaces the default. Refusals are
`ValueError`s in the words of Go's libraries; the parser puts the flag's name around them.

Version numbers as Kubernetes' own flags take them: `1.35`, `v1.36.4-beta.1+build`. Two grammars: a
semantic version has exactly three numbers and a well-formed rest, a generic one has two or more and
anything behind them. Refusals are upstream's.

Source: `staging/src/k8s.io/apimachinery/pkg/util/version/version.go`.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from podium.golang.durations import Duration
from podium.golang.quoting import go_quote
from podium.golang.strconv import parse_bool, parse_float32, parse_int, parse_uint, read_list
from podium.golang.urls import parse_ip
from podium.kubernetes.releases.release import release
from podium.kubernetes.rules.quantity import QuantityError
from podium.kubernetes.rules.quantity import value as quantity_value

_QUANTITY: Final = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*")


@dataclass(frozen=True, slots=True)
class FlagKind:
    """`read` makes a value of a text, given what was set before (None at first)."""

    type_name: str
    """What usage calls the value; "" where there is nothing to say."""
    read: Callable[[str, Any], Any]
    shown: Callable[[Any], str] = str
    bare: str = ""
    """What the flag means without a value; "" if it needs one."""
    zero: Any = ""
    """What a flag has that has no other default."""


class CertificatePair(NamedTuple):
    """A certificate for some names, or for those it says itself."""

    certificate_file: str
    key_file: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        pair = f"{self.certificate_file},{self.key_file}"
        return f"{pair}:{','.join(self.names)}" if self.names else pair


class FileVerbosity(NamedTuple):
    """One entry of `--vmodule`."""

    pattern: str
    level: int


def _scalar(read: Callable[[str], Any]) -> Callable[[str, Any], Any]:
    return lambda text, _before: read(text)


def _grow_value(read: Callable[[str], tuple[Any, ...]]) -> Callable[[str, Any], Any]:
    return lambda text, before: (*(before or ()), *read(text))


def _word(on: bool) -> str:
    return "true" if on else "false"


def _short_float(number: float) -> str:
    """As few digits as tell the number from its neighbours, with an exponent from a million on."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else f"{number:+}".title()
    for digits in range(1, 10):
        scientific = f"{number:.{digits - 1}e}"
        if parse_float32(scientific) == number:
            exponent = int(scientific.rpartition("e")[2])
            return scientific if not -4 <= exponent < 6 else f"{number:.{max(digits, 6)}g}"
    return str(number)


def _address(text: str, before: Any) -> Any:
    """An IP address; nothing changes if the text is empty, which is why `before` may stay None."""
    if not text:
        return before
    try:
        if "%" in text:
            raise ValueError
        return str(parse_ip(text.strip()))
    except ValueError:
        raise ValueError(f"failed to parse IP: {go_quote(text)}") from None


def _int32s(text: str) -> tuple[int, ...]:
    return tuple(parse_int(part, 32) for part in text.split(","))


def _string_map(text: str, before: Any) -> Mapping[str, str]:
    match text.count("="):
        case 0:
            raise ValueError(f"{text} must be formatted as key=value")
        case 1:
            pairs: tuple[str, ...] = (text.strip('"'),)
        case _:
            pairs = read_list(text)
    found: dict[str, str] = dict(before or {})
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{pair} must be formatted as key=value")
        found[key] = value
    return found


def _components(text: str, before: Any) -> Mapping[str, tuple[str, ...]]:
    """`[component:]setting,...`, the settings of each component in the order given."""
    found: dict[str, tuple[str, ...]] = dict(before or {})
    for pair in filter(None, text.split(",")):
        component, colon, setting = pair.partition(":")
        if not colon:
            component, setting = "", pair
        key = component.strip()
        found[key] = (*found.get(key, ()), setting.strip())
    return found


def _certificate_pair(text: str) -> tuple[CertificatePair, ...]:
    pair, colon, names = text.partition(":")
    if colon and not names.strip():
        raise ValueError("empty names list is not allowed")
    files = [part.strip() for part in pair.strip().split(",")]
    if len(files) != 2:
        raise ValueError("expected comma separated certificate and key file paths")
    listed = tuple(name.strip() for name in names.strip().split(",")) if colon else ()
    return (CertificatePair(files[0], files[1], listed),)


def _verbosities(text: str) -> tuple[FileVerbosity, ...]:
    found = []
    for entry in filter(None, text.split(",")):
        parts = entry.split("=")
        if len(parts) != 2 or not all(parts):
            raise ValueError(f"{go_quote(entry)} does not have the pattern=N format")
        try:
            found.append(FileVerbosity(parts[0], parse_uint(parts[1], 31)))
        except ValueError as problem:
            raise ValueError(f"parsing verbosity in {go_quote(entry)}: {problem}") from None
    return tuple(found)


def _quantity(text: str) -> str:
    if not text or not _QUANTITY.fullmatch(text):
        raise ValueError(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    try:
        quantity_value(text)
    except QuantityError:
        raise ValueError("unable to parse quantity's suffix") from None
    return text


def _version(text: str) -> str:
    """`true`, `false`, `raw`, or the version that is to be reported."""
    if text == "raw":
        return text
    if not text.startswith("v"):
        return _word(parse_bool(text))
    problem = reported_version_problem(text)
    if problem:
        raise ValueError(problem)
    return text


def _severity(text: str) -> str:
    return text if text.upper() in ("INFO", "WARNING", "ERROR", "FATAL") else str(parse_int(text))


def _bracket_values(values: Any) -> str:
    return f"[{','.join(map(str, values))}]"


def _as_list(values: tuple[str, ...]) -> str:
    return _bracket_values(_csv_field(value) for value in values)


def _as_map(values: Mapping[str, str] | None) -> str:
    return _bracket_values(
        _csv_field(f"{key}={value}") for key, value in sorted((values or {}).items())
    )


def _csv_field(text: str) -> str:
    if text.startswith(" ") or any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _as_components(values: Mapping[str, tuple[str, ...]]) -> str:
    return ",".join(f"{c}:{setting}" for c in sorted(values) for setting in values[c])


BOOL: Final = FlagKind("", _scalar(parse_bool), _word, bare="true", zero=False)
INT: Final = FlagKind("int", _scalar(parse_int), zero=0)
INT32: Final = FlagKind("int32", _scalar(lambda text: parse_int(text, 32)), zero=0)
UINT: Final = FlagKind("uint", _scalar(lambda text: parse_uint(text, 64)), zero=0)
FLOAT32: Final = FlagKind("float32", _scalar(parse_float32), _short_float, zero=0.0)
STRING: Final = FlagKind("string", _scalar(str))
DURATION: Final = FlagKind("duration", _scalar(Duration.parse), zero=Duration(0))
IP: Final = FlagKind("ip", _address)
STRINGS: Final = FlagKind("strings", _grow_value(read_list), _as_list, zero=())
INT32S: Final = FlagKind("int32Slice", _grow_value(_int32s), _bracket_values, zero=())
STRING_MAP: Final = FlagKind("stringToString", _string_map, _as_map, zero=None)
COMPONENTS: Final = FlagKind(
    "colonSeparatedMultimapStringString", _components, _as_components, zero=MappingProxyType({})
)
CERTIFICATES: Final = FlagKind(
    "namedCertKey",
    _grow_value(_certificate_pair),
    lambda pairs: f"[{';'.join(map(str, pairs))}]",
    zero=(),
)
LEVEL: Final = FlagKind("Level", _scalar(lambda text: parse_uint(text, 31)), zero=0)
FILE_LEVELS: Final = FlagKind(
    "pattern=N,...",
    _grow_value(_verbosities),
    lambda levels: ",".join(f"{pattern}={level}" for pattern, level in levels),
    zero=(),
)
QUANTITY: Final = FlagKind("quantity", _scalar(_quantity), zero="0")
VERSION: Final = FlagKind("version[=true]", _scalar(_version), bare="true", zero="false")
SEVERITY: Final = FlagKind("severity", _scalar(_severity))
KINDS: Final[Mapping[str, FlagKind]] = MappingProxyType(
    {
        "bool": BOOL,
        "int": INT,
        "int32": INT32,
        "float32": FLOAT32,
        "string": STRING,
        "duration": DURATION,
        "ip": IP,
        "stringSlice": STRINGS,
        "int32Slice": INT32S,
        "stringToString": STRING_MAP,
        "colonSeparatedMultimapStringString": COMPONENTS,
        "namedCertKey": CERTIFICATES,
        "Level": LEVEL,
        "pattern=N,...": FILE_LEVELS,
        "quantity": QUANTITY,
        "version": VERSION,
    }
)
"""By the name that pflag has for the type."""


_VERSION: Final = re.compile(r"\s*v?([0-9]+(?:\.[0-9]+)*)([^\n]*)")
_IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_EXTRA: Final = re.compile(rf"(?:-({_IDENTIFIERS}))?(?:\+({_IDENTIFIERS}))?\s*")
_LARGEST: Final = 2**64


class WrittenVersion(NamedTuple):
    """The numbers of a version, and what follows them in a semantic one."""

    numbers: tuple[int, ...]
    extra: str = ""

    @property
    def patch(self) -> int:
        return self.numbers[2] if len(self.numbers) > 2 else 0

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + self.extra


def parse_version(text: str) -> WrittenVersion:
    """A semantic version if it is one, a generic one otherwise. Raises ValueError."""
    try:
        return parse_semantic(text)
    except ValueError:
        return WrittenVersion(_numbers(text, semantic=False)[0])


def parse_semantic(text: str) -> WrittenVersion:
    """Raises ValueError."""
    numbers, rest = _numbers(text, semantic=True)
    extra = _EXTRA.fullmatch(rest)
    if extra is None:
        raise ValueError(
            f"could not parse pre-release/metadata ({rest}) in version {go_quote(text)}"
        )
    for identifier in (extra[1] or "").split("."):
        if identifier.isdigit():
            _check_zero(identifier, text)
    return WrittenVersion(numbers, rest.rstrip())


def reported_version_problem(text: str) -> str:
    """Why `--version=<text>` cannot be the version that is reported, or ""."""
    own = release().patch
    if text == own:
        return ""
    try:
        wanted = parse_semantic(text)
    except ValueError as problem:
        return str(problem)
    if wanted.numbers != parse_semantic(own).numbers:
        told, default = go_quote(text), go_quote(own)
        return f"version {told} must match major/minor/patch of default version {default}"
    return ""


def _numbers(text: str, *, semantic: bool) -> tuple[tuple[int, ...], str]:
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"could not parse {go_quote(text)} as version")
    parts = match[1].split(".")
    if (semantic and len(parts) != 3) or len(parts) < 2:
        raise ValueError(f"illegal version string {go_quote(text)}")
    for i, part in enumerate(parts):
        if i == 0 or semantic:
            _check_zero(part, text)
        if len(part) > 20 or int(part) >= _LARGEST:
            raise ValueError(
                f"illegal non-numeric version component {go_quote(part)} in {go_quote(text)}: "
                f"strconv.ParseUint: parsing {go_quote(part)}: value out of range"
            )
    return tuple(map(int, parts)), match[2]


def _check_zero(part: str, text: str) -> None:
    if part.startswith("0") and part != "0":
        raise ValueError(
            f"illegal zero-prefixed version component {go_quote(part)} in {go_quote(text)}"
        )

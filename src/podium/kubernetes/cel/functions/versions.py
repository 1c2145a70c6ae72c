"""Semantic versions (semver.org, 2.0.0) as CEL values.

Order and equality are those of semver.org, so build metadata does not count. The error texts are
those of the Go library Kubernetes parses with.
"""

import re

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.library import Functions, parsing_cost
from podium.kubernetes.cel.values import UINT64_MAX, Opaque

VERSIONS = Functions()
_define = VERSIONS.define

_NUMBERS = frozenset("0123456789")
_ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789")
_SHORT = re.compile(r"v?[0-9]+(?:\.[0-9]+){0,2}")

Identifier = tuple[int, int, str]
"""A pre-release identifier that sorts as semver.org says: numbers first, by value."""

_MAX_DIGITS = 20


class VersionError(ValueError):
    """A text that is no semantic version."""


class Semver(Opaque):
    __slots__ = ("key", "major", "minor", "patch")
    TYPE_NAME = "kubernetes.Semver"

    def __init__(self, major: int, minor: int, patch: int, pre: tuple[Identifier, ...]) -> None:
        self.major = major
        self.minor = minor
        self.patch = patch
        self.key = (major, minor, patch, not pre, pre)

    def same(self, other: "Semver") -> bool:
        return self.key == other.key


def parse_version(text: str) -> Semver:
    """A strict semantic version; raises VersionError."""
    if not text:
        raise VersionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise VersionError("No Major.Minor.Patch elements found")
    rest, _, build = parts[2].partition("+")
    patch, dash, pre = rest.partition("-")
    version = Semver(
        _number("major", parts[0]),
        _number("minor", parts[1]),
        _number("patch", patch),
        tuple(_identifier(part) for part in pre.split(".")) if dash else (),
    )
    if "+" in parts[2]:
        for part in build.split("."):
            _check_build(part)
    return version


def _number(name: str, text: str) -> int:
    if not text or not _NUMBERS.issuperset(text):
        raise VersionError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise VersionError(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    number = int(text) if len(text) <= _MAX_DIGITS else UINT64_MAX + 1
    if number > UINT64_MAX:
        raise VersionError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return number


def _identifier(text: str) -> Identifier:
    if not text:
        raise VersionError("Prerelease is empty")
    if _NUMBERS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise VersionError(
                f'Numeric PreRelease version must not contain leading zeroes "{text}"'
            )
        if len(text) > _MAX_DIGITS or int(text) > UINT64_MAX:
            raise VersionError(f'strconv.ParseUint: parsing "{text}": value out of range')
        return 0, int(text), ""
    if not _ALPHANUMERIC.issuperset(text):
        raise VersionError(f'Invalid character(s) found in prerelease "{text}"')
    return 1, 0, text


def _check_build(text: str) -> None:
    if not text:
        raise VersionError("Build meta data is empty")
    if not _ALPHANUMERIC.issuperset(text):
        raise VersionError(f'Invalid character(s) found in build meta data "{text}"')


def normalize_version(text: str) -> str:
    """A version as people write it (`v1.2`, `01.2.3`) in the strict form."""
    text = text.removeprefix("v")
    parts = text.split(".", 2)
    if len(parts) == 3:
        digits = re.match(r"[0-9]*", parts[2])
        tail = parts[2][digits.end() :] if digits else parts[2]
        parts[2] = parts[2][: len(parts[2]) - len(tail)]
    else:
        tail = ""
        if not _SHORT.fullmatch(text):
            return text
    parts = [part.lstrip("0") or "0" if part else part for part in parts]
    parts.extend("0" for _ in range(3 - len(parts)))
    return ".".join(parts) + tail


@_define("semver(string) -> semver", cost=parsing_cost)
def _semver(text: str) -> Semver:
    try:
        return parse_version(text)
    except VersionError as problem:
        raise CelError(str(problem)) from None


@_define("semver(string, bool) -> semver", cost=parsing_cost)
def _semver_normalized(text: str, normalize: bool) -> Semver:
    return _semver(normalize_version(text) if normalize else text)


@_define("isSemver(string) -> bool", cost=parsing_cost)
def _is_semver(text: str) -> bool:
    return _is_semver_normalized(text, False)


@_define("isSemver(string, bool) -> bool", cost=parsing_cost)
def _is_semver_normalized(text: str, normalize: bool) -> bool:
    try:
        parse_version(normalize_version(text) if normalize else text)
    except VersionError:
        return False
    return True


@_define("(semver).isGreaterThan(semver) -> bool")
def _is_greater(left: Semver, right: Semver) -> bool:
    return left.key > right.key


@_define("(semver).isLessThan(semver) -> bool")
def _is_less(left: Semver, right: Semver) -> bool:
    return left.key < right.key


@_define("(semver).compareTo(semver) -> int")
def _compare(left: Semver, right: Semver) -> int:
    return (left.key > right.key) - (left.key < right.key)


@_define("(semver).major() -> int")
def _major(version: Semver) -> int:
    return version.major


@_define("(semver).minor() -> int")
def _minor(version: Semver) -> int:
    return version.minor


@_define("(semver).patch() -> int")
def _patch(version: Semver) -> int:
    return version.patch

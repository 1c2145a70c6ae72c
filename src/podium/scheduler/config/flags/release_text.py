"""Version numbers as Kubernetes' own flags take them: `1.35`, `v1.36.4-beta.1+build`.

Two grammars: a semantic version has exactly three numbers and a well-formed rest, a generic one has
two or more and anything behind them. Refusals are upstream's.

Source: `staging/src/k8s.io/apimachinery/pkg/util/version/version.go`.
"""

import re
from typing import Final, NamedTuple

from podium.golang.quoting import quoted
from podium.kubernetes.releases.release import release

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
        raise ValueError(f"could not parse pre-release/metadata ({rest}) in version {quoted(text)}")
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
        return (
            f"version {quoted(text)} must match major/minor/patch of default version {quoted(own)}"
        )
    return ""


def _numbers(text: str, *, semantic: bool) -> tuple[tuple[int, ...], str]:
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"could not parse {quoted(text)} as version")
    parts = match[1].split(".")
    if (semantic and len(parts) != 3) or len(parts) < 2:
        raise ValueError(f"illegal version string {quoted(text)}")
    for i, part in enumerate(parts):
        if i == 0 or semantic:
            _check_zero(part, text)
        if len(part) > 20 or int(part) >= _LARGEST:
            raise ValueError(
                f"illegal non-numeric version component {quoted(part)} in {quoted(text)}: "
                f"strconv.ParseUint: parsing {quoted(part)}: value out of range"
            )
    return tuple(map(int, parts)), match[2]


def _check_zero(part: str, text: str) -> None:
    if part.startswith("0") and part != "0":
        raise ValueError(
            f"illegal zero-prefixed version component {quoted(part)} in {quoted(text)}"
        )

"""A release of Kubernetes as a value: what is known of it by name, number, type and default.

The facts are in a data file per release (`v1_36.json`; `entries.py` explains it). A file is read
when the first fact is requested, and each part of it is decoded when that part is requested, so
that importing this module costs nothing and a command decodes only what it needs.

How a release behaves is code: what differs from release to release is asked of the `Release` that
is passed in.

Minor releases of Kubernetes by number.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, NamedTuple, TypeVar

import msgspec

from podium.kubernetes.releases.entries import (
    FlagEntry,
    GateEntry,
    MetricEntry,
    PluginEntry,
    TypeEntry,
)


class Version(NamedTuple):
    """`1.36`: what `--emulated-version` names, and by which a release is found."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def before(self) -> "Version":
        """The release before; there is none before .0."""
        return Version(self.major, max(self.minor - 1, 0))

    @classmethod
    def parse(cls, text: str) -> "Version":
        """`1.36` only. Raises ValueError."""
        major, minor = map(int, text.split("."))
        return cls(major, minor)


PartT = TypeVar("PartT")

NEWEST: Final = Version(1, 36)
"""The release that is imitated where nobody says otherwise."""


class _File(msgspec.Struct, frozen=True):
    """The parts of a data file, not decoded."""

    source: str
    gates: msgspec.Raw
    gate_dependencies: msgspec.Raw
    removed_gates: msgspec.Raw
    plugins: msgspec.Raw
    extension_points: msgspec.Raw
    flags: msgspec.Raw
    metrics: msgspec.Raw
    types: msgspec.Raw


@dataclass(frozen=True, eq=False)
class Release:
    """One release; there is one value of each (`release`)."""

    version: Version

    def __reduce__(self) -> tuple[object, ...]:
        """What another process gets."""
        return release, (self.version,)

    @property
    def patch(self) -> str:
        """The patch release whose sources the data is of: `v1.36.4`."""
        return self._file.source

    @cached_property
    def gates(self) -> Mapping[str, tuple[GateEntry, ...]]:
        """Every feature gate with its history, oldest entry first."""
        return _decode(self._file.gates, dict[str, tuple[GateEntry, ...]])

    @cached_property
    def gate_dependencies(self) -> Mapping[str, tuple[str, ...]]:
        """The gates that must be on for another to be."""
        return _decode(self._file.gate_dependencies, dict[str, tuple[str, ...]])

    @cached_property
    def removed_gates(self) -> Mapping[str, str]:
        """Gates of earlier releases, with the first release that does not have them."""
        return _decode(self._file.removed_gates, dict[str, str])

    @cached_property
    def plugins(self) -> tuple[PluginEntry, ...]:
        """The scheduler's default plugins, in the order of `multiPoint`."""
        return _decode(self._file.plugins, tuple[PluginEntry, ...])

    @cached_property
    def extension_points(self) -> tuple[str, ...]:
        """As configuration files name them, in the order in which profiles are put together."""
        return _decode(self._file.extension_points, tuple[str, ...])

    @cached_property
    def flags(self) -> Mapping[str, tuple[FlagEntry, ...]]:
        """kube-scheduler's flags by section."""
        return _decode(self._file.flags, dict[str, tuple[FlagEntry, ...]])

    @cached_property
    def metrics(self) -> Mapping[str, MetricEntry]:
        """What kube-scheduler measures, by name."""
        entries = _decode(self._file.metrics, tuple[MetricEntry, ...])
        return {entry.name: entry for entry in entries}

    @cached_property
    def types(self) -> Mapping[str, Mapping[str, TypeEntry]]:
        """API types by section and name. A section is a group's short name, such as `apps`, for
        version v1, and has another version behind a slash: `autoscaling/v2`."""
        return _decode(self._file.types, dict[str, dict[str, TypeEntry]])

    @cached_property
    def _file(self) -> _File:
        name = f"v{self.version.major}_{self.version.minor}.json"
        # Not through importlib.resources, whose import takes longer than the reading.
        with open(os.path.join(os.path.dirname(__file__), name), "rb") as file:
            return msgspec.json.decode(file.read(), type=_File)


def release(version: Version = NEWEST) -> Release:
    """The release of that version."""
    return _release(version)


@cache
def _release(version: Version) -> Release:
    return Release(version)


def _decode(part: msgspec.Raw, kind: type[PartT]) -> PartT:
    return msgspec.json.decode(part, type=kind)

"""Feature gates: the switches that decide which of a release's behaviours are in force.

All gates of the release are known, also those that a scheduler never asks for, because its flag is
shared with the other components. A name outside the table is refused rather than ignored, since a
mistyped gate would otherwise silently leave a behaviour as it was. `FeatureGates` never changes:
overriding makes a new value, so a running engine can hold one without fear.

Gates have a history: with an emulated version, defaults, stages and locks are those it had.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from podium.kubernetes.releases.entries import GateEntry
from podium.kubernetes.releases.release import Release, Version, release


class FeatureStage(StrEnum):
    """How far a feature has come; the group gates `AllAlpha` and `AllBeta` go by it."""

    PRE_ALPHA = "PRE-ALPHA"
    ALPHA = "ALPHA"
    BETA = "BETA"
    GA = ""
    DEPRECATED = "DEPRECATED"


class Gate(NamedTuple):
    """What a release says about one gate."""

    default: bool
    stage: FeatureStage
    locked: bool = False


class FeatureGateError(ValueError):
    """Gates that do not exist, must not change, or lack other gates they build on."""


GROUP_GATES: Final[Mapping[str, FeatureStage]] = MappingProxyType(
    {"AllAlpha": FeatureStage.ALPHA, "AllBeta": FeatureStage.BETA}
)
_STAGES: Final = {stage.name.lower(): stage for stage in FeatureStage}
_NOT_YET: Final = Gate(default=False, stage=FeatureStage.PRE_ALPHA)
_parse: Final = cache(Version.parse)


@cache
def gates_at(known: Release, emulated: Version, oldest_peer: Version) -> Mapping[str, Gate]:
    """Every gate of a release as it was in an emulated version; one that came later is `PRE_ALPHA`
    and off. `oldest_peer` is the minimum compatibility version, which some entries ask for."""
    return MappingProxyType(
        {name: _at(entries, emulated, oldest_peer) for name, entries in known.gates.items()}
    )


class FeatureGates(Mapping[str, bool]):
    """Every known gate and whether it is on; reading an unknown name is a KeyError.

    >>> FeatureGates()["GangScheduling"]
    False
    >>> FeatureGates({"GenericWorkload": True, "GangScheduling": True})["GangScheduling"]
    True
    >>> FeatureGates(emulated=Version(1, 35))["NodeDeclaredFeatures"]
    False
    """

    __slots__ = ("_emulated", "_enabled", "_old_names", "_oldest_peer", "_release")

    def __init__(
        self,
        overrides: Mapping[str, bool] | None = None,
        *,
        of: Release | None = None,
        emulated: Version | None = None,
        oldest_peer: Version | None = None,
        old_names: frozenset[str] = frozenset(),
    ) -> None:
        """The gates `of` a release, the newest if it is not named, as they were in the `emulated`
        version. `oldest_peer` is the minimum compatibility version; messages name it. `old_names`
        are gates of the past by which gates of today were switched on (`removed_gates.py`)."""
        self._release = of or release()
        self._emulated = emulated or self._release.version
        self._old_names = old_names
        self._oldest_peer = oldest_peer or self._emulated.before
        defaults = {name: gate.default for name, gate in self.known.items()}
        self._enabled: Mapping[str, bool] = self._apply_overrides(defaults, overrides or {})

    @property
    def release(self) -> Release:
        return self._release

    @property
    def known(self) -> Mapping[str, Gate]:
        """What the release says about each gate."""
        return gates_at(self._release, self._emulated, self._oldest_peer)

    @property
    def emulated(self) -> Version:
        """The version whose defaults these are."""
        return self._emulated

    def is_on_by_old_name(self, name: str) -> bool:
        """Whether a gate of the past was given, whose defaults may have been others."""
        return name in self._old_names

    def with_overrides(self, overrides: Mapping[str, bool]) -> "FeatureGates":
        """These gates with some set differently; a group gate sets what is not named itself."""
        changed = FeatureGates(
            of=self._release,
            emulated=self._emulated,
            oldest_peer=self._oldest_peer,
            old_names=self._old_names,
        )
        changed._enabled = self._apply_overrides(self._enabled, overrides)
        return changed

    def __getitem__(self, name: str) -> bool:
        return self._enabled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._enabled)

    def __len__(self) -> int:
        return len(self._enabled)

    def __hash__(self) -> int:
        return hash((frozenset(self._enabled.items()), self._old_names))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FeatureGates) and (
            self._old_names != other._old_names or self.release is not other.release
        ):
            return False
        return super().__eq__(other)

    def __repr__(self) -> str:
        known = self.known
        changed = {name: on for name, on in self._enabled.items() if on != known[name].default}
        return f"FeatureGates({changed})"

    def __reduce__(self) -> tuple[object, ...]:
        """What another process gets."""
        return _restore, (
            dict(self._enabled),
            self._release,
            self._emulated,
            self._oldest_peer,
            self._old_names,
        )

    def _apply_overrides(
        self, enabled: Mapping[str, bool], overrides: Mapping[str, bool]
    ) -> Mapping[str, bool]:
        result = dict(enabled)
        known = self.known
        for group, stage in GROUP_GATES.items():
            if group in overrides:
                members = (name for name, gate in known.items() if gate.stage is stage)
                result.update(dict.fromkeys(members, overrides[group]))
        problems = []
        for name, wanted in overrides.items():
            if name in GROUP_GATES:
                continue
            problem = self._problem(known.get(name), name, wanted)
            if problem:
                problems.append(problem)
            if name not in known:
                break
            result[name] = wanted
        problems = problems or list(_find_unsupported(result, self._release.gate_dependencies))
        if problems:
            raise FeatureGateError(_list_problems(problems))
        return MappingProxyType(result)

    def _problem(self, gate: Gate | None, name: str, wanted: bool) -> str:
        if gate is None:
            return f"unrecognized feature gate: {name}"
        setting = f"cannot set feature gate {name} to {_word(wanted)}"
        if gate.locked and wanted != gate.default:
            return f"{setting}, feature is locked to {_word(gate.default)}"
        if gate.stage is FeatureStage.PRE_ALPHA:
            return (
                f"{setting}, feature is PreAlpha at emulated version {self._emulated}, "
                f"min compatibility version {self._oldest_peer}"
            )
        return ""


def _restore(
    enabled: dict[str, bool],
    of: Release,
    emulated: Version,
    oldest_peer: Version,
    old_names: frozenset[str],
) -> FeatureGates:
    gates = FeatureGates(of=of, emulated=emulated, oldest_peer=oldest_peer, old_names=old_names)
    gates._enabled = MappingProxyType(enabled)
    return gates


def _find_unsupported(
    enabled: Mapping[str, bool], dependencies: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    for name, foundations in dependencies.items():
        missing = [foundation for foundation in foundations if not enabled[foundation]]
        if enabled[name] and missing:
            yield (
                f"{name} is enabled, but depends on features that are disabled: "
                f"[{' '.join(missing)}]"
            )


def _at(entries: tuple[GateEntry, ...], emulated: Version, oldest_peer: Version) -> Gate:
    for entry in reversed(entries):
        peer = entry.min_compatibility
        if _parse(entry.since) <= emulated and (not peer or _parse(peer) <= oldest_peer):
            return Gate(entry.default, _STAGES[entry.stage], entry.locked)
    return _NOT_YET


def _list_problems(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _word(on: bool) -> str:
    return "true" if on else "false"

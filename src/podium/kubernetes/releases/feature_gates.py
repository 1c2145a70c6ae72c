"""Feature gates: the switches that decide which of 1.36's behaviours are in force.

All gates of Kubernetes 1.36 are known, also those that a scheduler never asks for, because its flag
is shared with the other components. A name outside the table is refused rather than ignored, since
a mistyped gate would otherwise silently leave a behaviour as it was. `FeatureGates` never changes:
overriding makes a new value, so a running engine can hold one without fear.

Gates have a history: with an emulated version, defaults, stages and locks are those of that release
(`gate_history.py`).
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from podium.config.gate_history import BUILDS_ON, GATE_HISTORY


class Stage(StrEnum):
    """How far a feature has come; the group gates `AllAlpha` and `AllBeta` go by it."""

    PRE_ALPHA = "PRE-ALPHA"
    ALPHA = "ALPHA"
    BETA = "BETA"
    GA = ""
    DEPRECATED = "DEPRECATED"


class Gate(NamedTuple):
    """What a release says about one gate."""

    default: bool
    stage: Stage
    locked: bool = False


class Release(NamedTuple):
    """A minor release of Kubernetes."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def before(self) -> "Release":
        """The release before; there is none before .0."""
        return Release(self.major, max(self.minor - 1, 0))


class FeatureGateError(ValueError):
    """Gates that do not exist, must not change, or lack other gates they build on."""


CURRENT_RELEASE: Final = Release(1, 36)
GROUP_GATES: Final[Mapping[str, Stage]] = MappingProxyType(
    {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
)
_STAGES: Final = {stage.name.lower(): stage for stage in Stage}
_NOT_YET: Final = Gate(default=False, stage=Stage.PRE_ALPHA)


@cache
def gates_at(release: Release) -> Mapping[str, Gate]:
    """Every gate as it was in a release; one that came later is `PRE_ALPHA` and off."""
    return MappingProxyType({name: _at(text, release) for name, text in GATE_HISTORY.items()})


class FeatureGates(Mapping[str, bool]):
    """Every known gate and whether it is on; reading an unknown name is a KeyError.

    >>> FeatureGates()["GangScheduling"]
    False
    >>> FeatureGates({"GenericWorkload": True, "GangScheduling": True})["GangScheduling"]
    True
    >>> FeatureGates(emulated=Release(1, 35))["NodeDeclaredFeatures"]
    False
    """

    __slots__ = ("_emulated", "_enabled", "_old_names", "_oldest_peer")

    def __init__(
        self,
        overrides: Mapping[str, bool] | None = None,
        *,
        emulated: Release = CURRENT_RELEASE,
        oldest_peer: Release | None = None,
        old_names: frozenset[str] = frozenset(),
    ) -> None:
        """`oldest_peer` is the minimum compatibility version; messages name it. `old_names` are
        gates of the past by which gates of today were switched on (`removed_gates.py`)."""
        self._emulated = emulated
        self._old_names = old_names
        self._oldest_peer = oldest_peer or emulated.before
        defaults = {name: gate.default for name, gate in gates_at(emulated).items()}
        self._enabled: Mapping[str, bool] = self._overridden(defaults, overrides or {})

    @property
    def emulated(self) -> Release:
        """The release whose defaults these are."""
        return self._emulated

    def is_on_by_old_name(self, name: str) -> bool:
        """Whether a gate of the past was given, whose defaults may have been others."""
        return name in self._old_names

    def with_overrides(self, overrides: Mapping[str, bool]) -> "FeatureGates":
        """These gates with some set differently; a group gate sets what is not named itself."""
        changed = FeatureGates(
            emulated=self._emulated, oldest_peer=self._oldest_peer, old_names=self._old_names
        )
        changed._enabled = self._overridden(self._enabled, overrides)
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
        if isinstance(other, FeatureGates) and self._old_names != other._old_names:
            return False
        return super().__eq__(other)

    def __repr__(self) -> str:
        known = gates_at(self._emulated)
        changed = {name: on for name, on in self._enabled.items() if on != known[name].default}
        return f"FeatureGates({changed})"

    def __reduce__(self) -> tuple[object, ...]:
        """What another process gets."""
        return _restore, (
            dict(self._enabled),
            self._emulated,
            self._oldest_peer,
            self._old_names,
        )

    def _overridden(
        self, enabled: Mapping[str, bool], overrides: Mapping[str, bool]
    ) -> Mapping[str, bool]:
        result = dict(enabled)
        known = gates_at(self._emulated)
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
        problems = problems or list(_unsupported(result))
        if problems:
            raise FeatureGateError(_listed(problems))
        return MappingProxyType(result)

    def _problem(self, gate: Gate | None, name: str, wanted: bool) -> str:
        if gate is None:
            return f"unrecognized feature gate: {name}"
        setting = f"cannot set feature gate {name} to {_word(wanted)}"
        if gate.locked and wanted != gate.default:
            return f"{setting}, feature is locked to {_word(gate.default)}"
        if gate.stage is Stage.PRE_ALPHA:
            return (
                f"{setting}, feature is PreAlpha at emulated version {self._emulated}, "
                f"min compatibility version {self._oldest_peer}"
            )
        return ""


def _restore(
    enabled: dict[str, bool], emulated: Release, oldest_peer: Release, old_names: frozenset[str]
) -> FeatureGates:
    gates = FeatureGates(emulated=emulated, oldest_peer=oldest_peer, old_names=old_names)
    gates._enabled = MappingProxyType(enabled)
    return gates


def _unsupported(enabled: Mapping[str, bool]) -> Iterator[str]:
    for name, foundations in BUILDS_ON.items():
        missing = [foundation for foundation in foundations if not enabled[foundation]]
        if enabled[name] and missing:
            yield (
                f"{name} is enabled, but depends on features that are disabled: "
                f"[{' '.join(missing)}]"
            )


def _at(history: str, release: Release) -> Gate:
    found = _NOT_YET
    for entry in history.split(", "):
        since, stage, *words = entry.split()
        if tuple(map(int, since.split("."))) <= release:
            found = Gate("on" in words, _STAGES[stage], "locked" in words)
    return found


def _listed(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _word(on: bool) -> str:
    return "true" if on else "false"


KNOWN_GATES: Final = gates_at(CURRENT_RELEASE)
DEFAULT_GATES: Final = FeatureGates()

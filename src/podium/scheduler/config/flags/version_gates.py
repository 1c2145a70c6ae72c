"""`--emulated-version`, `--min-compatibility-version` and `--feature-gates` put together.

Upstream settles them in this order, right after the command line is read: a gate is judged by the
release that is emulated. What is out of range shows only later, together with the other options'
mistakes, so it is handed on as `problems`.

Sources: `staging/src/k8s.io/component-base/compatibility/{registry,version}.go`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.strconv import parse_bool
from podium.kubernetes.releases.feature_gates import (
    GROUP_GATES,
    FeatureGateError,
    FeatureGates,
    FeatureStage,
)
from podium.kubernetes.releases.release import Release, Version
from podium.kubernetes.releases.removed_gates import old_names_in_force, without_removed
from podium.scheduler.config.flags.kinds import parse_version
from podium.scheduler.config.flags.options import VersionFlags

_COMPONENT: Final = "kube"
_EMULATED: Final = 3
"""How many releases before its own a scheduler can emulate."""
_AGED: Final = {FeatureStage.GA: "GA", FeatureStage.DEPRECATED: "deprecated"}


@dataclass(frozen=True, slots=True)
class SettledGates:
    """The gates in force, and what is to be said about them."""

    gates: FeatureGates
    alpha: tuple[str, ...] = ()
    """The alpha gates that are on."""
    notes: tuple[tuple[str, str, bool], ...] = ()
    """(text, gate, value) for each gate that need not be set any more."""
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """One for each gate that is gone."""


def settled_gates(versions: VersionFlags, known: Release, *, strict: bool = False) -> SettledGates:
    """The gates of the known release. Those of earlier ones are told in the warnings, or refused if
    that is `strict`. Raises FeatureGateError."""
    emulated = _version(versions.emulated_version) or known.version
    oldest_peer = max(emulated.before, _oldest(known.version))
    oldest_peer = _version(versions.min_compatibility_version) or oldest_peer
    overrides, warnings = _overrides(versions.feature_gates), list[str]()
    old_names = frozenset[str]()
    if not strict:
        old_names = old_names_in_force(overrides)
        overrides, warnings = without_removed(overrides, known)
    gates = FeatureGates(
        overrides, of=known, emulated=emulated, oldest_peer=oldest_peer, old_names=old_names
    )
    stages = {name: gate.stage for name, gate in gates.known.items()}
    alpha = {name for name, stage in stages.items() if stage is FeatureStage.ALPHA and gates[name]}
    alpha |= {
        name for name, on in overrides.items() if on and GROUP_GATES.get(name) is FeatureStage.ALPHA
    }
    aged = {name: _AGED.get(stages[name]) for name in overrides if name in stages}
    return SettledGates(
        gates,
        tuple(sorted(alpha)),
        tuple((_aged_text(stage), name, overrides[name]) for name, stage in aged.items() if stage),
        tuple(_range_problems(known.version, emulated, oldest_peer)),
        tuple(warnings),
    )


def alpha_warning(alpha: Sequence[str]) -> str:
    return (
        "component has alpha features enabled in emulated version, this is unsupported: "
        f"features=[{' '.join(alpha)}]"
    )


def _aged_text(stage: str) -> str:
    return f"Warning: setting {stage} feature gate. It will be removed in a future release."


def _version(settings: Sequence[str]) -> Version | None:
    """The version that is named for this component, if one is."""
    found: dict[str, Version] = {}
    for setting in settings:
        component, equals, text = setting.partition("=")
        if not equals:
            component, text = _COMPONENT, setting
        component = component.strip()
        try:
            version = parse_version(text.strip() if equals else text)
        except ValueError as problem:
            raise FeatureGateError(str(problem)) from None
        if version.patch:
            raise FeatureGateError(f"patch version not allowed, got: {component}={version}")
        if component in found:
            raise FeatureGateError(
                f"duplicate version flag, {component}={found[component]} and {component}={version}"
            )
        found[component] = Version(*version.numbers[:2])
    for component in found:
        _check_component(component)
    return found.get(_COMPONENT)


def _overrides(settings: Mapping[str, tuple[str, ...]]) -> dict[str, bool]:
    if "" in settings and _COMPONENT in settings:
        raise FeatureGateError(
            "set kube feature gates with default empty prefix or kube: prefix consistently, "
            "do not mix use"
        )
    overrides: dict[str, bool] = {}
    for component, listed in settings.items():
        _check_component(component or _COMPONENT)
        for setting in filter(None, listed):
            name, equals, value = (part.strip() for part in setting.partition("="))
            if not equals:
                raise FeatureGateError(f"missing bool value for {name}")
            try:
                overrides[name] = parse_bool(value)
            except ValueError as problem:
                raise FeatureGateError(f"invalid value of {name}={value}, err: {problem}") from None
    return overrides


def _check_component(component: str) -> None:
    if component != _COMPONENT:
        raise FeatureGateError(f"component not registered: {component}")


def _oldest(own: Version) -> Version:
    return Version(own.major, own.minor - _EMULATED)


def _range_problems(own: Version, emulated: Version, oldest_peer: Version) -> list[str]:
    problems = []
    oldest = _oldest(own)
    if not oldest <= emulated <= own:
        # upstream: the end of the range has a patch number.
        problems.append(f"emulation version {emulated} is not between [{oldest}, {own}.0]")
    if not oldest <= oldest_peer <= emulated:
        problems.append(
            f"minCompatibilityVersion version {oldest_peer} is not between [{oldest}, {emulated}]"
        )
    return problems

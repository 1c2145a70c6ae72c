"""`--emulated-version`, `--min-compatibility-version` and `--feature-gates` put together.

Upstream settles them in this order, right after the command line is read: a gate is judged by the
release that is emulated. What is out of range shows only later, together with the other options'
mistakes, so it is handed on as `problems`.

Sources: `staging/src/k8s.io/component-base/compatibility/{registry,version}.go`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podium.kubernetes.releases.feature_gates import (
    CURRENT_RELEASE,
    GROUP_GATES,
    FeatureGateError,
    FeatureGates,
    Release,
    Stage,
    gates_at,
)
from podium.config.flags.go_numbers import parse_bool
from podium.config.flags.options import Versions
from podium.config.flags.release_text import parse_version
from podium.config.removed_gates import old_names_in_force, without_removed

_COMPONENT: Final = "kube"
_OLDEST: Final = Release(CURRENT_RELEASE.major, CURRENT_RELEASE.minor - 3)
_AGED: Final = {Stage.GA: "GA", Stage.DEPRECATED: "deprecated"}


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


def settled_gates(versions: Versions, *, strict: bool = False) -> SettledGates:
    """Gates of earlier releases are told in the warnings, or refused if that is `strict`. Raises
    FeatureGateError."""
    emulated = _release(versions.emulated_version) or CURRENT_RELEASE
    oldest_peer = max(emulated.before, _OLDEST)
    oldest_peer = _release(versions.min_compatibility_version) or oldest_peer
    overrides, warnings = _overrides(versions.feature_gates), list[str]()
    old_names = frozenset[str]()
    if not strict:
        old_names = old_names_in_force(overrides)
        overrides, warnings = without_removed(overrides)
    gates = FeatureGates(overrides, emulated=emulated, oldest_peer=oldest_peer, old_names=old_names)
    known = gates_at(emulated)
    alpha = {name for name, gate in known.items() if gate.stage is Stage.ALPHA and gates[name]}
    alpha |= {name for name, on in overrides.items() if on and GROUP_GATES.get(name) is Stage.ALPHA}
    aged = {name: _AGED.get(known[name].stage) for name in overrides if name in known}
    return SettledGates(
        gates,
        tuple(sorted(alpha)),
        tuple((_aged_text(stage), name, overrides[name]) for name, stage in aged.items() if stage),
        tuple(_range_problems(emulated, oldest_peer)),
        tuple(warnings),
    )


def alpha_warning(alpha: Sequence[str]) -> str:
    return (
        "component has alpha features enabled in emulated version, this is unsupported: "
        f"features=[{' '.join(alpha)}]"
    )


def _aged_text(stage: str) -> str:
    return f"Warning: setting {stage} feature gate. It will be removed in a future release."


def _release(settings: Sequence[str]) -> Release | None:
    """The release that is named for this component, if one is."""
    found: dict[str, Release] = {}
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
        found[component] = Release(*version.numbers[:2])
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


def _range_problems(emulated: Release, oldest_peer: Release) -> list[str]:
    problems = []
    if not _OLDEST <= emulated <= CURRENT_RELEASE:
        # upstream: the end of the range has a patch number.
        problems.append(
            f"emulation version {emulated} is not between [{_OLDEST}, {CURRENT_RELEASE}.0]"
        )
    if not _OLDEST <= oldest_peer <= emulated:
        problems.append(
            f"minCompatibilityVersion version {oldest_peer} is not between [{_OLDEST}, {emulated}]"
        )
    return problems

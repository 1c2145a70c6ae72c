"""`--feature-gates`: switches in the form that kube-scheduler's flag has.

`A=true,B=false`, given once or several times; a later setting of a gate wins. Values are what Go
takes for a bool, and `kube:` may stand before a name, as in Kubernetes' own component flags.
"""

from collections.abc import Iterable

from podium.commands.printing import print_lines
from podium.golang.errors import InputError, closest, did_you_mean
from podium.golang.strconv import FALSE, TRUE
from podium.kubernetes.releases.feature_gates import FeatureGateError, FeatureGates
from podium.kubernetes.releases.release import Release, release
from podium.kubernetes.releases.removed_gates import (
    find_removed,
    old_names_in_force,
    without_removed,
)

FLAG = "--feature-gates"
_COMPONENT = "kube:"


def read_gates(given: Iterable[str] | None, *, strict: bool = False) -> FeatureGates:
    """The gates in force after what was given on the command line. One of an earlier release is
    told on standard error, or refused if that is `strict`."""
    overrides: dict[str, bool] = {}
    for setting in (part.strip() for text in given or () for part in text.split(",")):
        if setting:
            name, on = _read(setting)
            overrides[name] = on
    old_names = frozenset[str]()
    known = release()
    if not strict:
        old_names = old_names_in_force(overrides)
        overrides, warnings = without_removed(overrides, known)
        print_lines((f"podium: warning: {FLAG}: {text}" for text in warnings), error=True)
    try:
        return FeatureGates(of=known, old_names=old_names).with_overrides(overrides)
    except FeatureGateError as problem:
        unknown = next((name for name in overrides if name in str(problem)), "")
        remedy = "" if unknown in known.gates else _advice(unknown, known)
        raise InputError(str(problem), source=FLAG, remedy=remedy) from None


def _advice(unknown: str, known: Release) -> str:
    gone = find_removed(unknown, known)
    if gone is None:
        return did_you_mean(closest(unknown, list(known.gates)))
    return f"it is gone since Kubernetes {gone.since}, and taken without --strict"


def _read(setting: str) -> tuple[str, bool]:
    name, equals, value = (part.strip() for part in setting.partition("="))
    name = name.removeprefix(_COMPONENT)
    if not equals:
        remedy = f"write {name}=true or {name}=false"
        raise InputError(f"missing bool value for {name}", source=FLAG, remedy=remedy)
    if value not in TRUE + FALSE:
        raise InputError(
            f"invalid value of {name}: {value!r} is not a bool",
            source=FLAG,
            remedy="write true or false",
        )
    return name, value in TRUE

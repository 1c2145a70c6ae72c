"""`--feature-gates`: switches in the form that kube-scheduler's flag has.

`A=true,B=false`, given once or several times; a later setting of a gate wins. Values are what Go
takes for a bool, and `kube:` may stand before a name, as in Kubernetes' own component flags.
"""

from collections.abc import Iterable

from podium.api.errors import InputError, closest, did_you_mean
from podium.config.feature_gates import KNOWN_GATES, FeatureGateError, FeatureGates
from podium.config.flags.go_numbers import FALSE, TRUE

FLAG = "--feature-gates"
_COMPONENT = "kube:"


def read_gates(given: Iterable[str] | None) -> FeatureGates:
    """The gates in force after what was given on the command line."""
    overrides: dict[str, bool] = {}
    for setting in (part.strip() for text in given or () for part in text.split(",")):
        if setting:
            name, on = _read(setting)
            overrides[name] = on
    try:
        return FeatureGates().with_overrides(overrides)
    except FeatureGateError as problem:
        unknown = next((name for name in overrides if name in str(problem)), "")
        known = [name for name in KNOWN_GATES if name != unknown]
        remedy = "" if unknown in KNOWN_GATES else did_you_mean(closest(unknown, known))
        raise InputError(str(problem), source=FLAG, remedy=remedy) from None


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

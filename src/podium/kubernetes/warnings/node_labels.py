"""Node labels that have better names by now, wherever nodes are chosen by them."""

from collections.abc import Iterator, Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.validation.object_meta import label_value_problems

_OUTDATED: Final[Mapping[str, str]] = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def replacement_for(key: str) -> str | None:
    """What to use instead of a label; None for one that is as good as any."""
    return _OUTDATED.get(key)


def about_term(term: JsonObject, path: str, *, is_preference: bool = False) -> Iterator[str]:
    """About a node selector term; only preferences may have values that no label can have."""
    for number, expression in enumerate(term.get("matchExpressions") or ()):
        at = f"{path}.matchExpressions[{number}]"
        key = expression.get("key") or ""
        better = replacement_for(key)
        if better is not None:
            yield f"{at}.key: {key} is {better}"
        if not is_preference:
            continue
        for place, value in enumerate(expression.get("values") or ()):
            for problem in label_value_problems(value):
                yield f"{at}.values[{place}]: {value} is invalid, {problem}"


def about_selector(selector: JsonObject | None, path: str) -> Iterator[str]:
    """About a label selector for nodes."""
    if not selector:
        return
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        key = expression.get("key") or ""
        better = replacement_for(key)
        if better is not None:
            yield f"{path}.matchExpressions[{number}].key: {key} is {better}"
    for key in selector.get("matchLabels") or ():
        better = replacement_for(key)
        if better is not None:
            yield f"{path}.matchLabels.{key}: {better}"

"""The configuration in force: profiles with their points, and what differs from the defaults."""

from collections.abc import Iterator
from typing import Any, Final

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.effective import effective, effective_diff
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import KIND
from podium.scheduler.engine import Engine
from podium.scheduler.framework.profile import Profile

POINTS: Final = (
    "pre_enqueue",
    "queue_sort",
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "score",
    "reserve",
    "permit",
    "pre_bind",
    "bind",
    "post_bind",
)


def configuration_document(engine: Engine) -> dict[str, Any]:
    document = effective(engine.configuration)
    default_gates = FeatureGates(of=engine.gates.release)
    empty = {"apiVersion": engine.configuration.api_version, "kind": KIND}
    defaults = effective(load_configuration(empty, gates=engine.gates))
    return {
        "profiles": [_profile(profile) for profile in engine.profiles.values()],
        "effective": document,
        "differences": list(effective_diff(defaults, document)),
        "extenders": [each.url_prefix for each in engine.configuration.extenders],
        "gates": [
            {"name": name, "enabled": engine.gates[name], "default": default_gates[name]}
            for name in sorted(engine.gates)
        ],
    }


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "schedulerName": profile.name,
        "points": {point: list(_plugins(profile, point)) for point in POINTS},
    }


def _plugins(profile: Profile, point: str) -> Iterator[dict[str, Any]]:
    found = getattr(profile, point)
    for each in (found,) if point == "queue_sort" else found:
        plugin, weight = each if isinstance(each, tuple) else (each, None)
        yield {"plugin": plugin.name, "weight": weight}

"""The configuration in force: profiles with their points, and what differs from the defaults."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from podium.golang.document_structs import Document, DocumentPart
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


class WeighedPlugin(DocumentPart, frozen=True):
    """A plugin with what its scores count."""

    plugin: str
    """The plugin's name."""
    weight: int | None
    """Its weight; null where it does not score."""


class ProfileInForce(DocumentPart, frozen=True):
    """What runs in one profile."""

    scheduler_name: str
    """The profile's name."""
    points: Mapping[str, tuple[WeighedPlugin, ...]]
    """Plugins by extension point, in calling order."""


class GateInForce(DocumentPart, frozen=True):
    """A feature gate."""

    name: str
    """Its name."""
    enabled: bool
    """Whether it is on."""
    default: bool
    """Whether it is on by default."""


class ConfigurationView(Document, frozen=True):
    """The configuration in force, for the page."""

    KIND: ClassVar[str] = "ConfigurationView"

    profiles: tuple[ProfileInForce, ...]
    """What runs in each profile."""
    effective: Mapping[str, Any]
    """The effective configuration."""
    differences: tuple[str, ...]
    """What differs from the defaults, line by line."""
    extenders: tuple[str, ...]
    """Addresses of extenders."""
    gates: tuple[GateInForce, ...]
    """Feature gates."""


def configuration_document(engine: Engine) -> ConfigurationView:
    document = effective(engine.configuration)
    default_gates = FeatureGates(of=engine.gates.release)
    empty = {"apiVersion": engine.configuration.api_version, "kind": KIND}
    defaults = effective(load_configuration(empty, gates=engine.gates))
    return ConfigurationView(
        profiles=tuple(map(_profile, engine.profiles.values())),
        effective=document,
        differences=tuple(effective_diff(defaults, document)),
        extenders=tuple(each.url_prefix for each in engine.configuration.extenders),
        gates=tuple(
            GateInForce(name, engine.gates[name], default_gates[name])
            for name in sorted(engine.gates)
        ),
    )


def _profile(profile: Profile) -> ProfileInForce:
    points = {point: tuple(_plugins(profile, point)) for point in POINTS}
    return ProfileInForce(profile.name, points)


def _plugins(profile: Profile, point: str) -> Iterator[WeighedPlugin]:
    found = getattr(profile, point)
    for each in (found,) if point == "queue_sort" else found:
        plugin, weight = each if isinstance(each, tuple) else (each, None)
        yield WeighedPlugin(plugin.name, weight)

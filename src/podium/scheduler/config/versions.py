"""What is particular to each version of the configuration's format.

A `Version` knows how its files are decoded into the form of v1, which plugins it starts from and
take arguments in it, and what it refuses; all the rest of loading is the same for all. v1.36 reads
v1 only; the others are here because their files are still around, and mean what they meant in the
last release that read them (v1beta1 1.22, v1beta2 1.27, v1beta3 1.28).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.decode import DecodeError, StrictErrors, decode
from podium.scheduler.config.defaults import merged_with_defaults
from podium.scheduler.config.errors import FieldProblem, invalid
from podium.scheduler.config.legacy_plugins import merged_v1beta1, merged_v1beta2, merged_v1beta3
from podium.scheduler.config.plugin_args import ARGS_KINDS, REQUESTED_TO_CAPACITY_RATIO
from podium.scheduler.config.typed_args import LEGACY_ARGS_KINDS, ArgsKinds
from podium.scheduler.config.types import (
    API_GROUP,
    API_VERSION,
    Configuration,
    KubeSchedulerConfiguration,
    PluginConfig,
    Plugins,
)
from podium.scheduler.config.validation import V1_RULES, Rules

_GO_TYPE: Final = re.compile(r"(of type (?:\[\])?)v1\.")
_DROPPED_IN_V1BETA2: Final = (
    "NodeLabel",
    "ServiceAffinity",
    "NodePreferAvoidPods",
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
)
_FIT_RIVALS: Final = (
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
)


class _WithAddresses(KubeSchedulerConfiguration, frozen=True, kw_only=True):
    """The fields of v1beta1 and v1beta2 that v1beta3 dropped."""

    GO_TYPE = "v1.KubeSchedulerConfiguration"

    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """`absent` are v1 fields that the version lacks, `absent_in_args` those of plugins' arguments,
    `judge` finds what only it objects to."""

    api_version: str
    merged: Callable[[Plugins, FeatureGates], Plugins]
    args_kinds: ArgsKinds
    rules: Rules
    shape: type[KubeSchedulerConfiguration] = KubeSchedulerConfiguration
    absent: frozenset[str] = frozenset()
    judge: Callable[[KubeSchedulerConfiguration, Configuration], list[FieldProblem]] = field(
        default=lambda _written, _configuration: []
    )
    mend_args: Callable[[PluginConfig], PluginConfig] = field(default=lambda entry: entry)
    absent_in_args: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.api_version.rpartition("/")[2]

    def notes(self, written: KubeSchedulerConfiguration) -> tuple[str, ...]:
        """What was written and has no effect."""
        if isinstance(written, _WithAddresses) and (
            written.healthz_bind_address or written.metrics_bind_address
        ):
            return ("healthzBindAddress, metricsBindAddress: there is no insecure port",)
        return ()

    @property
    def args_versions(self) -> tuple[str, ...]:
        """The apiVersions that arguments may name."""
        return tuple(dict.fromkeys((self.api_version, API_VERSION)))

    def read(self, raw: Mapping[str, Any], strict: StrictErrors) -> KubeSchedulerConfiguration:
        """Raises DecodeError."""
        try:
            decoded = decode(raw, self.shape, self.absent, takes_old=strict.takes_old)
        except DecodeError as error:
            text = _GO_TYPE.sub(rf"\g<1>{self.name}.", str(error))
            raise DecodeError(text, error.problems) from None
        strict.add(decoded.unknown_fields)
        strict.old_spellings.extend(decoded.old_spellings)
        written = decoded.value
        profiles = (
            msgspec.structs.replace(
                profile, plugin_config=tuple(map(self.mend_args, profile.plugin_config))
            )
            for profile in written.profiles
        )
        return msgspec.structs.replace(written, profiles=tuple(profiles))


def _removed(in_version: str, version: str) -> Rules:
    text = (
        f'was removed in version "{API_GROUP}/{in_version}" '
        f'(KubeSchedulerConfiguration is version "{API_GROUP}/{version}")'
    )
    return Rules(removed=dict.fromkeys(_DROPPED_IN_V1BETA2, text))


def _fit_conflicts(
    _written: KubeSchedulerConfiguration, configuration: Configuration
) -> list[FieldProblem]:
    """v1beta1 scores by NodeResourcesFit or by the older plugins, not by both."""
    version = f"{API_GROUP}/v1beta1"
    found = []
    for i, profile in enumerate(configuration.profiles):
        enabled = [plugin.name for plugin in profile.plugins.score.enabled]
        rivals = " ".join(f'"{name}"' for name in enabled if name in _FIT_RIVALS)
        if rivals and "NodeResourcesFit" in enabled:
            at = f"profiles[{i}].plugins.score.enabled[{enabled.index('NodeResourcesFit')}]"
            text = (
                f'was conflict with [{rivals}] in version "{version}" '
                f'(KubeSchedulerConfiguration is version "{version}")'
            )
            found.append(invalid(at, "NodeResourcesFit", text))
    return found


def _open_addresses(
    written: KubeSchedulerConfiguration, _configuration: Configuration
) -> list[FieldProblem]:
    """v1beta2 keeps the addresses of the insecure port, which must not be opened."""
    if not isinstance(written, _WithAddresses):
        return []
    addresses = (
        ("healthzBindAddress", written.healthz_bind_address),
        ("metricsBindAddress", written.metrics_bind_address),
    )
    return [
        invalid(name, address, "must be empty or with an explicit 0 port")
        for name, address in addresses
        if address and address.rpartition(":")[2] != "0"
    ]


def _without_idle_ratio(entry: PluginConfig) -> PluginConfig:
    """The betas passed over the shape of a strategy that has no use for it; v1 refuses it."""
    strategy = entry.args.get("scoringStrategy") if isinstance(entry.args, Mapping) else None
    if entry.name != "NodeResourcesFit" or not isinstance(strategy, Mapping):
        return entry
    if strategy.get("type") == REQUESTED_TO_CAPACITY_RATIO:
        return entry
    left = {key: value for key, value in strategy.items() if key != "requestedToCapacityRatio"}
    return msgspec.structs.replace(entry, args={**entry.args, "scoringStrategy": left})


def _list_if_constraints(entry: PluginConfig) -> PluginConfig:
    """In v1beta1 default constraints of one's own need no `defaultingType: List`."""
    entry = _without_idle_ratio(entry)
    args = entry.args
    if entry.name != "PodTopologySpread" or not isinstance(args, Mapping):
        return entry
    if args.get("defaultingType") or not args.get("defaultConstraints"):
        return entry
    return msgspec.structs.replace(entry, args={**args, "defaultingType": "List"})


_NEW_IN_V1: Final = frozenset(
    {
        "delayCacheUntilActive",
        "profiles.percentageOfNodesToScore",
        "profiles.plugins.placementGenerate",
        "profiles.plugins.placementScore",
    }
)
_NEWER_THAN_V1BETA1: Final = {
    "InterPodAffinity": frozenset({"ignorePreferredTermsOfExistingPods"}),
    "PodTopologySpread": frozenset(
        f"defaultConstraints.{name}"
        for name in ("minDomains", "matchLabelKeys", "nodeAffinityPolicy", "nodeTaintsPolicy")
    ),
}
_SHARED_ARGS: Final = {name: k for name, k in ARGS_KINDS.items() if name != "DynamicResources"}

V1: Final = Version(API_VERSION, merged_with_defaults, ARGS_KINDS, V1_RULES)
V1BETA3: Final = Version(
    f"{API_GROUP}/v1beta3",
    merged_v1beta3,
    _SHARED_ARGS,
    _removed("v1beta2", "v1beta3"),
    absent=_NEW_IN_V1,
    mend_args=_without_idle_ratio,
)
V1BETA2: Final = Version(
    f"{API_GROUP}/v1beta2",
    merged_v1beta2,
    _SHARED_ARGS,
    _removed("v1beta2", "v1beta2"),
    shape=_WithAddresses,
    absent=_NEW_IN_V1,
    judge=_open_addresses,
    mend_args=_without_idle_ratio,
)
V1BETA1: Final = Version(
    f"{API_GROUP}/v1beta1",
    merged_v1beta1,
    {**_SHARED_ARGS, **LEGACY_ARGS_KINDS},
    Rules(
        removed={},
        locks=frozenset(
            {"leases", "endpoints", "configmaps", "endpointsleases", "configmapsleases"}
        ),
    ),
    shape=_WithAddresses,
    absent=_NEW_IN_V1 | {"profiles.plugins.multiPoint", "profiles.plugins.preEnqueue"},
    judge=_fit_conflicts,
    mend_args=_list_if_constraints,
    absent_in_args=_NEWER_THAN_V1BETA1,
)

"""Arguments of plugins, those of earlier releases included, from `pluginConfig` to their types.

Arguments are decoded one entry at a time, by the kind that the plugin's name asks for. A plugin
without such a kind keeps what was written, whatever it is.

Arguments of plugins that kube-scheduler no longer has, as v1beta1 wrote them. The plugins
themselves live on in `podium.scheduler.plugins`, so that old files mean what they meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from podium.golang.json_reader import RepeatedMembers, members
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.args_validation import shape_problems
from podium.scheduler.config.decode import (
    HEADER_FIELDS,
    ConfigDecodeError,
    DecodedStruct,
    StrictErrors,
    UnknownField,
    decode,
    header_of,
    not_registered,
)
from podium.scheduler.config.errors import ConfigurationError, FieldProblem, invalid
from podium.scheduler.config.plugin_args import (
    DEFAULT_RESOURCES,
    PluginArgs,
    RawArgs,
    ResourceSpec,
    UtilizationShapePoint,
    fill_defaults,
)
from podium.scheduler.config.types import API_GROUP, KIND, KubeSchedulerConfiguration

ARGS_SUFFIX: Final = "Args"

NamedArgs = tuple[str, PluginArgs | RawArgs]
"""One entry of `pluginConfig`: the plugin's name and its typed arguments."""

ArgsKinds = Mapping[str, type[PluginArgs]]
"""The type of the arguments by plugin name."""


def typed_args(
    written: KubeSchedulerConfiguration,
    versions: Sequence[str],
    kinds: ArgsKinds,
    strict: StrictErrors,
    gates: FeatureGates,
    absent: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Sequence[Sequence[NamedArgs]]:
    """The arguments of every profile, defaulted; raises ConfigurationError for a wrong type.

    `versions` are the apiVersions that arguments may name; the first is meant if they name none.
    `absent` are the fields, by plugin, that arguments did not have yet.
    """
    typed: list[list[NamedArgs]] = []
    refused: list[ConfigurationError] = []
    for i, profile in enumerate(written.profiles):
        entries: list[NamedArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            at = f"profiles[{i}].pluginConfig[{j}]"
            try:
                decoded = _decode_args(
                    entry.name, entry.args, versions, kinds, absent.get(entry.name, frozenset())
                )
            except ConfigDecodeError as error:
                refused.append(_refusal(at, error))
                continue
            args: PluginArgs | RawArgs = decoded.value
            strict.add(
                decoded.unknown_fields,
                before=f"decoding .{at}: strict decoding error: decoding args for plugin "
                f"{entry.name}: strict decoding error: ",
                at=f"{at}.args.",
            )
            if isinstance(args, PluginArgs):
                args = fill_defaults(args, gates)
            entries.append((entry.name, args))
        typed.append(entries)
    if refused:
        # upstream: the first one ends the decoding, and hides what was unknown before it.
        problems = (problem for error in refused for problem in error.problems)
        raise ConfigurationError(refused[0].message, (*problems, *strict.problems))
    return typed


def is_args_kind(kind: str, kinds: ArgsKinds) -> bool:
    return kind.endswith(ARGS_SUFFIX) and kind.removesuffix(ARGS_SUFFIX) in kinds


def _decode_args(
    plugin: str, raw: Any, versions: Sequence[str], kinds: ArgsKinds, absent: frozenset[str]
) -> DecodedStruct[PluginArgs] | DecodedStruct[RawArgs]:
    shape = kinds.get(plugin)
    if shape is None:
        return DecodedStruct(RawArgs(raw), ())
    if raw is None:
        return DecodedStruct(shape(), ())
    try:
        api_version, kind = header_of(raw)
        expected = f"{plugin}{ARGS_SUFFIX}"
        api_version, kind = api_version or versions[0], kind or expected
        if api_version not in versions or not (kind == KIND or is_args_kind(kind, kinds)):
            raise ConfigDecodeError(not_registered(kind, api_version))
        if kind == KIND:
            decoded = DecodedStruct[PluginArgs](shape(), ())
        else:
            decoded = decode_args(raw, kinds[kind.removesuffix(ARGS_SUFFIX)], absent)
    except ConfigDecodeError as error:
        text = f"decoding args for plugin {plugin}: {error}"
        raise ConfigDecodeError(text, error.problems) from None
    if kind != expected:
        raise ConfigDecodeError(
            f"args for plugin {plugin} were not of type {expected}.{API_GROUP}, "
            f"got {kind}.{API_GROUP}"
        )
    return decoded


def decode_args(
    raw: Mapping[str, Any], shape: type[PluginArgs], absent: frozenset[str] = frozenset()
) -> DecodedStruct[PluginArgs]:
    """Arguments without their header. Raises DecodeError."""
    left, repeated, seen = [], [], set()
    for name, value in members(raw):
        if name not in HEADER_FIELDS:
            left.append((name, value))
        elif name in seen:
            repeated.append(UnknownField(name, "", "duplicate field"))
        seen.add(name)
    decoded = decode(RepeatedMembers(left), shape, absent)
    return DecodedStruct(decoded.value, (*dict.fromkeys(repeated), *decoded.unknown_fields))


def _refusal(at: str, error: ConfigDecodeError) -> ConfigurationError:
    problems = (
        FieldProblem(f"{at}.args.{p.path}" if p.path else f"{at}.args", p.text, p.remedy)
        for p in error.problems
    )
    return ConfigurationError(f"decoding .{at}: {error}", problems)


class LegacyArgs(PluginArgs, frozen=True):
    """What the arguments of plugins that are gone are made of."""


class NodeLabelArgs(LegacyArgs, frozen=True):
    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


class ServiceAffinityArgs(LegacyArgs, frozen=True):
    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


class NodeResourcesLeastAllocatedArgs(LegacyArgs, frozen=True):
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class NodeResourcesMostAllocatedArgs(LegacyArgs, frozen=True):
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class RequestedToCapacityRatioArgs(LegacyArgs, frozen=True):
    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


LEGACY_ARGS_KINDS: Final[Mapping[str, type[LegacyArgs]]] = MappingProxyType(
    {
        "NodeLabel": NodeLabelArgs,
        "NodeResourcesLeastAllocated": NodeResourcesLeastAllocatedArgs,
        "NodeResourcesMostAllocated": NodeResourcesMostAllocatedArgs,
        "RequestedToCapacityRatio": RequestedToCapacityRatioArgs,
        "ServiceAffinity": ServiceAffinityArgs,
    }
)


_UNSORTED: Final = "utilization values must be sorted in increasing order"


def legacy_args_problems(args: LegacyArgs, at: str) -> Iterator[FieldProblem]:
    """Everything wrong with the arguments that are at a path."""
    at = f"{at}." if at else ""
    match args:
        case NodeLabelArgs():
            yield from _conflicts(
                (args.present_labels, f"{at}presentLabels"),
                (args.absent_labels, f"{at}absentLabels"),
            )
            yield from _conflicts(
                (args.present_labels_preference, f"{at}presentLabelsPreference"),
                (args.absent_labels_preference, f"{at}absentLabelsPreference"),
            )
        case NodeResourcesLeastAllocatedArgs() | NodeResourcesMostAllocatedArgs():
            yield from _weights(args.resources, at, most=100, valid="(0, 100]")
        case RequestedToCapacityRatioArgs():
            yield from shape_problems(args.shape, f"{at}shape", _UNSORTED)
            yield from _weights(args.resources, at, most=2**63, valid="[1, inf)")


Labels = tuple[tuple[str, ...], str]


def _conflicts(present: Labels, absent: Labels) -> Iterator[FieldProblem]:
    for i, label in enumerate(present[0]):
        if label in absent[0]:
            other = f"{absent[1]}[{absent[0].index(label)}]"
            yield invalid(f"{present[1]}[{i}]", label, f"conflict with {other}")


def _weights(
    resources: tuple[ResourceSpec, ...], at: str, *, most: int, valid: str
) -> Iterator[FieldProblem]:
    for i, resource in enumerate(resources):
        if not 0 < resource.weight <= most:
            text = f"resource weight of {resource.name} not in valid range {valid}"
            yield invalid(f"{at}resources[{i}].weight", resource.weight, text)

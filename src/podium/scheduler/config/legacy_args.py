"""Arguments of plugins that kube-scheduler no longer has, as v1beta1 wrote them.

The plugins themselves live on in `podium.scheduler.plugins`, so that old files mean what they
meant.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from podium.scheduler.config.args_validation import shape_problems
from podium.scheduler.config.errors import FieldProblem, invalid
from podium.scheduler.config.plugin_args import (
    DEFAULT_RESOURCES,
    PluginArgs,
    ResourceSpec,
    UtilizationShapePoint,
)


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
    """Everything wrong with the arguments that stand at a path."""
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

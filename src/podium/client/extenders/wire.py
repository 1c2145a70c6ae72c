"""The values that a scheduler and an extender send each other, named and shaped as upstream's.

Both sides of the protocol use this one description: the client writes what the server reads. Every
member is always written, unused ones as null, because extenders that are not written in Go look for
them. Objects are kept as the bytes they came in: they are passed on more often than they are looked
at.

The names of the classes are Go's, because decoding errors show them.
Source: `staging/src/k8s.io/kube-scheduler/extender/v1/types.go`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType, field

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class WireStruct(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, frozen=True):
    """Decoded in one step if it is spelled as upstream spells it; `lenient` reads the rest.

    `GO_TYPES` has the Go types of fields for which their Python type does not tell.
    """

    GO_TYPES: ClassVar[Mapping[str, str]] = MappingProxyType({})


class NodeList(WireStruct, rename="camel", frozen=True):
    GO_TYPES = MappingProxyType({"items": "[]v1.Node"})

    kind: Raw | UnsetType = UNSET
    api_version: Raw | UnsetType = UNSET
    metadata: Raw = Raw(b"{}")
    items: tuple[Raw, ...] | None = None


class ExtenderArgs(WireStruct, frozen=True):
    """Asks to filter or to prioritize: node objects or node names, never both."""

    GO_TYPES = MappingProxyType({"pod": "v1.Pod", "nodes": "v1.NodeList"})

    pod: Raw = Raw(b"null")
    nodes: NodeList | None = None
    node_names: tuple[str, ...] | None = None


class ExtenderFilterResult(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType(
        {
            "failed_nodes": "v1.FailedNodesMap",
            "failed_and_unresolvable_nodes": "v1.FailedNodesMap",
        }
    )

    nodes: NodeList | None = None
    node_names: tuple[str, ...] | None = None
    failed_nodes: dict[str, str] | None = None
    failed_and_unresolvable_nodes: dict[str, str] | None = None
    error: str = ""


class HostPriority(WireStruct, frozen=True):
    host: str = ""
    score: Int64 = 0


class Victims(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pods": "[]*v1.Pod"})

    pods: tuple[Raw, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class MetaPod(WireStruct, frozen=True):
    uid: str = field(default="", name="UID")


class MetaVictims(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pods": "[]*v1.MetaPod"})

    pods: tuple[MetaPod, ...] | None = None
    num_pdb_violations: Int64 = field(default=0, name="NumPDBViolations")


class ExtenderPreemptionArgs(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType(
        {
            "pod": "v1.Pod",
            "node_name_to_victims": "map[string]*v1.Victims",
            "node_name_to_meta_victims": "map[string]*v1.MetaVictims",
        }
    )

    pod: Raw = Raw(b"null")
    node_name_to_victims: dict[str, Victims] | None = None
    node_name_to_meta_victims: dict[str, MetaVictims] | None = None


class ExtenderPreemptionResult(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"node_name_to_meta_victims": "map[string]*v1.MetaVictims"})

    node_name_to_meta_victims: dict[str, MetaVictims] | None = None


class ExtenderBindingArgs(WireStruct, frozen=True):
    GO_TYPES = MappingProxyType({"pod_uid": "types.UID"})

    pod_name: str = ""
    pod_namespace: str = ""
    pod_uid: str = field(default="", name="PodUID")
    node: str = ""


class ExtenderBindingResult(WireStruct, frozen=True):
    error: str = ""

"""Reading a cluster for `podium gpu`: from files, or from one that runs.

Beside what every simulation starts from, quotas are read and the ConfigMaps of kube-system, where
agents tell of broken cards and operators of quotas by model.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from podium.addons.gpu.cards.overview import ConfigMaps, latest_moment
from podium.addons.gpu.dialects import UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.commands.cluster_options import ClusterOptions
from podium.commands.options import read_scenario
from podium.golang.errors import InputError
from podium.kubernetes.controllers import workloads
from podium.kubernetes.kinds.devices import ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, ResourceQuota
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario
from podium.offline.simulate.disruption_budgets import count_budgets
from podium.scheduler.framework.events import WatchedKind

T = TypeVar("T", bound=KubeStruct)

_AGENTS_NAMESPACE: Final = "kube-system"


class ConfigMap(workloads.ConfigMap, frozen=True):
    """One of a file or of a list, with what it says that it is."""

    api_version: Literal["v1"] = "v1"
    kind: Literal["ConfigMap"] = "ConfigMap"


_WATCHED: Final = (
    WatchedKind(ResourceQuota, "resourcequotas"),
    WatchedKind(ConfigMap, "configmaps"),
)


@dataclass(frozen=True, slots=True)
class GPUCluster:
    """What there is; `now` is when it was so."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    quotas: tuple[ResourceQuota, ...]
    budgets: tuple[PodDisruptionBudget, ...]
    config_maps: ConfigMaps
    slices: tuple[ResourceSlice, ...]
    claims: tuple[ResourceClaim, ...]
    dialects: tuple[Dialect, ...]
    now: float
    notes: tuple[str, ...]
    scenario: Scenario


def read_gpu_cluster(
    paths: Sequence[str], cluster: ClusterOptions, validation: str, dialect: str | None
) -> GPUCluster:
    """Raises InputError."""
    chosen = None if dialect is None else _require_dialect(dialect)
    found = live = None
    if cluster.is_live(has_files=bool(paths)):
        from podium.client import Selection
        from podium.client.resources import CONFIG_MAPS, RESOURCE_QUOTAS
        from podium.client.snapshot import Listing
        from podium.commands.cluster_reading import read_cluster

        of_agents = Selection(fields=f"metadata.namespace={_AGENTS_NAMESPACE}")
        more = (
            Listing(RESOURCE_QUOTAS, ResourceQuota),
            Listing(CONFIG_MAPS, ConfigMap, of_agents),
        )
        found = cluster.find()
        live = read_cluster(found.settings, FeatureGates(), more=more)
    scenario = read_scenario(
        paths,
        validation,
        gates=FeatureGates(),
        namespace=cluster.file_namespace(found),
        stored=live.objects if live is not None else (),
        unread=live.unread_kinds if live is not None else {},
        watched=_WATCHED,
    )
    nodes, pods = scenario.nodes, (*scenario.running, *scenario.pending)
    spoken = find_spoken_dialects(nodes)
    dialects = (chosen,) if chosen is not None else tuple(map(find_dialect, spoken))
    now = time.time()
    if live is None:
        told = [latest_moment(each, nodes, pods) for each in dialects]
        now = max(told, default=0.0) or now
    return GPUCluster(
        nodes,
        pods,
        _of_type(scenario.objects, ResourceQuota),
        tuple(
            count_budgets(_of_type(scenario.objects, PodDisruptionBudget), pods, scenario.workloads)
        ),
        {each.metadata.key: each.data or {} for each in _of_type(scenario.objects, ConfigMap)},
        _of_type(scenario.objects, ResourceSlice),
        _of_type(scenario.objects, ResourceClaim),
        dialects,
        now,
        (*_tell_dialects(spoken, dialect), *(live.notes if live else ()), *scenario.notes),
        scenario,
    )


def _require_dialect(name: str) -> Dialect:
    try:
        return find_dialect(name)
    except UnknownDialect as problem:
        raise InputError(str(problem)) from None


def _tell_dialects(spoken: dict[str, int], chosen: str | None) -> list[str]:
    """What was guessed, and what is not shown."""
    counted = ", ".join(f"{name} ({nodes})" for name, nodes in spoken.items())
    if chosen is None:
        return [f"the nodes' agents speak: {counted}"] if spoken else []
    others = ", ".join(f"{name} ({nodes})" for name, nodes in spoken.items() if name != chosen)
    return [f"not shown, since --dialect says {chosen}: {others}"] if others else []


def _of_type(objects: Sequence[KubeStruct], kind: type[T]) -> tuple[T, ...]:
    return tuple(each for each in objects if isinstance(each, kind))

"""Which annotations are written into a trace: those that a scheduler or one of its plugins reads.

Annotations hold anything, `kubectl.kubernetes.io/last-applied-configuration` a whole manifest with
its environment. So keys are named one by one, and no prefix passes.

Those of `DECISIONS` are written by a scheduler that has chosen a node or a card; whoever decides
anew takes them off first.
"""

from collections.abc import Mapping
from typing import Final

from podium.addons.collection.preemption import (
    MINIMUM_PREEMPTABLE_PRIORITY,
    TOLERATION_SECONDS,
)
from podium.addons.gpu.dialects import gpushare, vgpu_manager
from podium.addons.gpu.dialects.dialect import GRACE_PERIOD_ANNOTATION
from podium.addons.gpu.dialects.hami import dialect as hami
from podium.addons.gpu.dialects.hami import policies as hami_policies
from podium.addons.gpu.dialects.hami import registration as hami_registration
from podium.kubernetes.controllers.pod_templates import POD_CLAIM
from podium.kubernetes.controllers.provisioning import PROVISIONED_BY
from podium.kubernetes.kinds.storage import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from podium.kubernetes.rules.nodes import CONFIG_MIRROR
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION, DEFAULT_CLASS_MARKS
from podium.scheduler.plugins.dynamic_resources.claim_state import EXTENDED_RESOURCE_ANNOTATION
from podium.scheduler.plugins.legacy_scorers import ANNOTATION as PREFER_AVOID_PODS
from podium.scheduler.plugins.volumes.attach_limits import MIGRATED_PLUGINS

_VOLUMES: Final = (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CLASS_ANNOTATION,
    *DEFAULT_CLASS_MARKS,
    PROVISIONED_BY,
    MIGRATED_PLUGINS,
)
_NODES: Final = (
    PREFER_AVOID_PODS,
    hami_registration.REGISTER,
    hami_registration.LINK_SCORES,
    hami_registration.HANDSHAKE,
    hami_registration.CORDON,
    vgpu_manager.REGISTER,
    vgpu_manager.CONFIG,
    vgpu_manager.TOPOLOGY,
)
_PODS: Final = (
    CONFIG_MIRROR,
    POD_CLAIM,
    EXTENDED_RESOURCE_ANNOTATION,
    GRACE_PERIOD_ANNOTATION,
    hami_policies.NODE_POLICY,
    hami_policies.CARD_POLICY,
    hami_policies.WEIGHTS,
    hami_policies.NUMA_BIND,
    hami_policies.MODE,
    hami_policies.USE_MODELS,
    hami_policies.NO_USE_MODELS,
    hami_policies.USE_UUIDS,
    hami_policies.NO_USE_UUIDS,
    vgpu_manager.NODE_POLICY,
    vgpu_manager.CARD_POLICY,
    vgpu_manager.MEMORY_POLICY,
    vgpu_manager.TOPOLOGY_MODE,
)
DECISIONS: Final = frozenset(
    {
        hami.NODE,
        hami.TIME,
        hami.TO_ALLOCATE,
        hami.ALLOCATED,
        hami.INSTANCES,
        hami.BIND_TIME,
        hami.BIND_PHASE,
        vgpu_manager.NODE,
        vgpu_manager.TIME,
        vgpu_manager.PRE_ALLOCATED,
        vgpu_manager.REAL_ALLOCATED,
        gpushare.INDEX,
        gpushare.CARD_MEMORY,
        gpushare.POD_MEMORY,
        gpushare.ASSIGNED,
        gpushare.ASSUME_TIME,
    }
)
RECORDED_ANNOTATIONS: Final = DECISIONS.union(
    _VOLUMES, _NODES, _PODS, (MINIMUM_PREEMPTABLE_PRIORITY, TOLERATION_SECONDS)
)


def select_annotations(written: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in written.items() if key in RECORDED_ANNOTATIONS}

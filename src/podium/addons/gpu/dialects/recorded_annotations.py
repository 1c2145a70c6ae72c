"""The annotations by which dialects speak, for those who record clusters.

`decided` are written by a scheduler that has chosen a node or a card; whoever decides anew takes
them off first.
"""

from typing import Final

from podium.addons.gpu.dialects import gpushare, vgpu_manager
from podium.addons.gpu.dialects.dialect import GRACE_PERIOD_ANNOTATION
from podium.addons.gpu.dialects.hami import dialect as hami
from podium.addons.gpu.dialects.hami import policies as hami_policies
from podium.addons.gpu.dialects.hami import registration as hami_registration

_NODES: Final = (
    hami_registration.REGISTER,
    hami_registration.LINK_SCORES,
    hami_registration.HANDSHAKE,
    hami_registration.CORDON,
    vgpu_manager.REGISTER,
    vgpu_manager.CONFIG,
    vgpu_manager.TOPOLOGY,
)
_PODS: Final = (
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
_DECISIONS: Final = (
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
)
RECORDED: Final[dict[str, tuple[str, ...]]] = {"read": (*_NODES, *_PODS), "decided": _DECISIONS}

"""The pod without what needs features of kubelets."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.node_declared_features.plugin import NodeDeclaredFeatures


def propose_fewer_features(situation: Situation) -> Iterator[ProposedChange]:
    if not situation.nodes_near(NodeDeclaredFeatures.name):
        return
    spec = situation.pod.spec
    if spec.host_users is False:
        yield situation.change_pod(
            "drop-user-namespace",
            "drop hostUsers: false, which needs a feature that nodes do not declare",
            disturbance.DROP_REQUIREMENT,
            replace(situation.pod, spec=replace(spec, host_users=None)),
        )
    if spec.host_network:
        yield situation.change_pod(
            "drop-host-network",
            "drop hostNetwork: true, which needs a feature that nodes do not declare",
            disturbance.DROP_REQUIREMENT + 1,
            replace(situation.pod, spec=replace(spec, host_network=False)),
        )

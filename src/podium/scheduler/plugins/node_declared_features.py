"""NodeDeclaredFeatures: a pod that needs a kubelet feature goes where it is declared.

Sets of features are bits in the order of `FEATURES`, as upstream has them
(`staging/src/k8s.io/component-helpers/nodedeclaredfeatures`). Names that are not in the list are
ignored on nodes; three of the five are only needed by updates of running pods and so never here.

People are told which features a pod needs; proposed is the pod without what needs them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodSpec
from podium.scheduler.cluster.growth import Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    NodeRequirement,
    join_words,
)
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unresolvable

FEATURES_MISSING = unresolvable("node(s) didn't match Pod's required features")

FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
)
_RESTART_ALL_CONTAINERS = 1 << FEATURES.index("RestartAllContainersOnContainerExits")
_USER_NAMESPACES_ON_HOST_NETWORK = 1 << FEATURES.index("UserNamespacesHostNetworkSupport")


@dataclass(frozen=True, slots=True)
class _Needed:
    bits: int


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin):
    name = "NodeDeclaredFeatures"
    refusals_stand = True
    narrows = NodeRequirement.FEATURES
    builds_on = MappingProxyType({"filter": "preFilter"})

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.gates["NodeDeclaredFeatures"]

    def pre_filter(self, cycle: Cycle) -> Status | None:
        needed = needed_bits(cycle.pod.pod.spec) if self._enabled else 0
        if not needed:
            return SKIP
        cycle.write(self.name, _Needed(needed))
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if not self._enabled:
            return None
        try:
            needed = cycle.read(self.name, _Needed).bits
        except StateMissing as missing:
            text = f'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: {missing}'
            raise StateMissing(text) from missing
        nodes = cycle.nodes
        declared_by_set = nodes.feature_sets.table(self.name, declared_bits)
        lacking_by_set: Mask = (needed & ~declared_by_set) != 0
        return rejecting(lacking_by_set.take(nodes.feature_set[rows]), FEATURES_MISSING)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_features(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        return narrow_by_features(view)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        return propose_fewer_features(situation)

    def events(self) -> Sequence[Registration]:
        if not self._enabled:
            return ()
        node_changes = Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE
        return (
            Registration(Resource.NODE, node_changes, self._node_hint),
            Registration(Resource.POD, Action.UPDATE, self._pod_hint),
        )

    def _node_hint(self, _waiting: PodInfo, old: Node | None, new: Node) -> bool:
        # upstream: what the pod needs is not looked at, any change of the list will do.
        return old is None or (old.status.declared_features or ()) != (
            new.status.declared_features or ()
        )

    def _pod_hint(self, waiting: PodInfo, old: Pod, new: Pod) -> bool:
        return waiting.is_about(new) and needed_bits(old.spec) != needed_bits(new.spec)


def needed_bits(spec: PodSpec) -> int:
    """The features a pod needs to be placed at all."""
    needed = 0
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    rules = (rule for container in containers for rule in container.restart_policy_rules or ())
    if any(rule.action == "RestartAllContainers" for rule in rules):
        needed |= _RESTART_ALL_CONTAINERS
    if spec.host_network and spec.host_users is False:
        needed |= _USER_NAMESPACES_ON_HOST_NETWORK
    return needed


def declared_bits(declared: Sequence[str]) -> int:
    """The features of a node's list.

    upstream: both lists are walked side by side as sorted ones, so a name behind one that sorts
    after it is missed.
    """
    bits = 0
    bit = 0
    for name in declared:
        while bit < len(FEATURES) and FEATURES[bit] < name:
            bit += 1
        if bit < len(FEATURES) and FEATURES[bit] == name:
            bits |= 1 << bit
            bit += 1
    return bits


def find_features(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of features that nodes do not declare."""
    needed = needed_bits(view.pod.spec)
    groups: dict[int, list[int]] = {}
    for position in view.positions(among):
        node = view.examination.objects[view.names[position]]
        lacking = needed & ~declared_bits(node.status.declared_features or ())
        groups.setdefault(lacking, []).append(position)
    return [_describe_missing(view, bits, at) for bits, at in groups.items() if bits]


def narrow_by_features(view: AttemptView) -> Narrowing:
    """Where kubelets declare what the pod needs."""
    needed = needed_bits(view.pod.spec)
    told = join_words(name for bit, name in enumerate(FEATURES) if needed >> bit & 1)
    rejected = view.rejected(NodeDeclaredFeatures.name)
    return Narrowing(NodeDeclaredFeatures.name, ~rejected, f"declare {told}", f"declares {told}")


def _describe_missing(view: AttemptView, bits: int, positions: list[int]) -> Finding:
    mask: Mask = ~view.everywhere
    mask[positions] = True
    names = [name for bit, name in enumerate(FEATURES) if bits >> bit & 1]
    told = join_words(names)
    nobody = view.rejected(NodeDeclaredFeatures.name).all()
    who = "no node declares it" if nobody else view.say(mask, "does", "do") + " not declare it"
    return Finding(
        "node-feature-missing",
        ",".join(names),
        mask,
        f"the pod needs the kubelet feature {told}; {who}",
        f"the node does not declare {told}",
        facts={"features": list(names)},
    )


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

"""NodePorts: two pods cannot have one host port of one node.

The rules for addresses and wildcards are those of `podium.scheduler.cluster.usage`; ports in use
are read through the cycle, so trials with nominated pods or without victims need no state here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.host_ports import HostPort, conflicts, host_ports
from podium.scheduler.cluster.growth import Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import PlacementLimits
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unschedulable

PORTS_IN_USE = unschedulable("node(s) didn't have free ports for the requested pod ports")


@dataclass(frozen=True, slots=True)
class _WantedPorts:
    ports: tuple[HostPort, ...]


class NodePorts(PreFilterPlugin, FilterPlugin):
    name = "NodePorts"
    refusals_stand = True
    spares_new_nodes = True
    builds_on = MappingProxyType({"filter": "preFilter"})

    def pre_filter(self, cycle: Cycle) -> Status | None:
        ports = cycle.pod.shape.ports
        if not ports:
            return SKIP
        cycle.write(self.name, _WantedPorts(ports))
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        try:
            wanted = cycle.read(self.name, _WantedPorts)
        except StateMissing as missing:
            text = f'reading "PreFilterNodePorts" from cycleState: {missing}'
            raise StateMissing(text) from missing
        return rejecting(cycle.usage.ports.busy(wanted.ports, rows), PORTS_IN_USE)

    def looks_at_sums(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def state_limits(self, cycle: Cycle) -> PlacementLimits:
        return PlacementLimits(host_ports=self.name not in cycle.skip_filter)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.node_ports.causes import find_ports

        return find_ports(view, among)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.node_ports.proposals import propose_fewer_ports

        return propose_fewer_ports(situation)

    def find_blockers(self, situation: Situation) -> Callable[[str], list[PodInfo]]:
        from podium.scheduler.plugins.node_ports.proposals import find_blockers

        return find_blockers(situation)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE, self._deletion_hint),
            Registration(Resource.NODE, self.handle.new_node_actions),
        )

    def _deletion_hint(self, waiting: PodInfo, old: Pod, _new: Pod | None) -> bool:
        if not old.spec.node_name and not old.status.nominated_node_name:
            return False
        return conflicts(waiting.shape.ports, host_ports(old))

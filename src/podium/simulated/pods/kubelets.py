"""The kubelets of all simulated nodes: each pod on them goes through its stages.

A kubelet of a node that has failed does nothing, as if it were not there; when the node is back,
its pods go on from where they are. Pods on nodes that are not simulated are nobody's business here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from podium.client.resources import PODS
from podium.golang.urls import parse_ip
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    Plan,
    Wake,
    delete,
    status_patch,
)
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.informers import Informers
from podium.simulated.names import FAILURE, SIMULATED
from podium.simulated.pods.admission import Needs, needs_of
from podium.simulated.pods.container_lives import ContainerRuns
from podium.simulated.pods.device_agents import WAITING, DeviceAgents, Verdict
from podium.simulated.pods.kubelet_facts import KubeletFacts, find_facts, plain
from podium.simulated.pods.stages import Stage, go_by_kubelet, next_stage, status_after

_FIRST_ADDRESS: Final = 10 << 24 | 64 << 16
_ADDRESSES: Final = 1 << 22


@dataclass(slots=True)
class Pending:
    """The stage that a pod waits for, and when it comes."""

    uid: str
    stage: str
    due_s: float
    done_at_version: str = ""
    """Set when the stage was carried out: the version of the pod that it was carried out on."""


def is_simulated(node: Node | None) -> bool:
    return node is not None and node.metadata.label(SIMULATED) == "true"


def is_alive(node: Node | None) -> bool:
    return node is not None and is_simulated(node) and not node.metadata.annotation(FAILURE)


def decide(
    pod: Pod,
    node: Node,
    stages: tuple[Stage, ...],
    pending: Pending | None,
    moment: Moment,
    address: Callable[[], str],
    facts: KubeletFacts | None = None,
    runs: ContainerRuns | None = None,
) -> tuple[Plan, Pending | None]:
    """What happens to a pod on a node that is alive, and what it waits for from now on."""
    uid, values = pod.metadata.uid, plain(pod, facts)
    stage = next_stage(stages, values, uid)
    if stage is None:
        return NOTHING, None
    counts_down = stage.delay.seconds_left is not None
    if pending is None or counts_down or not _is_for(pending, pod, stage):
        remaining_s = stage.delay.remaining_s(values, uid, stage.name, moment)
        pending = Pending(uid, stage.name, moment.now_s + remaining_s)
    rest_s = pending.due_s - moment.now_s
    if rest_s > 1e-6:
        return Plan([], rest_s), pending
    pending.done_at_version = pod.metadata.resource_version
    actions: list[Action] = []
    if stage.effect.changes_status:
        pod_ip = pod.status.pod_ip or address()
        status = status_after(
            stage.effect, pod, values, moment, host_ip=node.address, pod_ip=pod_ip, runs=runs
        )
        if status:
            actions.append(status_patch(PODS, pod, status))
    if stage.effect.removes:
        actions.append(delete(PODS, pod, grace_period_s=0))
    return Plan(actions), pending


def _is_for(pending: Pending, pod: Pod, stage: Stage) -> bool:
    """Whether it is this very step: not another stage, and not the same one once more."""
    if (pending.uid, pending.stage) != (pod.metadata.uid, stage.name):
        return False
    return pending.done_at_version in ("", pod.metadata.resource_version)


class Kubelets:
    """Keys are the namespace and name of a pod."""

    name = "kubelets"

    def __init__(
        self,
        informers: Informers,
        stages: tuple[Stage, ...],
        gpu_agents: DeviceAgents | None = None,
    ) -> None:
        self._nodes, self._pods = informers.nodes, informers.pods
        self._stages = stages
        self._gpu_agents = gpu_agents
        self._has_facts = go_by_kubelet(stages)
        self._needs: dict[str, Needs] = {}
        self._pending: dict[tuple[str, str], Pending] = {}
        self._runs = ContainerRuns()
        self._addresses = 0

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            if new is not None and old is None:
                self._note_address(new.status.pod_ip)
            if new is not None and new.spec.node_name:
                if old is not None and old.spec.containers != new.spec.containers:
                    self._needs.pop(new.metadata.uid, None)
                wake(new.metadata.key)
            elif new is None and old is not None:
                self._pending.pop(old.metadata.key, None)
                self._needs.pop(old.metadata.uid, None)
                self._runs.forget(old)

        def node_changed(old: Node | None, new: Node | None) -> None:
            if new is not None and is_alive(new) and not is_alive(old):
                for pod in self._pods.on_node.of(new.name):
                    wake(pod.metadata.key)

        self._pods.listen(pod_changed)
        self._nodes.listen(node_changed)
        if self._gpu_agents is not None:
            self._gpu_agents.tell_kubelets(wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        pod = self._pods.find(key)
        if pod is None:
            return NOTHING
        node = self._nodes.get("", pod.spec.node_name)
        if node is None or not is_alive(node):
            return NOTHING
        devices = self._verdict(pod, node)
        if devices == WAITING:
            return NOTHING
        plan, pending = decide(
            pod,
            node,
            self._stages,
            self._pending.get(key),
            moment,
            self._address,
            self._facts(pod, node, devices, moment),
            self._runs,
        )
        if pending is None:
            self._pending.pop(key, None)
        else:
            self._pending[key] = pending
        return plan

    def _verdict(self, pod: Pod, node: Node) -> Verdict:
        if self._gpu_agents is None or pod.metadata.is_terminating:
            return None
        return self._gpu_agents.verdict(pod, node)

    def _facts(
        self, pod: Pod, node: Node, devices: tuple[str, str] | None, moment: Moment
    ) -> KubeletFacts | None:
        if not self._has_facts:
            return None
        if devices is not None:  # upstream: devices are requested before all else
            reason, message = devices
            return KubeletFacts(rejected_reason=reason, rejected_message=message)
        neighbours = self._pods.on_node
        return find_facts(
            pod, node, lambda: neighbours.of(node.name), moment, self._needs_of, self._runs
        )

    def _needs_of(self, pod: Pod) -> Needs:
        found = self._needs.get(pod.metadata.uid)
        if found is None:
            found = self._needs[pod.metadata.uid] = needs_of(pod)
        return found

    def _note_address(self, written: str) -> None:
        """Go on behind the addresses that pods of an earlier run have."""
        if not written:
            return
        number = int(parse_ip(written)) - _FIRST_ADDRESS
        if 0 < number < _ADDRESSES:
            self._addresses = max(self._addresses, number)

    def _address(self) -> str:
        """An address for a pod, from 10.64.0.0/10."""
        self._addresses = self._addresses % (_ADDRESSES - 2) + 1
        number = _FIRST_ADDRESS + self._addresses
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))

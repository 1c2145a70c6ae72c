"""What a kubelet works out about a pod before a stage is chosen, as fields that stages go by.

kubelet.rejectedReason, .rejectedMessage   why the node cannot take the pod; only before it starts
kubelet.nextSeconds                        when its containers change by themselves; 0: now
kubelet.stopSeconds                        how long it takes to stop, hooks and grace included
kubelet.ready                              whether its containers and readiness gates are
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

from podium.kubernetes.controllers.nodes import Node
from podium.kubernetes.controllers.pods import Container, Pod
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.rules.moment import Moment
from podium.simulated.names import STOP_SECONDS
from podium.simulated.pods.admission import Needs, admit, needs_of
from podium.simulated.pods.container_runs import ContainerRuns
from podium.simulated.pods.durations import seconds_of
from podium.simulated.pods.pod_lives import closed_gate, live_on
from podium.simulated.programs.recognition import recognise

_STOP_S: Final = 1.0
"""How long containers take to stop that nothing is said of."""


class KubeletFacts(KubeStruct, frozen=True):
    rejected_reason: str = ""
    rejected_message: str = ""
    next_seconds: float | None = None
    stop_seconds: float | None = None
    ready: str = ""


class SeenPod(Pod, frozen=True):
    """A pod with what its kubelet makes of it."""

    kubelet: KubeletFacts = KubeletFacts()


def find_facts(
    pod: Pod,
    node: Node,
    neighbours: Callable[[], Iterable[Pod]],
    moment: Moment,
    needs: Callable[[Pod], Needs] = needs_of,
    runs: ContainerRuns | None = None,
) -> KubeletFacts:
    """`neighbours` are the pods of the node, `runs` is what containers have done so far."""
    if pod.metadata.is_terminating:
        return KubeletFacts(stop_seconds=stop_s(pod))
    if pod.is_ended:
        return KubeletFacts()
    if not pod.status.start_time and pod.status.phase == "Pending":
        rejection = admit(pod, node, neighbours(), needs)
        if rejection is not None:
            return KubeletFacts(
                rejected_reason=rejection.reason, rejected_message=rejection.message
            )
    if not pod.status.start_time:
        # Programs are not read before they start: what they find then matters.
        return KubeletFacts(next_seconds=0.0, ready=str(not closed_gate(pod)))
    life = live_on(pod, moment, runs)
    known = pod.status.container_statuses or ()
    are_ready = all(each.state and each.state.running and each.ready is not False for each in known)
    is_ready = are_ready and not closed_gate(pod)
    wait_s = life.wait_s if life.is_written else 0.0
    return KubeletFacts(next_seconds=wait_s, ready=str(is_ready))


def stop_s(pod: Pod) -> float:
    """How long a pod takes to stop: its longest preStop hook, then its containers, within grace.

    upstream: the hook runs within the grace period, and containers that do not stop are killed at
    its end.
    """
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    hooks_s = max((_pre_stop_s(each) for each in containers), default=0.0)
    said_s = seconds_of(pod.metadata.annotation(STOP_SECONDS) or "-")
    total_s = hooks_s + (_STOP_S if said_s is None else said_s)
    grace_s = pod.metadata.deletion_grace_period_seconds
    return total_s if grace_s is None else min(total_s, float(grace_s))


def _pre_stop_s(container: Container) -> float:
    hook = (container.lifecycle or {}).get("preStop") or {}
    command = (hook.get("exec") or {}).get("command") or ()
    program = recognise(command)
    if program is not None:
        return math.inf if program.seconds is None else program.seconds
    return float((hook.get("sleep") or {}).get("seconds") or 0)

"""The pod without its gates."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange


def propose_no_gates(situation: Situation) -> Iterator[ProposedChange]:
    gates = situation.pod.spec.scheduling_gates
    if situation.refusal is None or not gates:
        return
    pod = situation.pod
    told = " and ".join(gate.name for gate in gates)
    yield situation.change_pod(
        "remove-scheduling-gate",
        f"remove the scheduling gate{'s' if len(gates) > 1 else ''} {told}",
        disturbance.REMOVE_GATE,
        replace(pod, spec=replace(pod.spec, scheduling_gates=None)),
    )

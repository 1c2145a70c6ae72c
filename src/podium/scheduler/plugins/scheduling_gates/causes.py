"""Gates that a pod waits for."""

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.explanations.finding import joined
from podium.scheduler.framework.plugin import RefusalCause


def explain_gates(pod: Pod) -> RefusalCause:
    names = [gate.name for gate in pod.spec.scheduling_gates or ()]
    noun = "scheduling gate" if len(names) == 1 else "scheduling gates"
    it = "it" if len(names) == 1 else "them"
    text = f"The pod waits for {noun} {joined(names)}; whoever set {it} has to remove {it}."
    return RefusalCause(
        "scheduling-gates", ",".join(names), text, {"gates": [*names]}, keeps_message=True
    )

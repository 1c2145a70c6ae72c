"""Nodes that are unlike those on which the pods of the service run."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.config.typed_args import ServiceAffinityArgs
from podium.scheduler.framework.explanations.finding import Finding, joined
from podium.scheduler.framework.explanations.situation import AttemptView


def find_service_affinity(
    view: AttemptView, among: Mask, args: ServiceAffinityArgs
) -> list[Finding]:
    """ServiceAffinity: nodes that are unlike those on which the service's pods run."""
    keys = joined(args.affinity_labels)
    clause = (
        f"the scheduler's ServiceAffinity rule keeps pods of a service on nodes alike in {keys};"
        f" {view.say(among, 'differs', 'differ')}"
    )
    text = f"the node differs in {keys} from where the pods of the service run"
    return [Finding("service-affinity", keys, among, clause, text)]

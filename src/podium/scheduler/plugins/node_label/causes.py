"""Labels that the configuration wants on every node, or on none."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.config.typed_args import NodeLabelArgs
from podium.scheduler.framework.explanations.finding import Finding, joined
from podium.scheduler.framework.explanations.situation import AttemptView


def find_label_presence(view: AttemptView, among: Mask, args: NodeLabelArgs) -> list[Finding]:
    """NodeLabel: labels that the configuration wants to be there, or not to be."""
    parts = [f"label {label}" for label in args.present_labels]
    parts += [f"no label {label}" for label in args.absent_labels]
    wanted = joined(parts)
    clause = f"the scheduler's NodeLabel rule wants {wanted}; {view.say(among, 'does', 'do')} not"
    return [Finding("node-label-rule", wanted, among, clause, f"NodeLabel wants {wanted}")]

"""NodeLabel: nodes must, or should, have some labels and lack others, whatever their values.

Policy files wrote it as custom predicates (`labelsPresence`) and priorities (`labelPreference`); as
a plugin it lasted until v1beta1. A preferred node gets 100 points for every preference it meets,
divided by the number of preferences.
"""

from typing import Final

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.config.typed_args import NodeLabelArgs
from podium.scheduler.framework.explanations.finding import Finding, join_words
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeScorePlugin, NodeView
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import Status, unresolvable

WRONG_LABELS: Final = unresolvable("node(s) didn't have the requested labels")


class NodeLabel(NodeFilterPlugin, NodeScorePlugin):
    name = "NodeLabel"
    refusals_stand = True
    Args = NodeLabelArgs
    in_range = True

    def filter_node(self, pod: Pod, node: NodeView) -> Status | None:  # noqa: ARG002
        labels = node.labels
        fits = all(label in labels for label in self.args.present_labels) and not any(
            label in labels for label in self.args.absent_labels
        )
        return None if fits else WRONG_LABELS

    def score_node(self, pod: Pod, node: NodeView) -> int:  # noqa: ARG002
        labels = node.labels
        present, absent = self.args.present_labels_preference, self.args.absent_labels_preference
        met = sum(label in labels for label in present)
        met += sum(label not in labels for label in absent)
        preferences = len(present) + len(absent)
        return met * MAX_SCORE // preferences if preferences else 0

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_label_presence(view, among, self.args)


def find_label_presence(view: AttemptView, among: Mask, args: NodeLabelArgs) -> list[Finding]:
    """NodeLabel: labels that the configuration wants to be there, or not to be."""
    parts = [f"label {label}" for label in args.present_labels]
    parts += [f"no label {label}" for label in args.absent_labels]
    wanted = join_words(parts)
    clause = f"the scheduler's NodeLabel rule wants {wanted}; {view.say(among, 'does', 'do')} not"
    return [Finding("node-label-rule", wanted, among, clause, f"NodeLabel wants {wanted}")]

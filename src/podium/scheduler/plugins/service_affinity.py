"""ServiceAffinity: keep the pods of a service on nodes that are alike in some labels, or apart.

Policy files wrote it as custom predicates (`serviceAffinity`) and priorities
(`serviceAntiAffinity`); as a plugin it lasted until v1beta1. The filter demands that nodes have the
label values which the pod's nodeSelector names or, for labels it does not name, those of the node
on which the first pod with the pod's labels runs. The score spreads the pods of the first service
that selects the pod over the values of each label
(`pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go` at v1.22).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from podium.kubernetes.kinds.workloads import Service
from podium.kubernetes.rules.labels import selector_of_map
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of, indices
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.config.typed_args import ServiceAffinityArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.explanations.finding import Finding, join_words
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin, ScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import SKIP, Status, unschedulable

WRONG_NODE: Final = unschedulable("node(s) didn't match service affinity")


class ServiceAffinity(PreFilterPlugin, FilterPlugin, ScorePlugin):
    name = "ServiceAffinity"
    Args = ServiceAffinityArgs
    in_range = True

    def pre_filter(self, cycle: Cycle) -> Status | None:  # noqa: ARG002
        return None if self.args.affinity_labels else SKIP

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        demanded = self._find_demanded_labels(cycle)
        if not demanded:
            return None
        labels_of = cycle.nodes.labels.labels_of
        misses = [not demanded.items() <= labels_of(int(row)).items() for row in indices(rows)]
        return rejecting(np.array(misses, dtype=np.bool_), WRONG_NODE)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        selector = self._service_selector(cycle)
        if selector is None:
            return np.zeros(count_of(rows), dtype=np.int64)
        condition = (frozenset({cycle.pod.shape.namespace}), selector_of_map(dict(selector)))
        counts = cycle.cluster.classes.counts(PodQuery((condition,), terminating=False))
        return counts[rows].copy()

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        labels = self.args.anti_affinity_labels_preference
        total = int(scores.sum())
        sums = [0.0] * len(scores)
        for label in labels:
            values = [cycle.nodes.labels.labels_of(int(row)).get(label) for row in indices(rows)]
            pods: dict[str, int] = {}
            for value, raw in zip(values, scores.tolist(), strict=True):
                if value is not None:
                    pods[value] = pods.get(value, 0) + raw
            for i, value in enumerate(values):
                if value is not None:
                    free = (total - pods[value]) / total if total else 1.0
                    sums[i] += MAX_SCORE * free / len(labels)
        return np.array([int(points) for points in sums], dtype=np.int64)

    def _find_demanded_labels(self, cycle: Cycle) -> dict[str, str]:
        wanted = cycle.pod.pod.spec.node_selector or {}
        labels = self.args.affinity_labels
        demanded = {label: wanted[label] for label in labels if label in wanted}
        missing = [label for label in labels if label not in wanted]
        if missing and self._service_selector(cycle) is not None:
            row = self._first_like(cycle)
            there = cycle.nodes.labels.labels_of(row) if row >= 0 else {}
            demanded.update({label: there[label] for label in missing if label in there})
        return demanded

    def _service_selector(self, cycle: Cycle) -> Mapping[str, str] | None:
        """The selector of the first service that selects the pod."""
        shape = cycle.pod.shape
        for service in cycle.cluster.catalog.all(Service):
            selector = service.spec.selector
            if service.metadata.namespace != shape.namespace or selector is None:
                continue
            if selector.items() <= shape.labels.items():
                return selector
        return None

    def _first_like(self, cycle: Cycle) -> int:
        """The row of the first other pod that has all labels of this one, or -1."""
        shape = cycle.pod.shape
        for row in cycle.cluster.node_order():
            for info in cycle.usage.pods(int(row)):
                if info.uid == cycle.pod.uid or info.shape.namespace != shape.namespace:
                    continue
                if shape.labels.items() <= info.shape.labels.items():
                    return int(row)
        return -1

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_service_affinity(view, among, self.args)


def find_service_affinity(
    view: AttemptView, among: Mask, args: ServiceAffinityArgs
) -> list[Finding]:
    """ServiceAffinity: nodes that are unlike those on which the service's pods run."""
    keys = join_words(args.affinity_labels)
    clause = (
        f"the scheduler's ServiceAffinity rule keeps pods of a service on nodes alike in {keys};"
        f" {view.say(among, 'differs', 'differ')}"
    )
    text = f"the node differs in {keys} from where the pods of the service run"
    return [Finding("service-affinity", keys, among, clause, text)]

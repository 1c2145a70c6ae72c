"""The last decision about a pod as a matrix: plugins by nodes, with what each said.

Read off the record of the attempt, for as long as the scheduler has it whole. Of thousands of nodes
the best are shown, and of those that were turned away some for each reason.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

import numpy as np

from podium.golang.document_structs import Count, DocumentPart, extend_part
from podium.live.record_documents import PodRecord, ScoredNode
from podium.live.scheduler_records import SchedulerRecords
from podium.scheduler.cluster.growth import indices
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.explain.cause_document import PluginStatus
from podium.scheduler.explain.explanation import Explanation
from podium.scheduler.framework.status import Status
from podium.web.configuration_document import WeighedPlugin
from podium.web.gang_document import gang_of
from podium.web.line_words import LineInWords
from podium.web.page_documents import NotThere

MAX_NODES: Final = 40
MAX_PER_REASON: Final = 12
MAX_REASONS: Final = 40


class RejectedNodes(PluginStatus, frozen=True):
    """Nodes that were rejected with one status."""

    count: Count
    """How many there are."""
    nodes: tuple[str, ...]
    """Some of them."""


class ObjectedNodes(RejectedNodes, frozen=True):
    """The same of a decision in which every filter was asked."""

    objections: Mapping[str, Mapping[str, tuple[str, ...]]]
    """What each filter holds against each node."""


class DecisionMatrix(DocumentPart, frozen=True):
    """A decision as plugins by nodes."""

    attempt: Count
    """The number of the attempt."""
    chosen: str | None
    """The node that was chosen."""
    filters: tuple[str, ...]
    """Filters that had a say."""
    skipped: tuple[str, ...]
    """Filters that had nothing to say."""
    scorers: tuple[WeighedPlugin, ...]
    """Plugins that scored."""
    feasible: Count
    """How many nodes fit."""
    nodes: tuple[ScoredNode, ...]
    """The best of them."""
    rejected: tuple[RejectedNodes, ...]
    """Nodes that do not fit, by reason, the most frequent first."""


class ExaminedMatrix(DecisionMatrix, frozen=True):
    """A decision made anew, in which every filter was asked about every node."""

    rejected: tuple[ObjectedNodes, ...]
    """Nodes that do not fit, by reason, the most frequent first."""


class PodView(PodRecord, frozen=True, kw_only=True):
    """One pod with its last decision as a matrix, for the page."""

    KIND: ClassVar[str] = "PodView"

    log: tuple[LineInWords, ...]
    """What happened to it, oldest first."""
    requests: Mapping[str, int] | None
    """What it asks for, by resource; null where it is not in the queue."""
    labels: Mapping[str, str]
    """Its labels."""
    gang: str | None
    """The gang that it belongs to."""
    matrix: DecisionMatrix | None
    """Plugins by nodes; null where no decision is remembered whole."""


def pod_document(engine: Engine, records: SchedulerRecords, namespace: str, name: str) -> PodView:
    """What is known of a pod, and its decision. Raises NotThere."""
    found = records.pod(namespace, name)
    if found is None:
        raise NotThere("the scheduler knows no such pod")
    key = f"{namespace}/{name}"
    pod = engine.state.pods.get(key)
    decision = engine.state.pod_log.decision(key)
    requests = engine.queue.get(key)
    return extend_part(
        found,
        PodView,
        log=tuple(map(LineInWords.of, found.log)),
        requests=requests.info.shape.accounted if requests is not None else None,
        labels=dict(pod.metadata.labels or {}) if pod is not None else {},
        gang=gang_of(pod) or None if pod is not None else None,
        matrix=decision_matrix(engine, decision) if decision is not None else None,
    )


def decision_matrix(engine: Engine, decision: Decision) -> DecisionMatrix:
    profile = engine.profiles.get(decision.profile)
    skipped = sorted(decision.pre_filter.skipped) if decision.pre_filter is not None else []
    filters = [plugin.name for plugin in profile.filter] if profile is not None else []
    return DecisionMatrix(
        attempt=decision.attempt,
        chosen=decision.chosen,
        filters=tuple(name for name in filters if name not in skipped),
        skipped=tuple(skipped),
        scorers=tuple(WeighedPlugin(each.plugin, each.weight) for each in decision.scores),
        feasible=len(decision.feasible),
        nodes=tuple(_list_fitting_nodes(decision)),
        rejected=tuple(_group_rejected_nodes(decision)),
    )


def _list_fitting_nodes(decision: Decision) -> Iterator[ScoredNode]:
    """The best nodes, the chosen one first among its equals."""
    total, names = decision.total, decision.node_names
    rows = decision.feasible
    if total is None:
        yield from (ScoredNode(names[row], None, {}) for row in rows[:MAX_NODES].tolist())
        return
    order: list[int] = np.argsort(-total, kind="stable")[:MAX_NODES].tolist()
    order.sort(key=lambda at: (-int(total[at]), names[int(rows[at])] != decision.chosen))
    for at in order:
        yield ScoredNode(names[int(rows[at])], int(total[at]), decision.node_scores(at))


def _group_rejected_nodes(decision: Decision) -> Iterator[RejectedNodes]:
    """Nodes by the reason for which they were turned away, the most frequent first."""
    groups: dict[Status, list[str]] = {}
    counts: dict[Status, int] = {}
    for node, status in decision.dropped.items():
        groups.setdefault(status, []).append(node)
        counts[status] = counts.get(status, 0) + 1
    for result in decision.results:
        rows = indices(result.rows)
        for status, positions in result.groups():
            counts[status] = counts.get(status, 0) + len(positions)
            named = groups.setdefault(status, [])
            room = MAX_PER_REASON - len(named)
            named.extend(decision.node_names[row] for row in rows[positions[: max(room, 0)]])
    if decision.pre_filter is not None and decision.pre_filter.status is not None:
        status = decision.pre_filter.status
        counts.setdefault(status, decision.diagnosis.node_count if decision.diagnosis else 0)
    ranked = sorted(counts, key=lambda status: (-counts[status], status.message))
    for status in ranked[:MAX_REASONS]:
        said, nodes = PluginStatus.of(status), tuple(groups.get(status, ()))
        yield extend_part(said, RejectedNodes, count=counts[status], nodes=nodes)


def examined_matrix(explanation: Explanation) -> ExaminedMatrix:
    decision = explanation.decision
    return ExaminedMatrix(
        attempt=decision.attempt,
        chosen=decision.chosen,
        filters=tuple(explanation.examination.plugins),
        skipped=tuple(explanation.examination.skipped),
        scorers=tuple(WeighedPlugin(*each) for each in explanation.weights.items()),
        feasible=explanation.feasible_count,
        nodes=tuple(
            ScoredNode(each.name, each.total, each.scores)
            for each in explanation.rank_nodes(MAX_NODES)
        ),
        rejected=tuple(
            extend_part(
                PluginStatus.of(group.status),
                ObjectedNodes,
                count=len(group.nodes),
                nodes=tuple(group.nodes[:MAX_PER_REASON]),
                objections={
                    node: _list_objections(explanation, node)
                    for node in group.nodes[:MAX_PER_REASON]
                },
            )
            for group in explanation.rejections()[:MAX_REASONS]
        ),
    )


def _list_objections(explanation: Explanation, node: str) -> dict[str, tuple[str, ...]]:
    return {
        plugin: (*explanation.details(plugin, node), *status.reasons)
        for plugin, status in explanation.objections(node).items()
    }

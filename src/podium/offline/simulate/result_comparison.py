"""What kube-scheduler-simulator decided for a pod, beside what is decided here.

The annotations of an imported pod say which nodes passed its filters there, what they scored and
which was taken. Where that differs from the decision made here, either the clusters differ (pods
came and went since), the configurations do, or one of the two is wrong; all three are worth a word.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.result_annotations import FILTER, FINAL_SCORE, PASSED, SELECTED_NODE
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer

_ByNode = dict[str, dict[str, str]]
_MAX_NAMES = 3
_MAX_LINES = 20


class ComparedResults(Observer):
    """Compares the last decision for each of some pods with what the pod brings along."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._lines = {object_key(pod.metadata): [""] for pod in pods if _brings_results(pod)}

    @property
    def has_any(self) -> bool:
        """Whether a pod brings results along."""
        return bool(self._lines)

    def pod_decided(self, decision: Decision) -> None:
        if decision.pod.key in self._lines:
            self._lines[decision.pod.key] = describe_differences(decision.pod.pod, decision)

    def describe(self) -> tuple[str, ...]:
        """A line for everything that differs, and one that counts the pods."""
        decided = [lines for lines in self._lines.values() if lines != [""]]
        if not decided:
            return ()
        agreeing = sum(not lines for lines in decided)
        pods = "1 pod" if len(decided) == 1 else f"{len(decided)} pods"
        total = f"kube-scheduler-simulator decided {agreeing} of {pods} in the same way"
        told = [line for lines in decided for line in lines]
        left = len(told) - _MAX_LINES
        more = (f"kube-scheduler-simulator: {left} more differences",) if left > 0 else ()
        return (total, *told[:_MAX_LINES], *more)


def _brings_results(pod: Pod) -> bool:
    annotations = pod.metadata.annotations
    return annotations is not None and (FILTER in annotations or SELECTED_NODE in annotations)


def describe_differences(pod: Pod, decision: Decision) -> list[str]:
    """A line for everything that differs; none if the pod brings no results or they agree."""
    if not _brings_results(pod):
        return []
    told = _lines(pod.metadata.annotations or {}, decision)
    return [f"kube-scheduler-simulator on {object_key(pod.metadata)}: {line}" for line in told]


def _lines(annotations: Mapping[str, str], decision: Decision) -> Iterator[str]:
    selected = annotations.get(SELECTED_NODE, "")
    chosen = decision.chosen or ""
    if SELECTED_NODE in annotations and selected != chosen:
        equal = ", an equally good one" if selected in decision.best else ""
        yield f"it selected {selected or 'no node'}{equal}; here it is {chosen or 'none'}"
    filters = _by_node(annotations, FILTER)
    fitting = {node for node, said in filters.items() if all(v == PASSED for v in said.values())}
    here = {decision.node_names[row] for row in decision.feasible} | decision.dropped.keys()
    looked_at = decision.filter_statuses().keys() | here
    common = filters.keys() & looked_at
    if lost := sorted((fitting & common) - here):
        yield f"{_some(lost)} passed the filters there, not here"
    if gained := sorted((here & common) - fitting):
        yield f"{_some(gained)} passed the filters here, not there"
    yield from _score_lines(_by_node(annotations, FINAL_SCORE), decision)


def _score_lines(theirs: _ByNode, decision: Decision) -> Iterator[str]:
    if not theirs or not decision.scores:
        return
    differing: dict[str, list[str]] = {}
    for position, row in enumerate(decision.feasible):
        node = decision.node_names[row]
        ours = decision.node_scores(position)
        for plugin, score in theirs.get(node, {}).items():
            if plugin in ours and score != str(ours[plugin].weighted):
                differing.setdefault(plugin, []).append(f"{node} ({score})")
    for plugin, nodes in differing.items():
        yield f"{plugin} gave other scores there to {_some(nodes)}"


def _by_node(annotations: Mapping[str, str], key: str) -> _ByNode:
    """What cannot be read says nothing."""
    try:
        return msgspec.json.decode(annotations.get(key, "{}"), type=_ByNode)
    except msgspec.DecodeError:
        return {}


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMES])
    left = len(names) - _MAX_NAMES
    return f"{shown} and {left} more" if left > 0 else shown

"""Decisions as the annotations in which kube-scheduler-simulator keeps them.

Its page and the scripts around it read what each plugin said from annotations of the pod. Here the
same keys are written with the same values: JSON objects by node and plugin, numbers as texts, keys
in order as Go writes them. `result-history` has one entry an attempt, the oldest first.

One thing cannot be distinguished: where several PreFilter plugins name nodes, each is written with
the nodes that all of them name.

upstream: kube-scheduler-simulator, simulator/scheduler/plugin/annotation and resultstore.

What kube-scheduler-simulator decided for a pod, beside what is decided here. The annotations of an
imported pod say which nodes passed its filters there, what they scored and which was taken. Where
that differs from the decision made here, either the clusters differ (pods came and went since), the
configurations do, or one of the two is wrong; all three are worth a word.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from podium.golang.durations import Duration
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.revisions import go_map_bytes
from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.report import SimulationReport
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.growth import indices
from podium.scheduler.engine import Engine
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Status

PREFIX: Final = "kube-scheduler-simulator.sigs.k8s.io/"
FILTER: Final = f"{PREFIX}filter-result"
FINAL_SCORE: Final = f"{PREFIX}finalscore-result"
SELECTED_NODE: Final = f"{PREFIX}selected-node"
HISTORY: Final = f"{PREFIX}result-history"

PASSED: Final = "passed"
_SUCCESS: Final = "success"
_WAIT: Final = "wait"
_NOMINATED: Final = "preemption victim"
_MAX_HISTORY_BYTES: Final = 256 * 1024
"""upstream: what all annotations of an object may take together."""

Annotations = dict[str, str]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def annotations_of(decision: Decision, profile: Profile) -> Annotations:
    """What one attempt found out, in the simulator's words, without the history."""
    results: dict[str, JsonObject] = {
        "prefilter-result": _pre_filter_nodes(decision),
        "prefilter-result-status": _pre_filter_statuses(decision, profile),
        "filter-result": _filter_results(decision, profile),
        "postfilter-result": _post_filter_results(decision, profile),
        "prescore-result": _pre_score_results(decision, profile),
        "score-result": _scores(decision, final=False),
        "finalscore-result": _scores(decision, final=True),
        **_after_choice(decision, profile),
    }
    written = {f"{PREFIX}{name}": go_map_bytes(value).decode() for name, value in results.items()}
    return {**written, SELECTED_NODE: decision.chosen or ""}


class AnnotationRecorder(Observer):
    """Keeps what the attempts of a run found out, by the pod's key."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._attempts: dict[str, list[Annotations]] = {}

    def pod_decided(self, decision: Decision) -> None:
        profile = self._engine.profile_of(decision.pod.pod)
        found = self._attempts.setdefault(decision.pod.key, [])
        found.append(annotations_of(decision, profile))

    def annotate(self, pod: Pod) -> Pod:
        """The pod with what is known of it; what another run has found out goes first in the
        history."""
        metadata = pod.metadata
        attempts = self._attempts.get(f"{metadata.namespace}/{metadata.name}")
        if not attempts:
            return pod
        before = dict(metadata.annotations or {})
        history = _read_history(before.get(HISTORY, "")) + attempts
        annotations = {**before, **attempts[-1], HISTORY: _write_history(history)}
        return replace(pod, metadata=replace(metadata, annotations=annotations))


def annotated_list(report: SimulationReport, recorder: AnnotationRecorder) -> bytes:
    """The pods of a run as a `kind: List`, each on the node that it was given."""
    pods = (
        recorder.annotate(replace(result.pod, spec=replace(result.pod.spec, node_name=result.node)))
        for result in report.pods
    )
    return _list_of(map(_with_type, pods))


def _with_type(pod: Pod) -> JsonObject:
    body: JsonObject = msgspec.to_builtins(pod)
    return {"apiVersion": pod.api_version, "kind": pod.kind, **body}


def _list_of(items: Iterable[JsonObject]) -> bytes:
    body = {"apiVersion": "v1", "kind": "List", "items": list(items)}
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


# --- the points before a node is chosen -------------------------------------------------------


def _pre_filter_nodes(decision: Decision) -> JsonObject:
    outcome = decision.pre_filter
    if outcome is None or outcome.nodes is None:
        return {}
    return {plugin: sorted(outcome.nodes) for plugin in outcome.narrowed_by}


def _pre_filter_statuses(decision: Decision, profile: Profile) -> JsonObject:
    outcome = decision.pre_filter
    if outcome is None:
        return {}
    found: JsonObject = {}
    for plugin in profile.pre_filter:
        # upstream: the message of Skip, which has none.
        found[plugin.name] = "" if plugin.name in outcome.skipped else _SUCCESS
        if outcome.status is not None and outcome.status.plugin == plugin.name:
            found[plugin.name] = outcome.status.message
            break
    return found


def _filter_results(decision: Decision, profile: Profile) -> JsonObject:
    """Each plugin's word up to the first that says no; what extenders say is not in it."""
    skipped = decision.pre_filter.skipped if decision.pre_filter else []
    plugins = [plugin.name for plugin in profile.filter if plugin.name not in skipped]
    found: JsonObject = {}
    for result in decision.results:
        for position, row in enumerate(indices(result.rows)):
            status = result.status(position)
            found.setdefault(decision.node_names[row], _until(plugins, status))
    for row in decision.feasible:
        found.setdefault(decision.node_names[row], _until(plugins, None))
    return found


def _until(plugins: list[str], status: Status | None) -> JsonObject:
    said: JsonObject = {}
    for plugin in plugins:
        if status is not None and status.plugin == plugin:
            said[plugin] = status.message
            break
        said[plugin] = PASSED
    return said


def _post_filter_results(decision: Decision, profile: Profile) -> JsonObject:
    outcome = decision.post_filter
    if outcome is None:
        return {}
    found: JsonObject = {
        node: {} for node, status in decision.filter_statuses().items() if status is not None
    }
    if outcome.nominated_node:
        # Those before the one that preempts name no node: DynamicResources frees claims.
        plugin = profile.post_filter[-1].name
        found.setdefault(outcome.nominated_node, {})[plugin] = _NOMINATED
    return found


def _pre_score_results(decision: Decision, profile: Profile) -> JsonObject:
    if not decision.scores:
        return {}
    return {
        plugin.name: "" if plugin.name in decision.pre_score_skipped else _SUCCESS
        for plugin in profile.pre_score
    }


def _scores(decision: Decision, *, final: bool) -> JsonObject:
    if not decision.scores:
        return {}
    return {
        decision.node_names[row]: {
            plugin: str(score.weighted if final else score.raw)
            for plugin, score in decision.node_scores(position).items()
        }
        for position, row in enumerate(decision.feasible)
    }


# --- the points behind it ---------------------------------------------------------------------


def _after_choice(decision: Decision, profile: Profile) -> dict[str, JsonObject]:
    """What plugins said of the chosen node, up to the one that refused it."""
    names = ("reserve-result", "permit-result", "permit-result-timeout")
    found: dict[str, JsonObject] = {name: {} for name in (*names, "prebind-result", "bind-result")}
    if decision.chosen is None:
        return found
    refused = decision.refused_by
    if not _walk(profile.reserve, refused, found["reserve-result"]):
        return found
    is_permitted = _walk(profile.permit, refused, found["permit-result"])
    for plugin in found["permit-result"]:
        wait_s = decision.waits_s.get(plugin, 0.0)
        found["permit-result-timeout"][plugin] = str(Duration.of_seconds(wait_s))
        if plugin in decision.waits_s:
            found["permit-result"][plugin] = _WAIT
    if not is_permitted or decision.bound is None:
        return found
    _walk(profile.pre_bind, refused, found["prebind-result"])
    _walk(profile.bind[:1], refused, found["bind-result"])
    return found


def _walk(plugins: Iterable[_Named], refused: Status | None, said: JsonObject) -> bool:
    """Write what plugins said; False if one of them refused."""
    for plugin in plugins:
        if refused is not None and refused.plugin == plugin.name:
            said[plugin.name] = refused.message
            return False
        said[plugin.name] = _SUCCESS
    return True


# --- the history ------------------------------------------------------------------------------


def _read_history(text: str) -> list[Annotations]:
    """What is no history counts as none."""
    try:
        return msgspec.json.decode(text or "[]", type=list[Annotations])
    except msgspec.DecodeError:
        return []


def _write_history(attempts: list[Annotations]) -> str:
    """upstream: the oldest are left out until the rest fits."""
    for first in range(len(attempts)):
        entries = b",".join(go_map_bytes(attempt) for attempt in attempts[first:])
        if len(entries) + 2 <= _MAX_HISTORY_BYTES or first == len(attempts) - 1:
            return f"[{entries.decode()}]"
    return "[]"


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

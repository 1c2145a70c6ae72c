"""A simulation as one file that shows the page's views without a server.

Contract: a report is bounded. Of many nodes and pods those are kept whole that one would look at
first, and the file says so where it has no more; changes that would help are looked for once for
each cause.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from podium import __version__
from podium.kubernetes.controllers.workloads import Workload
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.net.files.versioned_documents import Kind, add_version, add_version_to
from podium.offline.simulate import PodResult, SimulationReport
from podium.scheduler.engine import Engine
from podium.scheduler.explain.cause_document import cause_document
from podium.scheduler.explain.proposals.admitting import Admitting
from podium.scheduler.explain.proposals.answer_document import answer_document
from podium.scheduler.explain.proposals.search import Answer, find_proposals
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.asking import Asker
from podium.web.cluster_document import ClusterReader
from podium.web.cluster_snapshot import map_documents
from podium.web.configuration_document import configuration_document
from podium.web.decision_document import pod_document
from podium.web.fragmentation_document import fragmentation_document
from podium.web.gang_document import gang_document, gang_of
from podium.web.node_document import node_document
from podium.web.page_documents import REPORT, NotThere
from podium.web.queue_document import queue_document
from podium.web.report_file import make_report_file
from podium.web.stays import node_story_document, remembered_stays

MAX_PODS: Final = 1_000
MAX_NODES: Final = 500
MAX_GANGS: Final = 100
MAX_SEARCHES: Final = 20
"""For changes that would help."""


class Recorder:
    """Notes what a run decides; to be there before it begins."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.decisions = DecisionRecords(engine.clock)
        engine.observers.add(self.decisions)
        self.records = SchedulerRecords(engine, self.decisions)


def report_html(
    recorder: Recorder,
    report: SimulationReport,
    *,
    command_input: str,
    ask: Asker | None = None,
    kubectl: Kubectl | None = None,
    controllers: Sequence[Workload] = (),
    server: Admitting | None = None,
) -> bytes:
    """`command_input` is what commands in a terminal are given to read the same, `kubectl` how
    those that change something reach the cluster, `controllers` and `server` what becomes of what
    they write; the engine stands as the run has left it, and
    does again afterwards."""
    asked = _Asked(ask, kubectl or Kubectl(), controllers, server)
    return make_report_file(dict(_documents(recorder, report, command_input, asked)))


class _Asked(NamedTuple):
    """Whom extenders are asked by, how commands reach the cluster, and what comes of them."""

    ask: Asker | None
    kubectl: Kubectl
    controllers: Sequence[Workload]
    server: Admitting | None


def _documents(
    recorder: Recorder, report: SimulationReport, command_input: str, asked: _Asked
) -> Iterator[tuple[str, Any]]:
    engine, records = recorder.engine, recorder.records
    cluster = ClusterReader(engine.cluster, REPORT).document()
    queue = queue_document(engine, records, recorder.decisions)
    yield "overview", add_version("PageOverview", _overview(engine, report, command_input))
    yield "cluster", add_version("ClusterView", cluster)
    yield "fragmentation", add_version("FragmentationView", fragmentation_document(engine))
    for path, shown in map_documents(engine):
        yield path, add_version_to(shown)
    yield "queue", add_version("QueueView", queue)
    yield "configuration", add_version("ConfigurationView", configuration_document(engine))
    stays = remembered_stays(engine.state.pod_log)
    for name in cluster["names"][:MAX_NODES]:
        yield f"nodes/{name}", add_version("NodeView", node_document(engine, name))
        story = node_story_document(engine, name, stays)
        yield f"nodes/{name}/story", add_version("NodeStory", story)
    gangs = dict.fromkeys(gang for pod in engine.state.pods.values() if (gang := gang_of(pod)))
    for gang in list(gangs)[:MAX_GANGS]:
        namespace, _, name = gang.partition("/")  # a label is not always a name
        found = gang_document(engine, records, namespace, name)
        yield f"gangs/{gang}", add_version("GangView", found)
    waiting = [result for result in report.pods if not result.placed]
    placed = [result for result in report.pods if result.placed]
    listed = [{"pod": each.key, "node": each.node or None} for each in (*waiting, *placed)]
    yield "pods", add_version("PodSearch", {"count": len(listed), "pods": listed})
    for result in (*waiting, *placed)[:MAX_PODS]:
        namespace, _, name = result.key.partition("/")
        try:
            found = pod_document(engine, records, namespace, name)
        except NotThere:
            continue
        yield f"pods/{result.key}", add_version("PodView", found)
    yield from _analyses(engine, waiting[:MAX_PODS], asked)


def _overview(engine: Engine, report: SimulationReport, command_input: str) -> dict[str, Any]:
    return {
        "mode": REPORT,
        "version": __version__,
        "terminal": "",
        "url": "",
        "input": command_input,
        "schedulers": list(engine.profiles),
        "at": micro_time_text(engine.clock()),
        "nodes": len(report.utilisation.nodes),
        "pods": len(engine.cluster.placements),
        "queue": {**engine.queue.sizes()._asdict(), "waiting": len(engine.state.waiting)},
    }


def _analyses(engine: Engine, waiting: list[PodResult], asked: _Asked) -> Iterator[tuple[str, Any]]:
    """Causes for everybody, and what would help once for each cause."""
    kind: Kind = "PodAnalysis"
    answers: dict[object, Answer] = {}
    for result in waiting:
        first = result.causes[0].key if result.causes else result.message
        if first not in answers and len(answers) < MAX_SEARCHES:
            answers[first] = _answer(engine, result, asked)
        answer = answers.get(first)
        own = answer is not None and answer.pod.metadata.key == result.pod.metadata.key
        shown = answer if own and answer is not None else Answer(result.pod, is_complete=False)
        fields = answer_document(shown, runs_on="")
        proposals = [
            {name: value for name, value in each.items() if name != "changes"}
            for each in fields["proposals"]
        ]
        analysis = {
            **fields,
            "proposals": proposals,
            "outcome": result.outcome.value,
            "message": result.message,
            "premise": "decided with all pending pods, in the order of the queue",
            "causes": [cause_document(cause) for cause in result.causes],
            "matrix": None,
            "like": f"{answer.pod.namespace}/{answer.pod.name}" if answer and not own else None,
        }
        yield f"pods/{result.key}/analysis", add_version(kind, analysis)


def _answer(engine: Engine, result: PodResult, asked: _Asked) -> Answer:
    pod = engine.state.pods.get(result.key)
    if pod is None or result.turned_away_from:
        return Answer(result.pod, reason=result.message, turned_away_from=result.turned_away_from)
    trial = Trial(engine, pod, asked.ask)
    return find_proposals(trial, asked.controllers, asked.kubectl, asked.server)

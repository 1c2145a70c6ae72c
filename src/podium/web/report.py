"""A simulation as one file that shows the page's views without a server.

Contract: a report is bounded. Of many nodes and pods those are kept whole that one would look at
first, and the file says so where it has no more; changes that would help are looked for once for
each cause.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from podium import __version__
from podium.golang.document_structs import Document
from podium.kubernetes.controllers.workloads import Workload
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.offline.simulate import PodResult, SimulationReport
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Engine
from podium.scheduler.explain.cause_document import CauseInFull
from podium.scheduler.explain.proposals.admitting import Admitting
from podium.scheduler.explain.proposals.answer_document import ProposalInBrief, answer_fields
from podium.scheduler.explain.proposals.search import ProposalAnswer, find_proposals
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.asking import Asker
from podium.web.analysis import PodAnalysis
from podium.web.cluster_document import ClusterReader
from podium.web.cluster_snapshot import map_documents
from podium.web.configuration_document import configuration_document
from podium.web.decision_document import pod_document
from podium.web.fragmentation_document import fragmentation_document
from podium.web.gang_document import gang_document, gang_of
from podium.web.node_document import node_document
from podium.web.page_documents import REPORT, NotThere
from podium.web.page_overview import PageOverview, PodOfSearch, PodSearch, count_queue
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
) -> Iterator[tuple[str, Document]]:
    engine, records = recorder.engine, recorder.records
    cluster = ClusterReader(engine.cluster, REPORT).document()
    queue = queue_document(engine, records, recorder.decisions)
    yield "overview", _overview(engine, report, command_input)
    yield "cluster", cluster
    yield "fragmentation", fragmentation_document(engine)
    yield from map_documents(engine)
    yield "queue", queue
    yield "configuration", configuration_document(engine)
    stays = remembered_stays(engine.state.pod_log)
    for name in cluster.names[:MAX_NODES]:
        yield f"nodes/{name}", node_document(engine, name)
        yield f"nodes/{name}/story", node_story_document(engine, name, stays)
    gangs = dict.fromkeys(gang for pod in engine.state.pods.values() if (gang := gang_of(pod)))
    for gang in list(gangs)[:MAX_GANGS]:
        namespace, _, name = gang.partition("/")  # a label is not always a name
        yield f"gangs/{gang}", gang_document(engine, records, namespace, name)
    waiting = [result for result in report.pods if not result.placed]
    placed = [result for result in report.pods if result.placed]
    listed = tuple(PodOfSearch(each.key, each.node or None) for each in (*waiting, *placed))
    yield "pods", PodSearch(len(listed), listed)
    for result in (*waiting, *placed)[:MAX_PODS]:
        namespace, _, name = result.key.partition("/")
        try:
            found = pod_document(engine, records, namespace, name)
        except NotThere:
            continue
        yield f"pods/{result.key}", found
    yield from _analyses(engine, waiting[:MAX_PODS], asked)


def _overview(engine: Engine, report: SimulationReport, command_input: str) -> PageOverview:
    return PageOverview(
        mode=REPORT,
        version=__version__,
        terminal="",
        url="",
        input=command_input,
        schedulers=tuple(engine.profiles),
        at=micro_time_text(engine.clock()),
        nodes=len(report.utilisation.nodes),
        pods=len(engine.cluster.placements),
        queue=count_queue(engine),
    )


def _analyses(
    engine: Engine, waiting: list[PodResult], asked: _Asked
) -> Iterator[tuple[str, Document]]:
    """Causes for everybody, and what would help once for each cause."""
    answers: dict[object, ProposalAnswer] = {}
    for result in waiting:
        first = result.causes[0].key if result.causes else result.message
        if first not in answers and len(answers) < MAX_SEARCHES:
            answers[first] = _answer(engine, result, asked)
        answer = answers.get(first)
        own = answer is not None and answer.pod.metadata.key == result.pod.metadata.key
        shown = (
            answer if own and answer is not None else ProposalAnswer(result.pod, is_complete=False)
        )
        yield (
            f"pods/{result.key}/analysis",
            PodAnalysis(
                outcome=result.outcome,
                message=result.message,
                premise="decided with all pending pods, in the order of the queue",
                causes=tuple(map(CauseInFull.of, result.causes)),
                matrix=None,
                like=object_key(answer.pod.metadata) if answer and not own else None,
                **answer_fields(shown, runs_on=""),
                proposals=tuple(map(ProposalInBrief.of, shown.proposals)),
            ),
        )


def _answer(engine: Engine, result: PodResult, asked: _Asked) -> ProposalAnswer:
    pod = engine.state.pods.get(result.key)
    if pod is None or result.turned_away_from:
        return ProposalAnswer(
            result.pod, reason=result.message, turned_away_from=result.turned_away_from
        )
    trial = Trial(engine, pod, asked.ask)
    return find_proposals(trial, asked.controllers, asked.kubectl, asked.server)

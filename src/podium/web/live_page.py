"""The page of a scheduler that runs: its documents, and what has changed in between.

Everything is read in the scheduler's own thread, between two of its steps, so that a document is of
one moment; what takes long is worked out elsewhere (`analysis.py`). Where another thread serves the
page, it asks through `relayed_page.py`. The engine may be replaced
while the page is open (plugins that are loaded anew): the next document is of the new one, and a
mark of the old one means nothing any more.
"""

import itertools
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from msgspec.structs import astuple

from podium import __version__
from podium.golang.document_structs import Document
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.management import SchedulerParts
from podium.live.metrics import SchedulerMetrics
from podium.live.serving.surface import UI
from podium.scheduler.engine import Engine
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.web.access import DelegatedAccess
from podium.web.analysis import Analyses
from podium.web.application import PageApplication
from podium.web.cluster_document import ClusterReader
from podium.web.configuration_document import configuration_document
from podium.web.decision_document import pod_document
from podium.web.event_stream import EventStreams
from podium.web.fragmentation_document import fragmentation_document
from podium.web.gang_document import gang_document
from podium.web.gpu_cards_document import read_gpu_cards
from podium.web.node_document import node_document
from podium.web.node_states_document import NodeStatesReader
from podium.web.page_documents import LIVE, NotThere, Parameters
from podium.web.page_overview import (
    PageChanges,
    PageOverview,
    PodOfSearch,
    PodSearch,
    count_queue,
)
from podium.web.play import Play
from podium.web.pods_on_nodes_document import PodsOnNodes, PodsReader
from podium.web.queue_document import queue_document
from podium.web.stays import node_story_document, remembered_stays
from podium.web.throughput import KEPT_S, Throughput

MAX_FOUND: Final = 50
_DEFAULT_SPAN_S: Final = 300.0
_EPOCHS: Final = itertools.count(1)


class LivePage:
    def __init__(
        self,
        parts: Callable[[], SchedulerParts],
        *,
        terminal: str = "",
        kubectl: Kubectl | None = None,
        url: Callable[[], str] = lambda: "",
        play: Play | None = None,
    ) -> None:
        """`parts` are those of the scheduler at work now; `terminal` is what commands in a
        terminal have to begin with to reach the same cluster, and `kubectl` the same for those
        that change it; `url` is where it tells of itself. Without `play` the page can only be
        read."""
        self.play = play
        self._parts = parts
        self._terminal = terminal
        self._url = url
        self._throughput = Throughput(self._engine_and_metrics)
        self._analyses = Analyses(self._now, kubectl or Kubectl())
        self._started = f"{next(_EPOCHS)}-{id(self):x}"
        self._made_readers: _Readers | None = None
        self._engines = 0

    async def follow(self) -> None:
        """Sample the counters until cancelled."""
        await self._throughput.follow()

    # --- documents ----------------------------------------------------------------------------

    def document(self, path: str, parameters: Parameters) -> Document | Awaitable[Document]:
        """Raises NotThere and TooBusy."""
        kind, *names = path.split("/")
        match kind, names:
            case "overview", []:
                return self._overview()
            case "cluster", []:
                return self._cluster.document()
            case "pods-on-nodes", []:
                return self._pods_on_nodes(parameters)
            case "node-states", []:
                return self._readers.states.read()
            case "gpu-cards", []:
                return read_gpu_cards(self._engine, parameters.get("node", ()))
            case "fragmentation", []:
                return fragmentation_document(self._engine)
            case "nodes", [name]:
                return node_document(self._engine, unquote(name))
            case "nodes", [name, "story"]:
                engine = self._engine
                stays = remembered_stays(engine.state.pod_log)
                return node_story_document(engine, unquote(name), stays)
            case "gangs", [namespace, *name]:
                parts = self._parts()
                gang = unquote("/".join(name))
                return gang_document(parts.engine, parts.records, namespace, gang)
            case "queue", []:
                parts = self._parts()
                return queue_document(parts.engine, parts.records, parts.records.decisions)
            case "pods", []:
                return self._find_pods(_first(parameters, "q"))
            case "pods", [namespace, name]:
                parts = self._parts()
                return pod_document(parts.engine, parts.records, namespace, name)
            case "pods", [namespace, name, "analysis"]:
                key, client = f"{namespace}/{name}", self._parts().client
                return self._analyses.document(self._engine, key, client)
            case "throughput", []:
                return self._throughput.document(_span(parameters))
            case "configuration", []:
                return configuration_document(self._engine)
            case "play", names if self.play is not None:
                return self.play.document(names, parameters)
        raise NotThere("there is no such document")

    def _overview(self) -> PageOverview:
        engine = self._engine
        return PageOverview(
            mode=LIVE,
            version=__version__,
            terminal=self._terminal,
            url=self._url(),
            input="",
            play=self.play is not None,
            schedulers=tuple(engine.profiles),
            at=micro_time_text(engine.clock()),
            nodes=engine.cluster.nodes.present_count,
            pods=len(engine.cluster.placements),
            queue=count_queue(engine),
        )

    def _find_pods(self, words: str) -> PodSearch:
        """Pods whose name has some words in it, those without a node first."""
        wanted = words.lower().split()
        found: list[tuple[bool, str, str]] = []
        for key, pod in self._engine.state.pods.items():
            if all(word in key for word in wanted):
                found.append((bool(pod.spec.node_name), key, pod.spec.node_name))
        found.sort()
        listed = (PodOfSearch(key, node or None) for _, key, node in found[:MAX_FOUND])
        return PodSearch(len(found), tuple(listed))

    # --- changes ------------------------------------------------------------------------------

    def changes(self, mark: str) -> PageChanges:
        """What is different from the moment of a mark on."""
        engine, cluster = self._engine, self._cluster
        queue = count_queue(engine)
        # A mark moves with the cluster and with the queue, and with what Play lists.
        sizes = "-".join(map(str, astuple(queue)))
        if self.play is not None:
            sizes = f"{sizes}-{self.play.mark}"
        return PageChanges(
            mark=f"{cluster.mark}_{sizes}",
            at=micro_time_text(engine.clock()),
            nodes=engine.cluster.nodes.present_count,
            pods=len(engine.cluster.placements),
            queue=queue,
            cluster=cluster.changes(mark.partition("_")[0]),
        )

    # --- the engine at work now ---------------------------------------------------------------

    @property
    def _engine(self) -> Engine:
        return self._parts().engine

    @property
    def _cluster(self) -> ClusterReader:
        return self._readers.cluster

    @property
    def _readers(self) -> "_Readers":
        engine = self._engine
        if self._made_readers is None or self._made_readers.engine is not engine:
            self._engines += 1
            self._made_readers = _Readers.of(engine, f"{self._started}-{self._engines}")
        return self._made_readers

    def _pods_on_nodes(self, parameters: Parameters) -> PodsOnNodes:
        """All, or what has changed `since` a mark, or the part that begins at the row `from`."""
        pods = self._readers.pods
        mark, row = _first(parameters, "since"), _first(parameters, "from")
        if mark:
            return pods.read_since(mark)
        return pods.read_all(first_row=int(row) if row.isascii() and row.isdigit() else 0)

    def _now(self) -> float:
        return self._engine.clock()

    def _engine_and_metrics(self) -> tuple[Engine, SchedulerMetrics]:
        parts = self._parts()
        return parts.engine, parts.metrics


class _Readers(NamedTuple):
    """What reads the table of one engine, and remembers how far it had come."""

    engine: Engine
    cluster: ClusterReader
    pods: PodsReader
    states: NodeStatesReader

    @classmethod
    def of(cls, engine: Engine, epoch: str) -> "_Readers":
        cluster = engine.cluster
        readers = ClusterReader(cluster, epoch), PodsReader(engine, epoch)
        return cls(engine, *readers, NodeStatesReader(cluster))


def _first(parameters: Parameters, name: str) -> str:
    return next(iter(parameters.get(name, ())), "")


def _span(parameters: Parameters) -> float:
    written = _first(parameters, "span")
    if not written.isascii() or not written.isdigit():
        return _DEFAULT_SPAN_S
    return float(min(max(int(written), 10), KEPT_S))


def mounted_page(parts: SchedulerParts, kubeconfig: str) -> PageApplication:
    """The page below `/ui` of the port at which the scheduler tells of itself; who may look is
    decided there. The page's commands name the `kubeconfig` that the scheduler was started with;
    in a pod there is none, and they are for whatever cluster the reader's own kubectl is for."""
    file = str(Path(kubeconfig).absolute()) if kubeconfig else ""
    terminal = f"KUBECONFIG={shlex.quote(file)}" if file else ""
    page = LivePage(lambda: parts, terminal=terminal, kubectl=Kubectl(file))
    return PageApplication(page, EventStreams(page), DelegatedAccess(), UI)

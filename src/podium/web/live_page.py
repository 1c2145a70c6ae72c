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
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from podium import __version__
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.management import SchedulerParts
from podium.live.metrics import SchedulerMetrics
from podium.live.serving.surface import UI
from podium.net.files.versioned_documents import add_version, add_version_to
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
from podium.web.page_documents import LIVE, Document, NotThere, Parameters
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
        self._throughput = Throughput(self._counted)
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
                return add_version("PageOverview", self._overview())
            case "cluster", []:
                return add_version("ClusterView", self._cluster.document())
            case "pods-on-nodes", []:
                return add_version_to(self._pods_on_nodes(parameters))
            case "node-states", []:
                return add_version_to(self._readers.states.read())
            case "gpu-cards", []:
                return add_version_to(read_gpu_cards(self._engine, parameters.get("node", ())))
            case "fragmentation", []:
                return add_version("FragmentationView", fragmentation_document(self._engine))
            case "nodes", [name]:
                return add_version("NodeView", node_document(self._engine, unquote(name)))
            case "nodes", [name, "story"]:
                engine = self._engine
                stays = remembered_stays(engine.state.pod_log)
                found = node_story_document(engine, unquote(name), stays)
                return add_version("NodeStory", found)
            case "gangs", [namespace, *name]:
                parts = self._parts()
                gang = unquote("/".join(name))
                found = gang_document(parts.engine, parts.records, namespace, gang)
                return add_version("GangView", found)
            case "queue", []:
                parts = self._parts()
                found = queue_document(parts.engine, parts.records, parts.records.decisions)
                return add_version("QueueView", found)
            case "pods", []:
                return add_version("PodSearch", self._find_pods(_first(parameters, "q")))
            case "pods", [namespace, name]:
                parts = self._parts()
                found = pod_document(parts.engine, parts.records, namespace, name)
                return add_version("PodView", found)
            case "pods", [namespace, name, "analysis"]:
                return self._analysis(f"{namespace}/{name}")
            case "throughput", []:
                return add_version("ThroughputView", self._throughput.document(_span(parameters)))
            case "configuration", []:
                return add_version("ConfigurationView", configuration_document(self._engine))
            case "play", names if self.play is not None:
                return self.play.document(names, parameters)
        raise NotThere("there is no such document")

    def _overview(self) -> dict[str, Any]:
        engine = self._engine
        return {
            "mode": LIVE,
            "version": __version__,
            "terminal": self._terminal,
            "url": self._url(),
            "input": "",
            "play": self.play is not None,
            "schedulers": list(engine.profiles),
            **self._numbers(),
        }

    def _numbers(self) -> dict[str, Any]:
        """What the head of the page shows, and every message with it."""
        engine = self._engine
        cluster = engine.cluster
        return {
            "at": micro_time_text(engine.clock()),
            "nodes": cluster.nodes.present_count,
            "pods": len(cluster.placements),
            "queue": {**engine.queue.sizes()._asdict(), "waiting": len(engine.state.waiting)},
        }

    def _find_pods(self, words: str) -> dict[str, Any]:
        """Pods whose name has some words in it, those without a node first."""
        wanted = words.lower().split()
        found: list[tuple[bool, str, str]] = []
        for key, pod in self._engine.state.pods.items():
            if all(word in key for word in wanted):
                found.append((bool(pod.spec.node_name), key, pod.spec.node_name))
        found.sort()
        return {
            "count": len(found),
            "pods": [{"pod": key, "node": node or None} for _, key, node in found[:MAX_FOUND]],
        }

    async def _analysis(self, key: str) -> Document:
        found = await self._analyses.document(self._engine, key, self._parts().client)
        return add_version("PodAnalysis", found)

    # --- changes ------------------------------------------------------------------------------

    def changes(self, mark: str) -> Document:
        """What is different from the moment of a mark on."""
        cluster, numbers = self._cluster, self._numbers()
        sizes = "-".join(map(str, numbers["queue"].values()))
        if self.play is not None:
            sizes = f"{sizes}-{self.play.mark}"
        # A mark moves with the cluster and with the queue, and with what Play lists.
        return {
            "mark": f"{cluster.mark}_{sizes}",
            **numbers,
            "cluster": cluster.changes(mark.partition("_")[0]),
        }

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

    def _counted(self) -> tuple[Engine, SchedulerMetrics]:
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

"""A cluster at one moment, for reports that show it before something and after it."""

from collections.abc import Iterable, Iterator
from typing import Final

from podium.golang.document_structs import Document
from podium.scheduler.engine import Engine
from podium.web.cluster_document import ClusterReader
from podium.web.fragmentation_document import fragmentation_document
from podium.web.gpu_cards_document import read_gpu_cards
from podium.web.node_document import read_node, reading_document
from podium.web.node_states_document import NodeStatesReader
from podium.web.page_documents import REPORT
from podium.web.pods_on_nodes_document import PodsReader

MAX_NODES: Final = 500
"""Nodes that are kept with their pods."""
MAX_PODS: Final = 20_000
"""Pods that the map draws as blocks."""


class ClusterSnapshot:
    """What the Cluster view shows, read when this is made; documents can be had later."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cluster = ClusterReader(engine.cluster, REPORT).document()
        self._fragmentation = fragmentation_document(engine)
        self._on_map = dict(map_documents(engine))
        self._nodes = {name: read_node(engine, name) for name in self._cluster.names}

    def documents(self, prefix: str, first: Iterable[str] = ()) -> Iterator[tuple[str, Document]]:
        """By paths below `prefix`; of many nodes, `first` are kept before others."""
        yield f"{prefix}cluster", self._cluster
        yield f"{prefix}fragmentation", self._fragmentation
        for path, found in self._on_map.items():
            yield f"{prefix}{path}", found
        wanted = dict.fromkeys((*(name for name in first if name in self._nodes), *self._nodes))
        for name in list(wanted)[:MAX_NODES]:
            yield f"{prefix}nodes/{name}", reading_document(self._engine, self._nodes[name])


def map_documents(engine: Engine) -> Iterator[tuple[str, Document]]:
    """What the map shows within nodes, by path."""
    yield "pods-on-nodes", PodsReader(engine, REPORT).read_all(MAX_PODS)
    yield "node-states", NodeStatesReader(engine.cluster).read()
    yield "gpu-cards", read_gpu_cards(engine, max_nodes=MAX_NODES)

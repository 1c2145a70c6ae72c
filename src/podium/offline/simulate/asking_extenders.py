"""Extenders of a configuration, for whoever runs an engine offline: they are really asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from podium.kubernetes.kinds.node import Node
from podium.scheduler.engine import Engine
from podium.scheduler.framework.asking import Asker


@contextmanager
def asker_of(engine: Engine) -> Iterator[Asker | None]:
    """Somebody who asks the engine's extenders; None if it has none.

    Raises ConfigurationError if certificates cannot be used.
    """
    extenders = engine.configuration.extenders
    if not extenders:
        yield None
        return
    from podium.client.extenders.client import BlockingExtenderClient
    from podium.client.extenders.objects import TypedObjects

    nodes = engine.cluster.nodes

    def node(name: str) -> Node:
        if not nodes.is_present(name):
            raise KeyError(name)
        return nodes.node(nodes.row(name))

    with BlockingExtenderClient(extenders, TypedObjects(node)) as client:
        yield client.ask

"""Lines about nodes and pods that come, change and go (upstream: `eventhandlers.go`)."""

from podium.kubernetes.kinds.node import Node
from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.cluster.state import zone_key
from podium.scheduler.framework.events import Action, ClusterEvent, EventObject, Resource
from podium.scheduler.framework.log import ObjectRef

_KINDS: dict[Resource | str, str] = {
    Resource.NODE: "node",
    Resource.ASSIGNED_POD: "scheduled pod",
    Resource.UNSCHEDULABLE_POD: "unscheduled pod",
}


class Arrivals(LineWriter):
    level = 3

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if event.action in (Action.ADD, Action.DELETE):
            verb = "Add" if event.action is Action.ADD else "Delete"
            _write(self, f"{verb} event for {_KINDS[event.resource]}", obj)


class Updates(LineWriter):
    level = 4

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if event.action not in (Action.ADD, Action.DELETE):
            _write(self, f"Update event for {_KINDS[event.resource]}", obj)


class NodeTreeChanges(LineWriter):
    """upstream: `backend/cache/node_tree.go`"""

    level = 2

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if not isinstance(obj, Node):
            return
        if event.action is Action.ADD:
            self._write("Added node to NodeTree", obj)
        elif event.action is Action.DELETE:
            self._write("Removed node from NodeTree", obj)
        else:
            nodes = self.engine.cluster.nodes
            old = nodes.node(nodes.row(obj.metadata.name))
            if zone_key(old) != zone_key(obj):
                self._write("Removed node from NodeTree", old)
                self._write("Added node to NodeTree", obj)

    def _write(self, message: str, node: Node) -> None:
        ref = ObjectRef(node.metadata.name)
        self.log.info(message, v=self.level, node=ref, zone=zone_key(node))


def _write(writer: LineWriter, message: str, obj: EventObject) -> None:
    metadata = obj.metadata
    if isinstance(obj, Node):
        writer.log.info(message, v=writer.level, node=ObjectRef(metadata.name))
    else:
        ref = ObjectRef(metadata.name, metadata.namespace)
        writer.log.info(message, v=writer.level, pod=ref)

"""When a pod that got no card is worth another attempt."""

from collections.abc import Sequence

from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.plugin.quotas import RESOURCE_QUOTAS, QuotaDocument
from podium.plugin import (
    Action,
    Handle,
    Node,
    Pod,
    PodInfo,
    Registration,
    Resource,
    SourceColumn,
    ValueSource,
)


class WakeUps:
    def __init__(
        self,
        handle: Handle,
        dialect: Dialect,
        document: QuotaDocument | None,
        of_nodes: ValueSource | None,
    ) -> None:
        self._handle = handle
        self._dialect = dialect
        self._document = document
        self._of_nodes = of_nodes

    def registrations(self) -> Sequence[Registration]:
        nodes = Action.ADD | Action.UPDATE_NODE_ANNOTATION | Action.UPDATE_NODE_ALLOCATABLE
        if self._document is not None:
            nodes |= Action.UPDATE_NODE_LABEL
        quotas = RESOURCE_QUOTAS.event_resource
        return (
            Registration(Resource.NODE, nodes, self._node_helps),
            Registration(
                Resource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_LABEL, self._pod_helps
            ),
            Registration(quotas, Action.UPDATE | Action.DELETE, self._quota_helps),
            Registration(Resource.SOURCE, Action.UPDATE, self._source_helps),
        )

    def _node_helps(self, waiting: PodInfo, old: Node | None, new: Node | None) -> bool:  # noqa: ARG002
        """Agents write every half a minute that they live: that alone helps nobody."""
        if new is None:
            return False
        now = self._handle.clock()
        after = self._dialect.node_cards(new, now)
        if after.refusal is not None:
            return False
        if old is None or (
            old.metadata.labels != new.metadata.labels and self._document is not None
        ):
            return True
        before = self._dialect.node_cards(old, now)
        return before.refusal is not None or before.cards != after.cards

    def _pod_helps(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:  # noqa: ARG002
        return old is not None and self._asks_or_holds(old)

    def _quota_helps(self, waiting: PodInfo, old: object, new: object) -> bool:
        of = old if old is not None else new
        namespace = waiting.pod.metadata.namespace
        return isinstance(of, RESOURCE_QUOTAS.struct) and of.metadata.namespace == namespace

    def _source_helps(self, waiting: PodInfo, old: object, new: object) -> bool:  # noqa: ARG002
        if not isinstance(new, SourceColumn):
            return False
        document, of_nodes = self._document, self._of_nodes
        source = document.source if document is not None else None
        if document is not None and source is not None and new.name == source.name:
            return document.is_new(new.value)
        return of_nodes is not None and new.name == of_nodes.name

    def _asks_or_holds(self, pod: Pod) -> bool:
        if self._dialect.decided_node(pod):
            return True
        try:
            return self._dialect.pod_request(pod) is not None
        except InvalidRequest:
            return False

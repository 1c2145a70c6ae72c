"""What watches see, told to the engine.

Contract: one object that the engine cannot take stops neither its watch nor any other object; it is
logged with its name. Whoever waits for news hears that there is some. An order of the queue that is
broken cannot be passed over: it is kept for whoever works, to end with it.
"""

import logging
from collections.abc import Callable
from typing import Final

import msgspec

from podium.client.event_handlers import ResourceEventHandler
from podium.client.object_decoding import Decoder
from podium.kubernetes.controllers.object_keys import DeletedFinalStateUnknown, last_state
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KubeObject, decode_as
from podium.live.raw_objects import RawObjects
from podium.live.watched_kinds import decoder_of
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Engine
from podium.scheduler.engine.validation import InvariantBroken
from podium.scheduler.framework.faults import QueueOrderBroken

_LOG: Final = logging.getLogger("podium.live")


class Feed:
    """Handlers for reflectors, one for each kind."""

    def __init__(
        self, engine: Engine, stir: Callable[[], None], raw: RawObjects | None = None
    ) -> None:
        """`stir` is called after every change; `raw` keeps objects as they came, if it is
        there."""
        self._raw = raw
        self._engine = engine
        self._stir = stir
        self.refused = 0
        """How many changes the engine could not take."""
        self.broken_order: QueueOrderBroken | None = None
        """Why pods cannot be ordered any more."""

    def handler_of(self, struct: type[KubeObject]) -> ResourceEventHandler[KubeObject]:
        intake = self._engine.intake
        if struct is Pod:
            return _Handler(self._told, intake.pod_put, self._pod_deleted)
        if struct is Node:
            return _Handler(self._told, intake.node_put, self._node_deleted)
        return _Handler(self._told, intake.object_put, intake.object_deleted)

    def decoder_of(self, struct: type[KubeObject]) -> Decoder[KubeObject]:
        if struct is Pod:
            return self._pod
        return self._node if struct is Node and self._raw is not None else decoder_of(struct)

    def _pod(self, written: msgspec.Raw) -> Pod:
        """A pod with the parts that it shares with others, so that the store of all pods holds no
        second copy of them."""
        pod = self._engine.cluster.infos.of(decode_as(written, Pod)).pod
        if self._raw is not None:
            self._raw.put(pod, written)
        return pod

    def _node(self, written: msgspec.Raw) -> Node:
        node = decode_as(written, Node)
        if self._raw is not None:
            self._raw.put(node, written)
        return node

    def _pod_deleted(self, pod: Pod) -> None:
        if self._raw is not None:
            self._raw.remove(pod)
        self._engine.intake.pod_deleted(pod)

    def _node_deleted(self, node: Node) -> None:
        if self._raw is not None:
            self._raw.remove(node)
        self._engine.intake.node_deleted(node.metadata.name)

    def _told(self, tell: Callable[..., None], obj: KubeObject) -> None:
        try:
            tell(obj)
        except InvariantBroken:
            raise
        except QueueOrderBroken as problem:
            self.broken_order = problem
        except Exception:
            self.refused += 1
            what = f"{obj.kind} {object_key(obj.metadata)}"
            _LOG.exception("%s could not be taken in and is passed over", what)
        self._stir()


class _Handler:
    """Puts what appears or changes, and takes out what is gone."""

    def __init__(
        self,
        told: Callable[[Callable[..., None], KubeObject], None],
        put: Callable[..., None],
        delete: Callable[..., None],
    ) -> None:
        self._told = told
        self._put = put
        self._delete = delete

    def on_add(self, obj: KubeObject, /, *, is_in_initial_list: bool) -> None:  # noqa: ARG002
        self._told(self._put, obj)

    def on_update(self, old: KubeObject, new: KubeObject, /) -> None:  # noqa: ARG002
        self._told(self._put, new)

    def on_delete(self, obj: KubeObject | DeletedFinalStateUnknown, /) -> None:
        self._told(self._delete, last_state(obj))

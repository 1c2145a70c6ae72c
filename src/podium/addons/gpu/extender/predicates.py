"""The older wiring: no bind verb follows, so that filtering decides and writes.

Nodes are tried from the fullest on, by free cores, free memory and name; the first on which the
decision could be written is the only one that passes. A decision that the pod carries from an
earlier attempt is replaced: a pod whose binding failed is not stuck with it.
"""

from podium.addons.extenders.extender import Extender, ExtenderError, Nodes
from podium.addons.gpu.cards.node_scores import node_values
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.extender.cluster_view import PodChanged
from podium.addons.gpu.extender.deciding import FAILURES, Decider
from podium.addons.gpu.extender.feasibility import find_refusals, refuse_all, require_distinct
from podium.kubernetes.kinds.pod import Pod

_OF_THE_NODE = frozenset(
    {
        Reason.NO_CARDS,
        Reason.NOT_REGISTERED,
        Reason.BAD_REGISTRATION,
        Reason.NO_HEARTBEAT,
        Reason.HEARTBEAT_TIMEOUT,
        Reason.BAD_HEARTBEAT,
        Reason.QUOTA_EXCEEDED,
    }
)


class Predicates(Extender):
    def __init__(self, decider: Decider) -> None:
        self._decider = decider
        self._view = decider.view

    async def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        """All nodes but the one that was chosen. What they are told are gpu-admission's texts."""
        now = self._view.start_call()
        require_distinct(nodes)
        try:
            if self._view.request_of(pod) is None:
                return {}
            return await self._decide(pod, nodes, now)
        except InvalidRequest as problem:
            return {name: each.text for name, each in refuse_all(nodes, str(problem)).items()}
        except FAILURES as problem:
            raise ExtenderError(f"pod {pod.namespace}/{pod.name}: {problem}") from None

    async def _decide(self, pod: Pod, nodes: Nodes, now: float) -> dict[str, str]:
        """What was sent says which pod is meant. What is decided about is the pod as the server has
        it: the other may be older than what this extender wrote itself, or be made up."""
        uid = pod.metadata.uid
        known = await self._decider.writer.identify(pod.namespace, pod.name, uid)
        with self._view.writing_about(f"{pod.namespace}/{pod.name}", uid):
            known = await self._decider.read_settled(known)
            if known.spec.node_name:
                raise PodChanged(f"it is bound to node {known.spec.node_name} already")
            request = self._view.request_of(known)
            if request is None:
                raise PodChanged("it asks for no card")
            return await self._choose(known, request, nodes, now)

    async def _choose(
        self, pod: Pod, request: PodRequest, nodes: Nodes, now: float
    ) -> dict[str, str]:
        uid = pod.metadata.uid
        refused = await find_refusals(self._view, pod, request, nodes, now)
        failed: dict[str, str] = {}
        order = []
        for name in self._order(pod, request, nodes):
            refusal = refused.get(name)
            if refusal is not None and refusal.reason in _OF_THE_NODE:
                failed[name] = str(refusal.text)
                self._view.count_rejection("predicates", refusal.reason)
            else:
                order.append(name)
        chosen = ""
        for name in order:
            if chosen:
                failed[name] = f"pod {uid} has already been matched to another node"
                continue
            refusal = refused.get(name)
            if refusal is not None:
                self._view.count_rejection("predicates", refusal.reason)
                failed[name] = f"pod {uid} does not match with this node"
                continue
            reservation = self._decider.reserve(pod, request, name, self._view.now())
            if isinstance(reservation, Reason):  # taken while another node was tried
                self._view.count_rejection("predicates", reservation)
                failed[name] = f"pod {uid} does not match with this node"
                continue
            try:
                await self._decider.write(reservation)
                chosen = name
            except PodChanged:
                raise
            except FAILURES:
                if uid in self._decider.doubts:
                    raise
                failed[name] = "update pod annotation failed"
                pod = self._view.ledger.pod(uid) or pod
        return failed

    def _order(self, pod: Pod, request: PodRequest, nodes: Nodes) -> list[str]:
        ledger = self._view.ledger
        rows = ledger.rows_of(nodes.names)
        known = rows >= 0
        with ledger.without(pod.metadata.uid):
            values = node_values(ledger.table, rows[known], request).tolist()
        names = [name for name, is_known in zip(nodes.names, known, strict=True) if is_known]
        ordered = sorted(zip(values, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
        unknown = [name for name, is_known in zip(nodes.names, known, strict=True) if not is_known]
        return [name for _, name in ordered] + unknown

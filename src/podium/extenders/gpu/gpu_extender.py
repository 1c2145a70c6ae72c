"""The verbs of the GPU extender: filter without side effects, prioritize, bind, preempt."""

from collections.abc import Mapping

from podium.api.pod import Pod
from podium.extenders.extender import Extender, ExtenderError, Nodes, Victims
from podium.extenders.gpu.deciding import FAILURES, Decider
from podium.extenders.gpu.decision_writing import PodChanged
from podium.extenders.gpu.feasibility import Refusal, find_refusals, refuse_all
from podium.extenders.gpu.preemption import PreemptionSettings, choose_victims
from podium.gpu.dialects.dialect import InvalidRequest
from podium.gpu.node_scores import node_values, scores
from podium.gpu.reasons import Reason

CPU_NODE_SCORE = 1
"""Of nodes without cards for pods that ask for none; nodes with cards have 0."""


class GPUExtender(Extender):
    def __init__(self, decider: Decider, preemption: PreemptionSettings) -> None:
        self._decider = decider
        self._view = decider.view
        self._preemption = preemption

    def ready(self) -> bool:
        return self._view.is_synced

    async def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        now = self._view.start_call()
        try:
            request = self._view.request_of(pod)
            if request is None:
                return {}
            refused = find_refusals(self._view, pod, request, nodes, now)
        except InvalidRequest as problem:
            refused = refuse_all(nodes, str(problem))
        for refusal in refused.values():
            self._view.count_rejection("filter", refusal.reason)
        return {name: refusal.text for name, refusal in refused.items()}

    async def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, int]:
        self._view.start_call()
        ledger = self._view.ledger
        try:
            request = self._view.request_of(pod)
        except InvalidRequest as problem:
            raise ExtenderError(str(problem)) from None
        if request is None:
            return {name: 0 if ledger.cards(name).cards else CPU_NODE_SCORE for name in nodes.names}
        rows = ledger.rows_of(nodes.names)
        known = rows >= 0
        with ledger.without(pod.metadata.uid):
            values = node_values(ledger.table, rows[known], request)
        names = [name for name, is_known in zip(nodes.names, known, strict=True) if is_known]
        return dict(zip(names, scores(values).tolist(), strict=True))

    async def bind(self, pod_name: str, pod_namespace: str, pod_uid: str, node: str) -> None:
        self._view.start_call()
        with self._view.writing_about(f"{pod_namespace}/{pod_name}", pod_uid):
            try:
                await self._bind(pod_name, pod_namespace, pod_uid, node)
            except (InvalidRequest, *FAILURES) as problem:
                raise ExtenderError(f"pod {pod_namespace}/{pod_name}: {problem}") from None

    async def _bind(self, name: str, namespace: str, uid: str, node: str) -> None:
        doubt = self._decider.doubts.get(uid)
        if doubt is not None:
            await self._decider.clear_up(doubt)
        pod = self._view.ledger.pod(uid)
        if pod is None or doubt is not None or pod.metadata.key != (namespace, name):
            pod = await self._decider.writer.read(namespace, name, uid)
        if pod.spec.node_name == node:
            return  # an earlier call did it, and its answer was lost
        if pod.spec.node_name:
            raise PodChanged(f"it is bound to node {pod.spec.node_name} already")
        request = self._view.request_of(pod)
        if request is None:
            await self._decider.writer.bind_plainly(pod, node)
            return
        refusal = self._decider.check(pod, request, node)
        lock = await self._decider.lock(pod, node) if refusal is None else None
        reservation = refusal or self._decider.reserve(pod, request, node, self._view.now())
        if isinstance(reservation, Reason):
            await self._decider.unlock(lock)
            self._view.count_rejection("bind", reservation)
            raise ExtenderError(f"node {node}: {Refusal(reservation).text}")
        await self._decider.bind(reservation, lock)

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> dict[str, Victims]:
        self._view.start_call()
        try:
            request = self._view.request_of(pod)
        except InvalidRequest:
            return {}
        if request is None:
            return dict(victims)
        holders = self._view.ledger.holders()
        kept = {}
        for name, offered in victims.items():
            chosen = choose_victims(
                self._view.ledger,
                pod,
                request,
                name,
                offered.uids,
                holders.get(name, ()),
                self._preemption,
            )
            if chosen is not None:
                more = len(set(chosen) - set(offered.uids))
                kept[name] = Victims(chosen, offered.violations + more)
        return kept

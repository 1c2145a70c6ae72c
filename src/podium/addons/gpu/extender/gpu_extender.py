"""The verbs of the GPU extender: filter without side effects, prioritize, bind, preempt."""

import asyncio
from collections.abc import Mapping
from typing import Final

from podium.addons.extenders.extender import Extender, ExtenderError, Nodes, Victims
from podium.addons.gpu.cards.node_scores import node_values, scores
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.extender.cluster_view import PodChanged
from podium.addons.gpu.extender.deciding import FAILURES, Decider
from podium.addons.gpu.extender.feasibility import (
    Refusal,
    find_refusals,
    refuse_all,
    require_distinct,
)
from podium.addons.gpu.extender.preemption import PreemptionSettings, choose_victims
from podium.kubernetes.kinds.pod import Pod

_NODES_AT_ONCE: Final = 8
"""Of those whose victims are chosen: then others have a turn."""
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
        now = self._start_call(pod)
        require_distinct(nodes)
        try:
            request = self._view.request_of(pod)
            if request is None:
                return {}
            refused = await find_refusals(self._view, pod, request, nodes, now)
        except InvalidRequest as problem:
            refused = refuse_all(nodes, str(problem))
        for refusal in refused.values():
            self._view.count_rejection("filter", refusal.reason)
        return {name: refusal.text for name, refusal in refused.items()}

    async def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, int]:
        self._start_call(pod)
        require_distinct(nodes)
        ledger = self._view.ledger
        try:
            request = self._view.request_of(pod)
        except InvalidRequest as problem:
            raise ExtenderError(str(problem)) from None
        if request is None:
            return {name: 0 if ledger.cards(name).cards else CPU_NODE_SCORE for name in nodes.names}
        # Among nodes with cards alone: one without has nothing free, and so would be the fullest.
        names = [name for name in nodes.names if ledger.cards(name).cards]
        with ledger.without(pod.metadata.uid):
            values = node_values(ledger.table, ledger.rows_of(names), request)
        return dict(zip(names, scores(values).tolist(), strict=True))

    async def bind(self, pod_name: str, pod_namespace: str, pod_uid: str, node: str) -> None:
        self._view.start_call()
        try:
            pod = await self._decider.writer.identify(pod_namespace, pod_name, pod_uid)
            with self._view.writing_about(f"{pod_namespace}/{pod_name}", pod_uid):
                await self._bind(pod, node)
        except (InvalidRequest, *FAILURES) as problem:
            raise ExtenderError(f"pod {pod_namespace}/{pod_name}: {problem}") from None

    async def _bind(self, pod: Pod, node: str) -> None:
        pod = await self._decider.read_settled(pod)
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
        self._start_call(pod)
        try:
            request = self._view.request_of(pod)
        except InvalidRequest:
            return {}
        if request is None:
            return dict(victims)
        holders = self._view.ledger.holders()
        kept = {}
        for at, (name, offered) in enumerate(victims.items(), start=1):
            if at % _NODES_AT_ONCE == 0:
                await asyncio.sleep(0)
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

    def _start_call(self, pod: Pod) -> float:
        """The time of a call about a pod that nobody but the caller may know: an autoscaler asks
        about pods that it made up. Raises ExtenderError for one with the UID of another."""
        now = self._view.start_call()
        try:
            self._view.require_own_uid(pod.namespace, pod.name, pod.metadata.uid)
        except PodChanged as problem:
            raise ExtenderError(f"pod {pod.namespace}/{pod.name}: {problem}") from None
        return now

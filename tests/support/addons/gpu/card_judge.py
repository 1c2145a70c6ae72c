"""Judges from API objects alone whether a card is given away more than once, version by version.

A watch brings every version of every object in order; after each of them all that pods hold of the
node concerned is added up anew.
"""

import asyncio
from random import Random
from typing import Any

import msgspec

from podium.addons.gpu.cards.card import NO_CARDS, NodeCards
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects.dialect import GRACE_PERIOD_S, Dialect
from podium.client import (
    DeletedFinalStateUnknown,
    KubeClient,
    LoopClock,
    ObjectStore,
    Reflector,
    last_state,
)
from podium.client.resources import NODES, PODS
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


class CardJudge:
    """`overbooked` has a line for each card that was held more than it has."""

    def __init__(
        self,
        client: KubeClient,
        dialect: Dialect,
        now: Any,
        grace_period_s: float = GRACE_PERIOD_S,
    ) -> None:
        self.overbooked: list[str] = []
        self.versions = 0
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self._dialect = dialect
        self._now = now
        self._grace_period_s = grace_period_s
        self._client = client

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for resource, kind in ((NODES, Node), (PODS, Pod)):
                reflector: Reflector[Any] = Reflector(
                    self._client,
                    resource,
                    ObjectStore(resource.plural, msgspec.json.Decoder(kind).decode, self),
                    clock=LoopClock(),
                    randomness=Random(2),
                )
                group.create_task(reflector.run())

    def on_add(self, obj: Node | Pod, /, *, is_in_initial_list: bool = False) -> None:
        self.versions += 1
        if isinstance(obj, Node):
            self.nodes[obj.name] = obj
            self._judge(obj.name)
        else:
            self.pods[obj.metadata.uid] = obj
            self._judge(self._dialect.decided_node(obj))

    def on_update(self, old: Node | Pod, new: Node | Pod, /) -> None:
        self.on_delete(old)
        self.on_add(new)

    def on_delete(self, obj: Node | Pod | DeletedFinalStateUnknown, /) -> None:
        last = last_state(obj)
        if isinstance(last, Pod):
            self.pods.pop(last.metadata.uid, None)

    def cards(self, node_name: str) -> NodeCards:
        node = self.nodes.get(node_name)
        return NO_CARDS if node is None else self._dialect.node_cards(node, self._now())

    def used(self, node_name: str) -> dict[int, tuple[int, int, int]]:
        """Cores, memory and shares by card."""
        cards = self.cards(node_name)
        used: dict[int, tuple[int, int, int]] = {}
        for pod in self.pods.values():
            if self._dialect.decided_node(pod) != node_name:
                continue
            held = held_cards(self._dialect, pod, cards, self._now(), self._grace_period_s)
            assert not held.unread, held.unread
            for card, use in held.uses.items():
                cores, memory, slots = used.get(card, (0, 0, 0))
                used[card] = (cores + use.cores, memory + use.memory, slots + use.slots)
        return used

    def _judge(self, node_name: str) -> None:
        if node_name not in self.nodes:
            return  # nodes come by a watch of their own: judged when it is there
        cards = {card.index: card for card in self.cards(node_name).cards}
        for index, (cores, memory, slots) in self.used(node_name).items():
            card = cards[index]
            if cores > card.cores or memory > card.memory or slots > card.slots:
                holders = sorted(
                    pod.name
                    for pod in self.pods.values()
                    if self._dialect.decided_node(pod) == node_name
                )
                self.overbooked.append(
                    f"{self._now():.3f} {node_name} card {index}: {cores} cores, {memory} memory,"
                    f" {slots} shares of {card}: {holders}"
                )

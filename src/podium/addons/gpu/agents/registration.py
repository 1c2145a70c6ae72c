"""What the GPU agent of a node writes on it: its cards, and every half minute that it lives.

The cards are those that the node's annotation says it has. Annotations let a card break and an
agent fail: one that is `silent` says and answers nothing any more, of one that is `stopped` the
kubelet knows it, and offers none of its devices.
"""

from functools import lru_cache
from typing import Final

from msgspec import Struct

from podium.addons.gpu.agents.shapes import (
    make_cards,
    read_shape,
    require_dialect,
)
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects.dialect import Dialect
from podium.client.resources import NODES
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, PatchAction
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.simulated.names import (
    DEFAULT_GPU_DIALECT,
    FAILURE,
    GPU_AGENT_FAILURE,
    GPU_DIALECT,
    GPU_UNHEALTHY,
    GPUS,
    NOT_READY,
    STOPPED,
)

INTERVAL_S: Final = 30.0
"""How often an agent says that it lives. Its readers go by the calendar, whatever the speed."""


class Agent(Struct, frozen=True):
    """The agent of one node, and the cards that it sees there."""

    dialect: Dialect
    cards: tuple[Card, ...]
    is_silent: bool = False
    is_stopped: bool = False


class NodeRegistration(Struct, frozen=True):
    annotations: dict[str, str | None]
    labels: dict[str, str | None]
    capacity: dict[str, str]
    allocatable: dict[str, str]


def find_agent(metadata: ObjectMeta) -> Agent | None:
    """The agent of a node that has GPUs. Raises InputError if its annotations cannot be read."""
    read = metadata.annotation
    if not read(GPUS):
        return None
    dialect = require_dialect(read(GPU_DIALECT) or DEFAULT_GPU_DIALECT)
    cards = _cards(metadata.name, read(GPUS), dialect, read(GPU_UNHEALTHY))
    failure = read(GPU_AGENT_FAILURE)
    is_off = read(FAILURE) not in ("", NOT_READY)
    is_stopped = failure == STOPPED
    return Agent(dialect, cards, is_off or bool(failure and not is_stopped), is_stopped)


@lru_cache(maxsize=4096)
def _cards(node_name: str, shape: str, dialect: Dialect, unhealthy: str) -> tuple[Card, ...]:
    broken = frozenset(int(at) for at in unhealthy.split(",") if at.strip().isdecimal())
    return make_cards(node_name, read_shape(shape), dialect, broken)


def registration(agent: Agent, wall_s: float) -> NodeRegistration:
    dialect, cards = agent.dialect, agent.cards
    said = dialect.register(cards, wall_s)
    offered = dict(said.capacity)
    if agent.is_stopped:
        offered = dict.fromkeys(offered, "0")
    elif not dialect.gives_broken_devices:
        offered = dict(dialect.register([each for each in cards if each.healthy], wall_s).capacity)
    return NodeRegistration(dict(said.annotations), dict(said.labels), dict(said.capacity), offered)


def add_registration(node: JsonObject, wall_s: float) -> JsonObject:
    """A node that is to be made, with what its agent would write first. Raises InputError."""
    metadata = node["metadata"]
    said = metadata.get("annotations") or {}
    agent = find_agent(ObjectMeta(name=metadata["name"], annotations=said))
    if agent is None or agent.is_silent:
        return node
    wanted, status = registration(agent, wall_s), node["status"]
    annotations = {key: text for key, text in wanted.annotations.items() if text is not None}
    labels = {key: text for key, text in wanted.labels.items() if text is not None}
    return {
        **node,
        "metadata": {
            **metadata,
            "annotations": {**said, **annotations},
            "labels": {**(metadata.get("labels") or {}), **labels},
        },
        "status": {
            **status,
            "capacity": {**status["capacity"], **wanted.capacity},
            "allocatable": {**status["allocatable"], **wanted.allocatable},
        },
    }


def metadata_writes(node: Node, wanted: NodeRegistration) -> list[Action]:
    """What the agent changes in the node's metadata."""
    annotations = _find_changes(node.metadata.annotations, wanted.annotations)
    labels = _find_changes(node.metadata.labels, wanted.labels)
    parts = {"annotations": annotations, "labels": labels}
    body = {name: part for name, part in parts.items() if part}
    return [PatchAction(NODES, "", node.name, {"metadata": body})] if body else []


def status_writes(node: Node, wanted: NodeRegistration) -> list[Action]:
    """What the kubelet changes in the node's status after what the agent has told it."""
    parts = {
        "capacity": _find_changes(node.status.capacity, wanted.capacity),
        "allocatable": _find_changes(node.status.allocatable, wanted.allocatable),
    }
    body = {name: part for name, part in parts.items() if part}
    return [PatchAction(NODES, "", node.name, {"status": body}, "status")] if body else []


def _find_changes(
    present: dict[str, str] | None, wanted: dict[str, str] | dict[str, str | None]
) -> dict[str, str | None]:
    known = present or {}
    return {key: text for key, text in wanted.items() if known.get(key) != text}

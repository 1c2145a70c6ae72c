"""Which cards a node has, as people write it: `8xA100-40GB`, `4xA30:mig`, `2xX1:memory=24Gi`.

SHAPE    COUNT x MODEL [:OPTION ...]
OPTION   mig              the cards are in MIG mode
         numa=N           NUMA nodes that the cards lie on, in blocks; 2 if there are two cards
         split=N          how many pods may share a card, where the agent counts them; 10
         memory=AMOUNT    another memory; models that are not known need it
POOL     [NODES:]SHAPE    so many nodes; without a number all that are left
"""

import re
import uuid
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.agents.models import Model, find_model
from podium.addons.gpu.cards.card import MAX_CARDS, NVLINK, Card
from podium.addons.gpu.dialects import UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity import QuantityError, value
from podium.simulated.names import GPU_DIALECT, GPUS

_SPLIT: Final = 10
_MIB: Final = 1 << 20
_SAME_PROCESSOR: Final = 20
_OTHER_PROCESSOR: Final = 10
_UUIDS: Final = uuid.UUID("3a7d8f02-91c1-5f0e-9d53-7c3d6a52b9e4")
_SHAPE: Final = re.compile(r"(\d{1,4})x([A-Za-z][\w.-]*)((?::[^:]*)*)", re.ASCII)
_POOL: Final = re.compile(r"(\d{1,7}):(.*)", re.ASCII)
_RIGHT: Final = "write it as 8xA100, 4xA30:mig or 2xX1:memory=24Gi"


class Shape(Struct, frozen=True):
    """So many cards of one model; `text` is as it was written."""

    text: str
    count: int
    model: Model
    numa_nodes: int
    split: int = _SPLIT
    mig: bool = False


def read_shape(text: str) -> Shape:
    """Raises InputError."""
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise InputError(f'"{text}" says no GPUs', remedy=_RIGHT)
    count, options = int(found[1]), _options(text, found[3])
    if not 1 <= count <= MAX_CARDS:
        raise InputError(f'"{text}": a node has 1 to {MAX_CARDS} GPUs, not {count}')
    model = _model(found[2], options.get("memory", ""))
    if "mig" in options and not model.instances:
        raise InputError(f'"{text}": {found[2]} cannot be split into MIG instances')
    return Shape(
        text=text.strip(),
        count=count,
        model=model,
        numa_nodes=_number(text, "numa", options.get("numa", str(min(count, 2))), count),
        split=_number(text, "split", options.get("split", str(_SPLIT)), 1000),
        mig="mig" in options,
    )


def _options(text: str, written: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in written.split(":")[1:]:
        name, sign, amount = part.partition("=")
        takes_value = name in ("numa", "split", "memory")
        if name in options or takes_value is not bool(sign) or not (takes_value or name == "mig"):
            raise InputError(
                f'"{text}": "{part}" is no option of GPUs',
                remedy="there are mig, numa=N, split=N and memory=AMOUNT, each once",
            )
        options[name] = amount
    return options


def _number(text: str, name: str, written: str, largest: int) -> int:
    if written.isascii() and written.isdecimal() and 1 <= int(written[:7]) <= largest:
        return int(written)
    raise InputError(f'"{text}": {name}={written} is not a number from 1 to {largest}')


def _model(name: str, memory: str) -> Model:
    if not memory:
        return find_model(name)
    try:
        memory_mib = value(memory) // _MIB
    except QuantityError:
        memory_mib = 0
    if not 1 <= memory_mib <= 1 << 24:
        raise InputError(f'"{memory}" is no memory of a GPU', remedy="write it as 24Gi")
    try:
        return replace(find_model(name), memory_mib=memory_mib)
    except InputError:
        return Model(name, memory_mib)


# --- the nodes that have them -------------------------------------------------------------------


class Pool(Struct, frozen=True):
    """`nodes` is None for all that are left."""

    shape: Shape
    nodes: int | None = None


def read_pool(text: str) -> Pool:
    """Raises InputError."""
    found = _POOL.fullmatch(text.strip())
    return Pool(read_shape(found[2]), int(found[1])) if found else Pool(read_shape(text))


def equip_nodes(
    nodes: Sequence[JsonObject], written: Sequence[str], dialect: str
) -> tuple[JsonObject, ...]:
    """The nodes with what says which cards they have; pools take them in order. Raises
    InputError."""
    require_dialect(dialect)
    pools = [read_pool(text) for text in written]
    counted = sum(pool.nodes or 0 for pool in pools)
    if counted > len(nodes):
        remedy = f"ask for {counted} nodes, or give fewer of them GPUs"
        raise InputError(f"{counted} nodes are to have GPUs, of {len(nodes)}", remedy=remedy)
    if sum(pool.nodes is None for pool in pools) > 1:
        remedy = "say how many nodes have which: 2:8xA100"
        raise InputError("two kinds of GPUs are for all nodes that are left", remedy=remedy)
    left = len(nodes) - counted
    shapes = [
        pool.shape for pool in pools for _ in range(left if pool.nodes is None else pool.nodes)
    ]
    with_cards = [_equip(*each, dialect) for each in zip(nodes, shapes, strict=False)]
    return (*with_cards, *nodes[len(shapes) :])


def _equip(node: JsonObject, shape: Shape, dialect: str) -> JsonObject:
    metadata = node["metadata"]
    said = {**(metadata.get("annotations") or {}), GPUS: shape.text, GPU_DIALECT: dialect}
    return {**node, "metadata": {**metadata, "annotations": said}}


def require_dialect(name: str) -> Dialect:
    """Raises InputError."""
    try:
        return find_dialect(name)
    except UnknownDialect as problem:
        raise InputError(str(problem)) from None


# --- the cards ----------------------------------------------------------------------------------


def make_cards(
    node_name: str, shape: Shape, dialect: Dialect, unhealthy: frozenset[int] = frozenset()
) -> tuple[Card, ...]:
    """The cards of a node, in the units of a dialect. Their uuids depend on the node's name."""
    model = shape.model
    memory = model.memory_mib * _MIB // dialect.memory_unit
    numa = [at * shape.numa_nodes // shape.count for at in range(shape.count)]
    return tuple(
        Card(
            index=at,
            uuid=f"GPU-{uuid.uuid5(_UUIDS, f'{node_name}/{at}')}",
            model=model.product,
            memory=memory,
            slots=shape.split,
            numa=numa[at],
            healthy=at not in unhealthy,
            profiles=model.profiles(memory) if shape.mig else (),
            links=tuple(
                0 if peer == at else _link(model, numa[at], there)
                for peer, there in enumerate(numa)
            ),
        )
        for at in range(shape.count)
    )


def _link(model: Model, here: int, there: int) -> int:
    """How well two cards are connected: over PCI, and by NVLinks beside it."""
    return NVLINK * model.nvlinks + (_SAME_PROCESSOR if here == there else _OTHER_PROCESSOR)

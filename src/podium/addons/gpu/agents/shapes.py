"""Which cards a node has, as people write it, and the models of cards there are.

As in `8xA100-40GB`, `4xA30:mig`, `2xX1:memory=24Gi`:

    SHAPE    COUNT x MODEL [:OPTION ...]
    OPTION   mig              the cards are in MIG mode
             numa=N           NUMA nodes that the cards lie on, in blocks; 2 if there are two cards
             split=N          how many pods may share a card, where the agent counts them; 10
             memory=AMOUNT    another memory; models that are not known need it
    POOL     [NODES:]SHAPE    so many nodes; without a number all that are left

Models of cards that simulated nodes can have, with what their data sheets say. Memory is what the
driver reports, in MiB. An instance of a card in MIG mode has its share of the card's memory slices
and of its compute slices: 3g.20gb of an A100 with 40960 MiB has 4 of 8 and 3 of 7, that is 20480
MiB and 42 cores.
"""

import re
import uuid
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.cards.card import MAX_CARDS, NVLINK, Card, MigProfile
from podium.addons.gpu.dialects import UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.golang.errors import InputError, closest, did_you_mean
from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity import QuantityError, value
from podium.simulated.names import GPU_DIALECT, GPUS


class Model(Struct, frozen=True):
    """`nvlinks` are those between each two cards of a node, `instances` the sizes for MIG: name,
    memory slices, and where they may begin."""

    product: str
    memory_mib: int
    nvlinks: int = 0
    instances: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    slices: int = 8

    def profiles(self, memory: int) -> tuple[MigProfile, ...]:
        """What one card can be split into, of which all memory is so much."""
        compute = int(self.instances[-1][0].partition("g")[0]) if self.instances else 1
        return tuple(
            MigProfile(
                name=name,
                memory=memory * width // self.slices,
                cores=100 * int(name.partition("g")[0]) // compute,
                width=width,
                placements=placements,
            )
            for name, width, placements in self.instances
        )


_EIGHTHS: Final = (
    (1, tuple(range(7))),
    (2, (0, 2, 4, 6)),
    (2, (0, 2, 4)),
    (4, (0, 4)),
    (4, (0,)),
    (8, (0,)),
)


def _sevenths(*names: str) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    return tuple((name, *where) for name, where in zip(names, _EIGHTHS, strict=True))


_OF_40GB: Final = _sevenths("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_OF_80GB: Final = _sevenths("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_OF_141GB: Final = _sevenths("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")
_OF_180GB: Final = _sevenths("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")
_OF_24GB: Final = (("1g.6gb", 1, (0, 1, 2, 3)), ("2g.12gb", 2, (0, 2)), ("4g.24gb", 4, (0,)))

MODELS: Final[dict[str, Model]] = {
    "T4": Model("Tesla T4", 15360),
    "V100-16GB": Model("Tesla V100-SXM2-16GB", 16384, 1),
    "V100-32GB": Model("Tesla V100-SXM2-32GB", 32768, 1),
    "A10": Model("NVIDIA A10", 23028),
    "A30": Model("NVIDIA A30", 24576, 0, _OF_24GB, 4),
    "A100-40GB": Model("NVIDIA A100-SXM4-40GB", 40960, 12, _OF_40GB),
    "A100-80GB": Model("NVIDIA A100-SXM4-80GB", 81920, 12, _OF_80GB),
    "L4": Model("NVIDIA L4", 23034),
    "L40S": Model("NVIDIA L40S", 46068),
    "H100": Model("NVIDIA H100 80GB HBM3", 81559, 18, _OF_80GB),
    "H200": Model("NVIDIA H200", 143771, 18, _OF_141GB),
    "B200": Model("NVIDIA B200", 183359, 18, _OF_180GB),
}
_SAME: Final = {"V100": "V100-32GB", "A100": "A100-80GB", "H100-80GB": "H100"}
NAMES: Final = tuple(sorted((*MODELS, *_SAME)))


def find_model(name: str) -> Model:
    """A model by its short name, in any case of letters. Raises InputError."""
    known = {each.upper(): each for each in NAMES}
    found = known.get(name.upper())
    if found is None:
        remedy = did_you_mean(closest(name, NAMES)) or (
            f"there are {', '.join(NAMES)}; any other one needs its memory: {name}:memory=24Gi"
        )
        raise InputError(f'no model of GPU is known as "{name}"', remedy=remedy)
    return MODELS[_SAME.get(found, found)]


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


class ShapePool(Struct, frozen=True):
    """`nodes` is None for all that are left."""

    shape: Shape
    nodes: int | None = None


def read_pool(text: str) -> ShapePool:
    """Raises InputError."""
    found = _POOL.fullmatch(text.strip())
    return ShapePool(read_shape(found[2]), int(found[1])) if found else ShapePool(read_shape(text))


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

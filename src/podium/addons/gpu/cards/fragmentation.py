"""How much of what is free lies in pieces that no request for a whole card can use.

A card is idle if nobody has a share of it, and partial if somebody has and some cores are free.
Cards that cannot be had (unhealthy, cordoned, of a node that is refused) are not counted. Cores in
pieces are the free ones of partial cards; their share of all free cores is the fragmentation: 0 if
everything that is free is whole cards, 1 if there is not one. With cards of 100, 40 and 0 free
cores it is 40 / 140.
"""

from msgspec import Struct

from podium.addons.gpu.cards.card_table import NO_REASON, CardTable
from podium.addons.gpu.cards.columns import Ints


class NodeFragmentation(Struct, frozen=True):
    """Columns over the rows of the table."""

    cards: Ints
    idle_cards: Ints
    partial_cards: Ints
    free_cores: Ints
    free_cores_in_pieces: Ints
    free_memory: Ints
    free_memory_in_pieces: Ints


class Fragmentation(Struct, frozen=True):
    """Of one node, or of all."""

    cards: int = 0
    idle_cards: int = 0
    partial_cards: int = 0
    free_cores: int = 0
    free_cores_in_pieces: int = 0
    free_memory: int = 0
    free_memory_in_pieces: int = 0

    @property
    def of_cores(self) -> float:
        return self.free_cores_in_pieces / self.free_cores if self.free_cores else 0.0

    @property
    def of_memory(self) -> float:
        return self.free_memory_in_pieces / self.free_memory if self.free_memory else 0.0


def node_fragmentation(table: CardTable) -> NodeFragmentation:
    rows = slice(0, table.rows)
    exists = table.exists[rows] & table.healthy[rows] & ~table.cordoned[rows]
    exists &= (table.refusal[rows] == NO_REASON)[:, None]
    free_cores = (table.cores[rows] - table.used_cores[rows]).clip(min=0) * exists
    free_memory = (table.memory[rows] - table.used_memory[rows]).clip(min=0) * exists
    used = (table.used_cores[rows] | table.used_memory[rows] | table.used_slots[rows]) != 0
    idle = exists & ~used
    # Memory beside exhausted cores is free for nobody, and yet it is in pieces.
    return NodeFragmentation(
        exists.sum(axis=1),
        idle.sum(axis=1),
        (exists & used & (free_cores > 0)).sum(axis=1),
        free_cores.sum(axis=1),
        (free_cores * used).sum(axis=1),
        free_memory.sum(axis=1),
        (free_memory * used).sum(axis=1),
    )


def fragmentation(nodes: NodeFragmentation, row: int | None = None) -> Fragmentation:
    """The figures of one row, or of all together."""
    columns = (getattr(nodes, name) for name in nodes.__struct_fields__)
    return Fragmentation(*(int(each.sum() if row is None else each[row]) for each in columns))

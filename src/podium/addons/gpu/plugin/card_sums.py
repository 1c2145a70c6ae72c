"""GPU cards in a placement problem: what the cards of a node have together.

Which shares lie together on one card is left to GPUShare, which is asked when a placement is
checked; what the cards of a node have free in all bounds what its pods can have. Amounts are in the
units of the agents' dialect. Requests by percent and of MIG instances count nothing here.
"""

from collections.abc import Iterable
from typing import Final

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.plugin.pod_state import PodState
from podium.plugin import Ints

CORES: Final = "GPU cores"
MEMORY: Final = "GPU memory"
WHOLE: Final = "whole GPUs"


def count_cards(state: PodState, table: CardTable) -> dict[str, int]:
    """What a pod takes of the cards of its node at least; nothing if it asks for none."""
    cores, memory, whole = 0, 0, 0
    least_cores = int(table.cores[table.exists].min()) if table.exists.any() else 0
    least_memory = int(table.memory[table.exists].min()) if table.exists.any() else 0
    for container in _running(state.request):
        if container.wants_mig():
            continue
        if container.whole:
            whole += container.cards
            cores += container.cards * least_cores
            memory += container.cards * least_memory
            continue
        cores += container.cards * container.cores
        if container.memory_percent is None:
            memory += container.cards * container.memory
    found = {CORES: cores, MEMORY: memory, WHOLE: whole}
    return {name: amount for name, amount in found.items() if amount}


def count_free_cards(table: CardTable, rows: Ints) -> list[dict[str, int]]:
    """What is left on the cards of each node."""
    found = []
    for row in rows.tolist():
        usable = table.exists[row] & table.healthy[row] & ~table.cordoned[row]
        cores = (table.cores[row] - table.used_cores[row])[usable].clip(min=0)
        memory = (table.memory[row] - table.used_memory[row])[usable].clip(min=0)
        idle = usable & (table.used_cores[row] == 0) & (table.used_memory[row] == 0)
        found.append({CORES: int(cores.sum()), MEMORY: int(memory.sum()), WHOLE: int(idle.sum())})
    return found


def _running(request: PodRequest) -> Iterable[ContainerRequest]:
    return (each for each in request.containers if each is not None and each.cards > 0)

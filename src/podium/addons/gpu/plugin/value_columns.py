"""How much each node is worth by each policy, kept as columns: a row is worked out again when its
cards or what is held of them changed."""

import numpy as np

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.node_scores import node_values
from podium.addons.gpu.cards.requests import NodePolicy, PodRequest
from podium.plugin import Ints


class ValueColumns:
    def __init__(self, table: CardTable) -> None:
        self._table = table
        self._known: dict[NodePolicy, tuple[int, Ints]] = {}

    def read(self, request: PodRequest) -> Ints:
        """The values of all rows of the table; not to be changed."""
        table, policy = self._table, request.node_policy
        version, values = self._known.get(policy, (-1, None))
        if values is None or len(values) != table.rows:
            values = node_values(table, None, request)
        elif version != table.version:
            rows = np.flatnonzero(table.generations[: table.rows] > version)
            values[rows] = node_values(table, rows, request)
        else:
            return values
        self._known[policy] = table.version, values
        return values

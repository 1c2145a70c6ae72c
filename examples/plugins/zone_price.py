"""Prefer nodes in zones where they cost less.

Prices are arguments, in any unit; a zone that is not listed costs as much as the dearest one.
"""

import msgspec

from podium.plugin import NodeScorePlugin, NodeView, Pod


class ZonePrice(NodeScorePlugin):
    name = "ZonePrice"
    rescale = True  # the cheapest node that fits gets 100, the dearest 0

    class Args(msgspec.Struct):
        prices: dict[str, int] = {}

    args: Args

    def score_node(self, pod: Pod, node: NodeView) -> int:
        zone = node.labels.get("topology.kubernetes.io/zone", "")
        return -self.args.prices.get(zone, max(self.args.prices.values(), default=0))

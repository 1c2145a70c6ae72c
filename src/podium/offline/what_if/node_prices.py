"""What nodes cost, by their annotations and by what somebody says of them."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.offline.simulate.node_prices import parse_price, price_of
from podium.offline.what_if.node_selection import select_among


def prices_of(nodes: Sequence[Node], given: Iterable[str] = ()) -> Mapping[str, Fraction]:
    """Node -> its price, for those that have one. `given` are `NODES:PRICE`, nodes by name or by
    labels; a later one counts. Raises InputError."""
    found = {node.metadata.name: price_of(node) for node in nodes}
    for text in given:
        selected, colon, price = text.rpartition(":")
        if not colon or not selected:
            raise InputError(f"{text} is no price of nodes", remedy="pool=general:0.10")
        parsed = parse_price(price, f"{selected} has price")
        found |= dict.fromkeys(select_among(nodes, selected), parsed)
    return {name: price for name, price in found.items() if price is not None}

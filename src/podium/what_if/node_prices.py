"""What nodes cost: in any currency and for any time, as long as it is the same for all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from podium.api.errors import InputError
from podium.api.node import Node
from podium.what_if.node_selection import select_among

PRICE: Final = "podium/price"
"""The annotation, or label, that has a node's price."""
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def price_of(node: Node) -> Fraction | None:
    """None where no price is given. Raises InputError."""
    text = node.metadata.annotation(PRICE) or (node.metadata.labels or {}).get(PRICE, "")
    return _parse(text, f"node {node.metadata.name} has price") if text else None


def prices_of(nodes: Sequence[Node], given: Iterable[str] = ()) -> Mapping[str, Fraction]:
    """Node -> its price, for those that have one. `given` are `NODES:PRICE`, nodes by name or by
    labels; a later one counts. Raises InputError."""
    found = {node.metadata.name: price_of(node) for node in nodes}
    for text in given:
        selected, colon, price = text.rpartition(":")
        if not colon or not selected:
            raise InputError(f"{text} is no price of nodes", remedy="pool=general:0.10")
        parsed = _parse(price, f"{selected} has price")
        found |= dict.fromkeys(select_among(nodes, selected), parsed)
    return {name: price for name, price in found.items() if price is not None}


def _parse(text: str, what: str) -> Fraction:
    price = Fraction(text) if _DECIMAL.fullmatch(text) else Fraction(0)
    if price <= 0:
        raise InputError(f"{what} {text!r}", remedy="a number above 0")
    return price

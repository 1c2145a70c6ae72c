"""What a node costs: in any currency and for any time, as long as it is the same for all."""

import re
from fractions import Fraction
from typing import Final

from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node

PRICE: Final = "podium.dev/price"
"""The annotation, or label, that has a node's price."""
OLD_PRICE: Final = "podium/price"
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def price_of(node: Node) -> Fraction | None:
    """None where no price is given. Raises InputError."""
    labels = node.metadata.labels or {}
    names = (PRICE, OLD_PRICE)
    texts = [node.metadata.annotation(each) or labels.get(each, "") for each in names]
    text = next(filter(None, texts), "")
    return parse_price(text, f"node {node.metadata.name} has price") if text else None


def parse_price(text: str, what: str) -> Fraction:
    """`what` is said to have that price. Raises InputError."""
    price = Fraction(text) if _DECIMAL.fullmatch(text) else Fraction(0)
    if price <= 0:
        raise InputError(f"{what} {text!r}", remedy="a number above 0")
    return price

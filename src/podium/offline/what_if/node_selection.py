"""The nodes that somebody means, by name, by labels, or by zone; and what they cost.

Costs are those of annotations of nodes, unless somebody says otherwise of the nodes that a
selection names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from podium.golang.errors import InputError, closest, did_you_mean
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.labels import SelectorError
from podium.kubernetes.rules.nodes import zone_of
from podium.kubernetes.rules.selector_text import parse_label_selector
from podium.offline.simulate.node_prices import parse_price, price_of
from podium.scheduler.cluster.state import Cluster


def select_nodes(cluster: Cluster, text: str) -> list[str]:
    """Names in order; a text that is no name is a label selector. Raises InputError."""
    if cluster.nodes.is_present(text):
        return [text]
    return select_among(list(_nodes(cluster)), text)


def select_among(nodes: Sequence[Node], text: str) -> list[str]:
    """The same of nodes that are in no cluster."""
    names = sorted(node.metadata.name for node in nodes)
    if text in names:
        return [text]
    if not any(sign in text for sign in "=!,() "):
        raise InputError(
            f"no node named {text}", remedy=did_you_mean(closest(text, names)) or _list(names)
        )
    try:
        selector = parse_label_selector(text)
    except SelectorError as problem:
        raise InputError(f"{text!r} is no label selector: {problem}", remedy="pool=gpu") from None
    found = [n.metadata.name for n in nodes if selector.matches(n.metadata.labels)]
    if not found:
        raise InputError(f"no node has {text}", remedy=_list(names))
    return sorted(found)


def zones_of(cluster: Cluster) -> Mapping[str, list[str]]:
    """Zone -> its nodes, both in order; nodes without a zone are in none."""
    found: dict[str, list[str]] = {}
    for node in _nodes(cluster):
        zone = zone_of(node)
        if zone:
            found.setdefault(zone, []).append(node.metadata.name)
    return {zone: sorted(names) for zone, names in sorted(found.items())}


def nodes_in_zone(cluster: Cluster, zone: str) -> list[str]:
    """Raises InputError."""
    zones = zones_of(cluster)
    if zone not in zones:
        remedy = did_you_mean(closest(zone, list(zones))) or _list(list(zones))
        raise InputError(f"no node is in zone {zone}", remedy=remedy)
    return zones[zone]


def _nodes(cluster: Cluster) -> Iterator[Node]:
    for row in cluster.node_order().tolist():
        yield cluster.nodes.node(row)


def _list(names: list[str], most: int = 5) -> str:
    if not names:
        return "there are none"
    return f"there are {', '.join(names[:most])}" + (", ..." if len(names) > most else "")


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

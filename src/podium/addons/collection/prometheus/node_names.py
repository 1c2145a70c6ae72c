"""Which node a series is about.

Whoever sets up the scraping decides which label has a node's name: relabelling in charts writes
`kubernetes_node` or `node`, node-exporter's own `node_uname_info` has `nodename`, and without any
relabelling there is only `instance`, the address that was scraped. The labels are tried in order,
and a port at the end is cut off. An `instance` that is an IP address says nothing about a node; the
series `node_uname_info` of the same instance does, if it is there.

Contract: a node that several series claim to be about has no value at all, since nobody can tell
which of them is meant; such nodes are told apart from those that no series is about.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.addons.collection.prometheus.query import Sample

NODE_LABELS: Final = ("kubernetes_node", "node", "nodename", "instance")
UNAME: Final = "node_uname_info"
"""A series of every node-exporter: the label `nodename` is what the machine calls itself."""
_INSTANCE: Final = "instance"
_PORT: Final = re.compile(r":[0-9]{1,5}$")
_BRACKETED: Final = re.compile(r"^\[(.*)\](?::[0-9]{1,5})?$")


class NodeValues(NamedTuple):
    values: dict[str, float]
    ambiguous: tuple[str, ...]
    """Nodes that more than one series is about."""


def values_by_node(
    samples: Iterable[Sample], labels: Sequence[str], known: Mapping[str, str] | None = None
) -> NodeValues:
    """`known` are names of nodes by instance, for instances that are addresses."""
    values: dict[str, float] = {}
    ambiguous: dict[str, None] = {}
    for sample in samples:
        name = node_name(sample.labels, labels)
        if known and is_address(name):
            name = known.get(sample.labels.get(_INSTANCE, ""), name)
        if not name:
            continue
        if name in values:
            ambiguous[name] = None
        values[name] = sample.value
    for name in ambiguous:
        del values[name]
    return NodeValues(values, tuple(ambiguous))


def node_name(labels: Mapping[str, str], wanted: Sequence[str]) -> str:
    """The host that the first of the wanted labels names; empty if there is none.

    >>> node_name({"instance": "node-1:9100", "job": "node"}, NODE_LABELS)
    'node-1'
    """
    return next((without_port(labels[label]) for label in wanted if labels.get(label)), "")


def without_port(host: str) -> str:
    bracketed = _BRACKETED.match(host)
    if bracketed is not None:
        return bracketed[1]
    if host.count(":") > 1:  # an IPv6 address without brackets has no port
        return host
    return _PORT.sub("", host)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def names_by_instance(samples: Iterable[Sample]) -> dict[str, str]:
    """What `node_uname_info` says: the name of the machine behind each instance."""
    return {
        sample.labels[_INSTANCE]: sample.labels["nodename"]
        for sample in samples
        if sample.labels.get(_INSTANCE) and sample.labels.get("nodename")
    }

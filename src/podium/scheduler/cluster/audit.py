"""Counting the cluster again from scratch, to see whether the deltas lied.

Every column of the table is kept by small changes. Here the same numbers are worked out anew from
the node objects and from the pods that are on nodes, and every difference becomes a sentence. It
looks into the private parts of its package, and only looks: nothing is changed, not even the moment
at which the order of a snapshot is settled.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from podium.kubernetes.rules.host_ports import HostPort
from podium.kubernetes.rules.pod_affinity import PodAffinityTerms
from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.nodes import ABSENT
from podium.scheduler.cluster.pod_classes import CarriedTerm, ClassKey, PodCounter
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import ClaimUsers


class Audit:
    """Looks at one cluster again and again; what it worked out about a pod it keeps."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._shapes: dict[str, tuple[PodInfo, PodShape]] = {}
        self._shared_ports: set[tuple[int, HostPort]] = set()

    def find_violations(self) -> Iterator[str]:
        """What is wrong, one sentence each."""
        yield from _rows(self._cluster)
        yield from _columns(self._cluster)
        yield from _order(self._cluster)
        yield from self._placements()
        yield from self._usage()
        yield from self._ports()
        yield from self._classes()
        yield from _nominations(self._cluster)

    def _shape(self, info: PodInfo) -> PodShape:
        """A pod's shape made from its own object, shared with no other pod."""
        held = self._shapes.get(info.uid)
        if held is None or held[0] is not info:
            held = self._shapes[info.uid] = (info, PodShape(info.pod, self._cluster.infos.rules))
        return held[1]

    # pods and what they take

    def _placements(self) -> Iterator[str]:
        cluster = self._cluster
        placed: dict[int, set[str]] = {}
        for uid, held in cluster.placements.items():
            placed.setdefault(held.row, set()).add(uid)
            if held.info.uid != uid:
                yield f"pod {held.info.key} is placed under the UID {uid}"
            if held.info.terminating != (held.info.pod.metadata.deletion_timestamp is not None):
                yield f"pod {held.info.key} does not know whether it is terminating"
        for row in range(cluster.nodes.size):
            listed = [info.uid for info in cluster.usage.pods(row)]
            if sorted(listed) != sorted(placed.get(row, ())):
                yield f"row {row} lists pods {listed}, placed there are {placed.get(row, set())}"
            if listed and not cluster.nodes.names[row]:
                yield f"row {row} holds pods and has no name"
        for uid in self._shapes.keys() - cluster.placements.keys():
            del self._shapes[uid]

    def _usage(self) -> Iterator[str]:
        usage, resources = self._cluster.usage, self._cluster.nodes.resources
        requested = np.zeros_like(usage.requested)
        nonzero = np.zeros_like(usage.nonzero)
        pod_count = np.zeros_like(usage.pod_count)
        claims: Counter[str] = Counter()
        claim_users = ClaimUsers()
        for held in self._cluster.placements.values():
            shape = self._shape(held.info)
            with np.errstate(over="ignore"):
                for name, amount in shape.accounted.items():
                    if amount and (index := resources.find(name)) >= 0:
                        requested[index, held.row] += amount
                nonzero[:, held.row] += shape.accounted_nonzero
            pod_count[held.row] += 1
            claims.update(shape.claim_names)
            claim_users.count(held.row, shape.node_allocatable_claims, held.info.uid, 1)
        for name, kept, counted in zip(resources, usage.requested, requested, strict=False):
            yield from _difference(f"requested {name}", kept, counted)
        for name, kept, counted in zip(("cpu", "memory"), usage.nonzero, nonzero, strict=True):
            yield from _difference(f"non-zero requested {name}", kept, counted)
        yield from _difference("the number of pods", usage.pod_count, pod_count)
        if usage.claims != claims:
            yield f"claims in use are {usage.claims}, counted: {dict(claims)}"
        if usage.claim_users.by_row != claim_users.by_row:
            yield f"users of claims are {usage.claim_users.by_row}, not {claim_users.by_row}"

    def _ports(self) -> Iterator[str]:
        """Ports are a set: one that two pods share is freed when the first of them goes."""
        usage = self._cluster.usage
        wanted = {
            row: Counter(port for info in usage.pods(row) for port in set(self._shape(info).ports))
            for row in range(self._cluster.nodes.size)
        }
        self._shared_ports = {(r, p) for r, p in self._shared_ports if r in wanted and wanted[r][p]}
        for row, ports in wanted.items():
            used = usage.ports.used_ports(row)
            self._shared_ports |= {(row, port) for port, count in ports.items() if count > 1}
            missing = {p for p in ports.keys() - used if (row, p) not in self._shared_ports}
            if missing or used - ports.keys():
                yield f"row {row} has {used} as ports in use, its pods have {set(ports)}"

    # pods of one class

    def _classes(self) -> Iterator[str]:
        classes = self._cluster.classes
        counted: dict[ClassKey, Counter[int]] = {}
        carried: dict[CarriedTerm, Counter[int]] = {}
        for held in self._cluster.placements.values():
            shape, terminating = self._shape(held.info), held.info.terminating
            labels = tuple(sorted(shape.labels.items()))
            key = (shape.namespace, labels, shape.affinity, terminating)
            counted.setdefault(key, Counter())[held.row] += 1
            for term in _carried_by(shape.affinity):
                carried.setdefault(term, Counter())[held.row] += 1
        kept = {key: found.rows for key, found in classes._classes.items() if found.rows}
        if kept != counted:
            yield f"pod classes are {kept}, counted: {counted}"
        for query, counter in classes._counters.items():
            rows = Counter(
                held.row
                for held in self._cluster.placements.values()
                for shape in (self._shape(held.info),)
                if query.matches(shape.namespace, shape.labels, held.info.terminating)
            )
            yield from self._counter(f"pods that match {query}", counter, rows)
        known = {t: c for by_term in classes._carried.values() for t, c in by_term.items()}
        for term in carried.keys() - known.keys():
            yield f"nobody counts the pods that carry {term}"
        for term, counter in known.items():
            rows = carried.get(term, Counter())
            yield from self._counter(f"pods that carry {term}", counter, rows)

    def _counter(self, what: str, counter: PodCounter, counted: Counter[int]) -> Iterator[str]:
        if counter.total != counted.total():
            yield f"{what}: {counter.total} in all, counted: {counted.total()}"
        if counter.counts is not None:
            expected = np.zeros_like(counter.counts)
            for row, count in counted.items():
                expected[row] = count
            yield from _difference(what, counter.counts, expected)


def _carried_by(terms: PodAffinityTerms) -> Iterator[CarriedTerm]:
    yield from (CarriedTerm("required_affinity", 0, term) for term in terms.required_affinity)
    yield from (CarriedTerm("required_anti", 0, term) for term in terms.required_anti)
    yield from (CarriedTerm("preferred_affinity", w, term) for w, term in terms.preferred_affinity)
    yield from (CarriedTerm("preferred_anti", w, term) for w, term in terms.preferred_anti)


def _difference(what: str, kept: Ints, counted: Ints) -> Iterator[str]:
    for row in np.flatnonzero(kept != counted):
        yield f"{what} in row {row} is {kept[row]}, counted: {counted[row]}"


# nodes


def _rows(cluster: Cluster) -> Iterator[str]:
    nodes = cluster.nodes
    if {name: row for row, name in enumerate(nodes.names) if name} != nodes._row_of:
        yield f"rows are named {nodes.names[: nodes.size]}, known as {nodes._row_of}"
    if sorted(nodes._free) != [row for row in range(nodes.size) if not nodes.names[row]]:
        yield f"free rows are {nodes._free}, but names are {nodes.names[: nodes.size]}"
    present = np.flatnonzero(nodes.present).tolist()
    if present != [row for row, node in enumerate(nodes.objects) if node is not None]:
        yield f"present rows {present} are not those with a node object"
    if nodes.present_count != len(present):
        yield f"{nodes.present_count} nodes are said to be present, counted: {len(present)}"
    for row in present:
        if nodes.node(row).metadata.name != nodes.names[row]:
            yield f"row {row} of {nodes.names[row]} shows {nodes.node(row).metadata.name}"
    if nodes.unschedulable_count != int(nodes.unschedulable.sum()):
        yield f"the number of unschedulable nodes is not {nodes.unschedulable_count}"
    if nodes.tainted_count != int((nodes.taint_set != 0).sum()):
        yield f"the number of tainted nodes is not {nodes.tainted_count}"


def _columns(cluster: Cluster) -> Iterator[str]:
    """What the columns say of a node against its object; rows without one hold nothing."""
    nodes = cluster.nodes
    keys = nodes.labels.keys()
    for row, node in enumerate(nodes.objects[: nodes.size]):
        amounts = allocatable_vector(node.status.allocatable) if node else {}
        taints = (node.spec.taints or ()) if node else ()
        labels = (node.metadata.labels or {}) if node else {}
        expected: dict[str, object] = {
            "allowed pods": amounts.pop("pods", 0),
            "allocatable": {name: amount for name, amount in amounts.items() if amount},
            "unschedulable": bool(node and node.spec.unschedulable),
            "taints": tuple((taint.key, taint.value, taint.effect) for taint in taints),
            "features": tuple(node.status.declared_features or ()) if node else (),
            "labels": {key: labels.get(key) for key in keys},
        }
        column = dict(zip(nodes.resources, nodes.allocatable[:, row].tolist(), strict=False))
        kept: dict[str, object] = {
            "allowed pods": int(nodes.allowed_pods[row]),
            "allocatable": {name: amount for name, amount in column.items() if amount},
            "unschedulable": bool(nodes.unschedulable[row]),
            "taints": nodes.taint_sets[int(nodes.taint_set[row])],
            "features": nodes.feature_sets[int(nodes.feature_set[row])],
            "labels": {key: _label(cluster, key, row) for key in keys},
        }
        for what, value in kept.items():
            if value != expected[what]:
                yield f"{what} of row {row} ({nodes.names[row]}): {value}, not {expected[what]}"


def _label(cluster: Cluster, key: str, row: int) -> str | None:
    column = cluster.nodes.labels.column(key)
    code = int(column.codes[row])
    return None if code == ABSENT else column.values[code]


def _order(cluster: Cluster) -> Iterator[str]:
    order, nodes = cluster._order, cluster.nodes
    present = {nodes.names[row] for row in np.flatnonzero(nodes.present)}
    in_zones = [name for names in order._zones.values() for name in names]
    yield from _same_names("the tree of zones", in_zones, present)
    yield from _same_names("the order of nodes", order._zone_of, present)
    if not order._stale:
        yield from _same_names("the snapshot's list", order._listed, present)


def _same_names(what: str, listed: Iterable[str], present: set[str]) -> Iterator[str]:
    names = sorted(listed)
    if names != sorted(present):
        yield f"{what} has {names}, present are {sorted(present)}"


def _nominations(cluster: Cluster) -> Iterator[str]:
    nominator = cluster.nominator
    by_node = {uid: name for name, pods in nominator._by_node.items() for uid in pods}
    if by_node != nominator._node_of:
        yield f"nominations by node are {by_node}, by pod {nominator._node_of}"
    for name, pods in nominator._by_node.items():
        if not pods:
            yield f"an empty list of nominations is kept for node {name}"
        for uid, info in pods.items():
            if info.uid != uid:
                yield f"pod {info.key} is nominated under the UID {uid}"

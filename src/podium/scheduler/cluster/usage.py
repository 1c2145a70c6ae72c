"""The moving half of the cluster table: what pods take on each node, ports and claims included.

Adding a pod is a delta on one row and removing it the opposite delta. A `fork` is a private copy
for "what if" questions (nominated pods, preemption): plugins read usage through their cycle, so
the same filter answers for the real cluster and for the imagined one.

Host ports in use, as one column of booleans per (protocol, port, ip). A node's used ports are a
set, not a count: taking away one of two pods that share a port frees it (upstream: HostPortInfo is
a plain set). Wildcard rules live in `busy`.

Which pods of a node have part of its own resources by a claim. A claim on devices that stand for
cpu or memory of their node (DRANodeAllocatableResources) is for one pod: what it takes is counted
with the pod, so a second one would not be counted. Forks are made often and rarely differ, so what
is known of a row is replaced and never changed.

A copy of usage to try things on, kept beside the original instead of made anew. A trial changes a
few rows; copying all of them for it costs many times the trial. A shadow is copied once and then
follows: rows that changed in the original since are made equal again before the next use. What a
trial changes on it, the trial puts back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from podium.kubernetes.rules.host_ports import ANY_IP, HostPort
from podium.scheduler.cluster.growth import ChangeLog, Ints, Mask, Rows, count_of, wider
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.pod_info import PodInfo, PodShape


class Usage:
    """Requested resources, pod counts, ports and pod lists per row."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self.capacity = 0
        self._growth = -1
        self.requested: Ints = np.zeros((len(nodes.resources), 0), dtype=np.int64)
        self.nonzero: Ints = np.zeros((2, 0), dtype=np.int64)
        self.pod_count: Ints = np.zeros(0, dtype=np.int64)
        self.changed: Ints = np.zeros(0, dtype=np.int64)
        self.log = ChangeLog()
        self.ports = PortColumns()
        self.claims: dict[str, int] = {}
        self.claim_users = ClaimUsers()
        self._pods: list[list[PodInfo]] = []
        self._own: set[int] | None = None
        self._strayed: set[int] = set()
        self._with_unoffered: set[int] = set()
        """Rows where a pod asks, or once asked, for a resource that has no row in the tables."""

    @property
    def generation(self) -> int:
        """How many pods were added or removed so far."""
        return self.log.generation

    def pods(self, row: int) -> Sequence[PodInfo]:
        return self._pods[row]

    def strayed_rows(self) -> list[int]:
        """Rows of a fork whose pods were moved since they last equalled the cluster's."""
        return sorted(self._strayed)

    def requested_of(self, resource: int) -> Ints:
        """The column of a resource, which may be younger than this table."""
        self.grow()
        column: Ints = self.requested[resource]
        return column

    def add(self, row: int, info: PodInfo) -> None:
        self._apply(row, info, 1)
        self.ports.add(row, info.shape.ports)
        self._own_pods(row).append(info)

    def suppose_alike(self, rows: Ints, counts: Ints, info: PodInfo) -> None:
        """So many pods like one on each of some rows, in sums and ports and not in the lists of
        pods: for forks that only filters on sums and ports are asked about."""
        self.grow()
        requests = self._requests_of(info.shape)
        for resource, amount in requests:
            self.requested[resource, rows] += counts * amount
        for line, amount in enumerate(info.shape.accounted_nonzero):
            self.nonzero[line, rows] += counts * amount
        self.pod_count[rows] += counts
        if info.shape.ports:
            for row in rows[counts > 0].tolist():
                self.ports.add(row, info.shape.ports)

    def remove(self, row: int, info: PodInfo) -> None:
        """Take a pod out by UID; the last pod of the list takes its place."""
        self.grow()
        pods = self._own_pods(row)
        index = next((i for i, pod in enumerate(pods) if pod.uid == info.uid), None)
        if index is None:
            raise LookupError(f"pod {info.key} is not on row {row}")
        found = pods[index]
        pods[index] = pods[-1]
        pods.pop()
        self._apply(row, found, -1)
        self.ports.remove(row, found.shape.ports)

    def replace(self, row: int, old: PodInfo, new: PodInfo) -> None:
        """Put a new object in place of one of the same shape: last in the list, sums untouched.

        Its ports are taken again, as a neighbour with the same port may have freed them. The row
        counts as changed: the new object may tell, say, when the pod started.
        """
        pods = self._own_pods(row)
        index = next(i for i, pod in enumerate(pods) if pod.uid == old.uid)
        pods[index] = pods[-1]
        pods[-1] = new
        self.ports.add(row, new.shape.ports)
        self.changed[row] = self.log.note(row)

    def arrange(self, row: int, pods: Sequence[PodInfo], ports: Iterable[HostPort]) -> None:
        """Put the pods of a row, which stay the same, into an order they had, with the ports that
        counted as used then."""
        self._own_pods(row)[:] = pods
        self.ports.clear(row)
        self.ports.add(row, ports)
        self.changed[row] = self.log.note(row)

    def fork(self) -> "Usage":
        self.grow()
        twin = Usage(self._nodes)
        twin.capacity = self.capacity
        twin._growth = self._growth
        twin.requested = self.requested.copy()
        twin.nonzero = self.nonzero.copy()
        twin.pod_count = self.pod_count.copy()
        twin.changed = self.changed.copy()
        twin.log = ChangeLog(self.log.generation)
        twin.ports = self.ports.fork()
        twin.claims = dict(self.claims)
        twin.claim_users = self.claim_users.fork()
        twin._pods = list(self._pods)
        twin._own = set()
        twin._strayed = set(self._strayed)
        twin._with_unoffered = set(self._with_unoffered)
        return twin

    def reset(self, row: int, source: "Usage") -> None:
        """Make one row equal to that row of the usage this one was forked from."""
        source.grow()
        self.grow()
        self.requested[:, row] = source.requested[:, row]
        self.nonzero[:, row] = source.nonzero[:, row]
        self.pod_count[row] = source.pod_count[row]
        self.ports.copy_row(row, source.ports)
        self.claims = dict(source.claims)
        self.claim_users.copy_row(row, source.claim_users)
        self._pods[row] = source._pods[row]
        self._with_unoffered |= source._with_unoffered & {row}
        if self._own is not None:
            self._own.discard(row)
            self._stray_like(source, (row,))

    def reset_rows(self, rows: Sequence[int], source: "Usage") -> None:
        """`reset` for several rows at once."""
        source.grow()
        self.grow()
        some = np.array(rows, dtype=np.intp)
        self.requested[:, some] = source.requested[:, some]
        self.nonzero[:, some] = source.nonzero[:, some]
        self.pod_count[some] = source.pod_count[some]
        self.claims = dict(source.claims)
        for row in rows:
            self.ports.copy_row(row, source.ports)
            self.claim_users.copy_row(row, source.claim_users)
            self._pods[row] = source._pods[row]
        self._with_unoffered |= source._with_unoffered.intersection(rows)
        if self._own is not None:
            self._own.difference_update(rows)
            self._stray_like(source, rows)

    def _stray_like(self, source: "Usage", rows: Sequence[int]) -> None:
        self._strayed.difference_update(rows)
        self._strayed.update(source._strayed.intersection(rows))

    def _apply(self, row: int, info: PodInfo, sign: int) -> None:
        shape = info.shape
        self.grow()
        requests = shape.table_requests
        if requests is None:
            requests = self._requests_of(shape)
            self.grow()
            if shape.table_requests is None:
                self._with_unoffered.add(row)
        if shape.is_immense and np.geterr()["over"] != "ignore":  # upstream: int64 sums wrap
            with np.errstate(over="ignore"):
                self._apply(row, info, sign)
            return
        for resource, amount in requests:
            self.requested[resource, row] += sign * amount
        cpu_milli, memory_bytes = shape.accounted_nonzero
        self.nonzero[0, row] += sign * cpu_milli
        self.nonzero[1, row] += sign * memory_bytes
        self.pod_count[row] += sign
        for claim in shape.claim_names:
            left = self.claims.get(claim, 0) + sign
            if left > 0:
                self.claims[claim] = left
            else:
                self.claims.pop(claim, None)
        if shape.node_allocatable_claims:
            self.claim_users.count(row, shape.node_allocatable_claims, info.uid, sign)
        self.changed[row] = self.log.note(row)

    def _requests_of(self, shape: PodShape) -> tuple[tuple[int, int], ...]:
        """Rows of the tables and amounts; kept once all resources of a shape have a row."""
        if shape.table_requests is not None:
            return shape.table_requests
        asked = {name: amount for name, amount in shape.accounted.items() if amount}
        rows = self._nodes.requested_resource_ids(asked)
        found = tuple(pair for pair in zip(rows, asked.values(), strict=True) if pair[0] >= 0)
        if len(found) == len(asked):
            shape.table_requests = found
        return found

    def grow(self) -> None:
        """Catch up with resources and rows that the node table has gained."""
        if self._growth != self._nodes.growth:
            self._grow()

    def _grow(self) -> None:
        self._growth = self._nodes.growth
        resources = self._nodes.allocatable.shape[0]
        if self.requested.shape[0] < resources:
            grown = np.zeros((resources, self.capacity), dtype=np.int64)
            known = self.requested.shape[0]
            grown[:known] = self.requested
            self.requested = grown
            self._count_offered(known)
        if self.capacity < self._nodes.capacity:
            self.capacity = self._nodes.capacity
            self.requested = wider(self.requested, self.capacity)
            self.nonzero = wider(self.nonzero, self.capacity)
            self.pod_count = wider(self.pod_count, self.capacity)
            self.changed = wider(self.changed, self.capacity)
            self.ports.grow(self.capacity)
            self._pods.extend([] for _ in range(self.capacity - len(self._pods)))

    def _count_offered(self, first: int) -> None:
        """Resources from a row on have just got it: what do pods that are there have of them?"""
        find = self._nodes.resources.find
        for row in tuple(self._with_unoffered):
            complete = True
            for info in self._pods[row]:
                for name, amount in info.shape.accounted.items():
                    index = find(name)
                    complete &= index >= 0
                    if index >= first:
                        with np.errstate(over="ignore"):
                            self.requested[index, row] += amount
            if complete:
                self._with_unoffered.discard(row)

    def _own_pods(self, row: int) -> list[PodInfo]:
        if self._own is not None and row not in self._own:
            self._own.add(row)
            self._strayed.add(row)
            self._pods[row] = list(self._pods[row])
        return self._pods[row]


class PortColumns:
    def __init__(self, capacity: int = 0) -> None:
        self._columns: dict[tuple[str, int], dict[str, Mask]] = {}
        self._capacity = capacity
        self._shared = False

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for by_ip in self._columns.values():
            for ip, column in by_ip.items():
                by_ip[ip] = wider(column, capacity)

    def add(self, row: int, ports: Iterable[HostPort]) -> None:
        for ip, protocol, port in ports:
            by_ip = self._own().setdefault((protocol, port), {})
            if ip not in by_ip:
                by_ip[ip] = np.zeros(self._capacity, dtype=np.bool_)
            by_ip[ip][row] = True

    def remove(self, row: int, ports: Iterable[HostPort]) -> None:
        for ip, protocol, port in ports:
            column = self._own().get((protocol, port), {}).get(ip)
            if column is not None:
                column[row] = False

    def clear(self, row: int) -> None:
        for by_ip in self._own().values():
            for column in by_ip.values():
                column[row] = False

    def busy(self, wanted: Iterable[HostPort], rows: Rows) -> Mask | None:
        """Rows where some wanted port conflicts; None when no row does."""
        mask: Mask | None = None
        for ip, protocol, port in dict.fromkeys(wanted):
            by_ip = self._columns.get((protocol, port))
            if by_ip is None:
                continue
            clashing = (
                list(by_ip.values())
                if ip == ANY_IP
                else [by_ip[used] for used in (ip, ANY_IP) if used in by_ip]
            )
            for column in clashing:
                if mask is None:
                    mask = np.zeros(count_of(rows), dtype=np.bool_)
                mask |= column[rows]
        return mask

    def used_ports(self, row: int) -> set[HostPort]:
        return {
            HostPort(ip, protocol, port)
            for (protocol, port), by_ip in self._columns.items()
            for ip, column in by_ip.items()
            if column[row]
        }

    def copy_row(self, row: int, source: "PortColumns") -> None:
        """Make a row equal to that row of another set of columns."""
        self.clear(row)
        self.add(row, source.used_ports(row))

    def fork(self) -> "PortColumns":
        """A copy that shares its columns until it is written to."""
        twin = PortColumns(self._capacity)
        twin._columns = self._columns
        twin._shared = True
        return twin

    def _own(self) -> dict[tuple[str, int], dict[str, Mask]]:
        if self._shared:
            self._columns = {
                key: {ip: column.copy() for ip, column in by_ip.items()}
                for key, by_ip in self._columns.items()
            }
            self._shared = False
        return self._columns


Users = Mapping[str, frozenset[str]]
"""Claim (`namespace/name`) -> UIDs of the pods that use it."""

_NOBODY: frozenset[str] = frozenset()


class ClaimUsers:
    def __init__(self) -> None:
        self.by_row: dict[int, Users] = {}

    def count(self, row: int, claims: Iterable[str], uid: str, sign: int) -> None:
        """A pod with these claims comes to a row (1) or leaves it (-1)."""
        users = dict(self.by_row.get(row, {}))
        for claim in claims:
            before = users.get(claim, _NOBODY)
            after = before | {uid} if sign > 0 else before - {uid}
            if after:
                users[claim] = after
            else:
                users.pop(claim, None)
        if users:
            self.by_row[row] = users
        else:
            self.by_row.pop(row, None)

    def of(self, claim: str) -> Iterator[tuple[int, frozenset[str]]]:
        """(row, pods there that use the claim)."""
        for row, users in self.by_row.items():
            if claim in users:
                yield row, users[claim]

    def fork(self) -> "ClaimUsers":
        twin = ClaimUsers()
        twin.by_row = dict(self.by_row)
        return twin

    def copy_row(self, row: int, source: "ClaimUsers") -> None:
        if row in source.by_row:
            self.by_row[row] = source.by_row[row]
        else:
            self.by_row.pop(row, None)


class Shadow:
    def __init__(self, original: Usage) -> None:
        self._original = original
        self._copy = original.fork()
        self._seen = original.log.generation

    @property
    def usage(self) -> Usage:
        """The copy, as it was when it last followed."""
        return self._copy

    def follow(self) -> set[int] | None:
        """Make the copy equal to the original; returns the rows that were not, None for all."""
        log = self._original.log
        changed = log.since(self._seen)
        self._seen = log.generation
        if changed is None:
            self._copy = self._original.fork()
            return None
        rows = set(changed)
        if rows:
            self._copy.reset_rows(sorted(rows), self._original)
        else:
            self._copy.grow()
        return rows

"""Host ports in use, as one column of booleans per (protocol, port, ip).

A node's used ports are a set, not a count: taking away one of two pods that share a port frees it
(upstream: HostPortInfo is a plain set). Wildcard rules live in `busy`.
"""

from collections.abc import Iterable

import numpy as np

from podium.kubernetes.rules.host_ports import ANY_IP, HostPort
from podium.scheduler.cluster.growth import Mask, Rows, count_of, wider


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

    def used(self, row: int) -> set[HostPort]:
        return {
            HostPort(ip, protocol, port)
            for (protocol, port), by_ip in self._columns.items()
            for ip, column in by_ip.items()
            if column[row]
        }

    def copy_row(self, row: int, source: "PortColumns") -> None:
        """Make a row equal to that row of another set of columns."""
        self.clear(row)
        self.add(row, source.used(row))

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

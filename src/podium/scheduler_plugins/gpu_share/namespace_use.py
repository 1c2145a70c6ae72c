"""What the pods of each namespace hold of cards, by row: what quotas count."""

from collections.abc import Iterator, Mapping

from podium.gpu.allocations import CardUse


class NamespaceUse:
    def __init__(self) -> None:
        self._rows: dict[str, dict[int, tuple[int, int]]] = {}

    def add(self, namespace: str, row: int, uses: Mapping[int, CardUse], sign: int) -> None:
        rows = self._rows.setdefault(namespace, {})
        cores, memory = rows.get(row, (0, 0))
        for use in uses.values():
            cores += sign * use.cores
            memory += sign * use.memory
        if cores or memory:
            rows[row] = cores, memory
        else:
            rows.pop(row, None)
            if not rows:
                del self._rows[namespace]

    def total(self, namespace: str) -> tuple[int, int]:
        """Cores and memory on all nodes."""
        taken = self._rows.get(namespace, {}).values()
        return sum(cores for cores, _ in taken), sum(memory for _, memory in taken)

    def cores_by_row(self, namespace: str) -> Iterator[tuple[int, int]]:
        for row, (cores, _) in self._rows.get(namespace, {}).items():
            yield row, cores

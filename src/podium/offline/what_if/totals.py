"""How full a cluster is as a whole, before changes and after them; nodes may come and go."""

from collections.abc import Mapping

from podium.golang.document_structs import DocumentPart, Unit
from podium.kubernetes.rules.requests import CPU, MEMORY, PODS, unit_of
from podium.scheduler.cluster.load import Load

_ALWAYS = (CPU, MEMORY, PODS)


class Total(DocumentPart, frozen=True):
    """One resource of all nodes together, or of one."""

    unit: Unit
    """What the numbers count."""
    allocatable_before: int
    """What there was."""
    requested_before: int
    """What pods had of it."""
    allocatable_after: int
    """What there is."""
    requested_after: int
    """What pods have of it."""


def total_use(before: Load, after: Load) -> Mapping[str, Total]:
    """Resource -> its sums over all nodes; those that nobody requests are left out."""
    names = {*before.resources, *after.resources}
    found = {}
    for name in (*_ALWAYS, *sorted(names - {*_ALWAYS})):
        total = Total(unit_of(name), *_sums(before, name), *_sums(after, name))
        if name in _ALWAYS or total.requested_before or total.requested_after:
            found[name] = total
    return found


def node_use(before: Load, after: Load) -> Mapping[str, Mapping[str, Total]]:
    """Node -> resource -> what it has and gives before and after; 0 where the node is not there."""
    resources = total_use(before, after)
    columns = [{name: at for at, name in enumerate(load.nodes)} for load in (before, after)]
    return {
        node: {
            resource: Total(
                unit_of(resource),
                *_of_node(before, resource, columns[0].get(node)),
                *_of_node(after, resource, columns[1].get(node)),
            )
            for resource in resources
        }
        for node in sorted({*before.nodes, *after.nodes})
    }


def _sums(load: Load, resource: str) -> tuple[int, int]:
    if resource not in load.resources:
        return 0, 0
    row = load.resources.index(resource)
    return int(load.allocatable[row].sum()), int(load.requested[row].sum())


def _of_node(load: Load, resource: str, column: int | None) -> tuple[int, int]:
    if column is None or resource not in load.resources:
        return 0, 0
    row = load.resources.index(resource)
    return int(load.allocatable[row, column]), int(load.requested[row, column])

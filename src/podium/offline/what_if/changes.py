"""Changes of a cluster that somebody considers, as data, and how they are written.

Nodes are named, or meant by labels: `worker-3`, `pool=gpu`, `pool=gpu,zone!=a`. Each change says
what it does and changes nothing by itself (`changed_cluster.py`).
"""

from dataclasses import dataclass
from typing import Final, assert_never

from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node, Taint
from podium.offline.simulate.control_plane import MAX_PODS

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT_REMEDY: Final = "NODE:key=value:NoSchedule, and NODE:key:NoSchedule- to take it off"


@dataclass(frozen=True, slots=True)
class Drain:
    """Close nodes and evict their pods, as far as disruption budgets let them go."""

    nodes: str


@dataclass(frozen=True, slots=True)
class Cordon:
    """Close nodes to new pods, or open them again."""

    nodes: str
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Remove:
    """Drain nodes and take away those that are empty then."""

    nodes: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Nodes are gone at once, with all that runs on them."""

    nodes: str


@dataclass(frozen=True, slots=True)
class ZoneOutage:
    """All nodes of a zone are gone at once."""

    zone: str


@dataclass(frozen=True, slots=True)
class AddNodes:
    """New nodes, or nodes as changed."""

    nodes: tuple[Node, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class SetTaint:
    """Taint nodes, or take a taint off them; NoExecute drives out who does not tolerate it."""

    nodes: str
    taint: Taint
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Another number of pods of a workload: `deploy/web`, `shop/sts/db`."""

    workload: str
    replicas: int


Change = Drain | Cordon | Remove | Fail | ZoneOutage | AddNodes | SetTaint | Scale


def describe_change(change: Change) -> str:
    """A change as the command line has it."""
    match change:
        case Drain():
            return f"drain {change.nodes}"
        case Cordon():
            return f"{'cordon' if change.closed else 'uncordon'} {change.nodes}"
        case Remove():
            return f"remove {change.nodes}"
        case Fail():
            return f"fail {change.nodes}"
        case ZoneOutage():
            return f"zone-outage {change.zone}"
        case AddNodes():
            return f"add {change.source or ', '.join(node.name for node in change.nodes)}"
        case SetTaint():
            taint = change.taint
            value = f"={taint.value}" if taint.value else ""
            end = "-" if change.removed else ""
            return f"taint {change.nodes}:{taint.key}{value}:{taint.effect}{end}"
        case Scale():
            return f"scale {change.workload}={change.replicas}"
    assert_never(change)


def parse_taint(text: str) -> SetTaint:
    """`NODE:key=value:Effect`, with a hyphen at the end to take it off. Raises InputError."""
    parts = text.removesuffix("-").split(":")
    if len(parts) != 3 or not all(parts) or parts[2] not in _EFFECTS:
        raise InputError(f"--taint {text} is no taint of a node", remedy=_TAINT_REMEDY)
    key, _, value = parts[1].partition("=")
    return SetTaint(
        parts[0], Taint(key=key, value=value, effect=parts[2]), removed=text.endswith("-")
    )


def parse_scale(text: str) -> Scale:
    """`deploy/web=50`. Raises InputError."""
    workload, equals, number = text.rpartition("=")
    if not equals or "/" not in workload or not number.isdecimal():
        raise InputError(f"--scale {text} is no number of pods", remedy="deploy/web=50")
    if len(number) > len(str(MAX_PODS)) or int(number) > MAX_PODS:
        raise InputError(f"--scale {text} asks for more than {MAX_PODS:,} pods")
    return Scale(workload, int(number))

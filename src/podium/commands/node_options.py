"""Options that say which simulated nodes there are, and how they become nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.addons.gpu.dialects import DIALECTS
from podium.golang.errors import InputError
from podium.simulated.names import DEFAULT_GPU_DIALECT

if TYPE_CHECKING:
    from podium.golang.json_values import JsonObject
    from podium.simulated.cluster import SimulatedClusterOptions
    from podium.simulated.pods.stages import Stage


Count = Annotated[
    int | None,
    Parameter(
        name="COUNT",
        show_default=False,
        help="How many nodes to simulate. [default: 3, or one for each template]",
    ),
]
Template = Annotated[
    list[Path] | None,
    Parameter(
        negative="",
        metavar="FILE",
        help="Node manifests to make nodes from, in turn. May be repeated.",
    ),
]
Cpu = Annotated[
    str, Parameter(show_default=False, help="CPUs of a node without a template. [default: 8]")
]
Memory = Annotated[
    str, Parameter(show_default=False, help="Memory of a node without a template. [default: 32Gi]")
]
MostPods = Annotated[
    int | None, Parameter(help="Most pods on a node without a template. [default: 110]")
]
Zones = Annotated[
    str,
    Parameter(metavar="A,B,C", show_default=False, help="Zones to give out to the nodes in turn."),
]
Gpus = Annotated[
    list[str] | None,
    Parameter(
        negative="",
        metavar="[NODES:]COUNTxMODEL",
        show_default=False,
        help="GPUs of nodes: 8xA100 on all of them, 2:8xA100-40GB on two, 4xA30:mig in MIG mode."
        " May be repeated.",
    ),
]
GpuDialect = Annotated[
    str | None,
    Parameter(
        metavar="NAME",
        show_default=False,
        help=f"The dialect of the agents on nodes with GPUs: {', '.join(DIALECTS)}."
        f" [default: {DEFAULT_GPU_DIALECT}]",
    ),
]
Stages = Annotated[
    Path | None,
    Parameter(metavar="FILE", help="Stages that pods go through, in place of the usual ones."),
]
Speed = Annotated[float, Parameter(help="How many times faster everything goes.")]
_NODES: Final = 3


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class NodeOptions:
    """What simulated nodes are like, and how fast they live."""

    template: Template = None
    cpu: Cpu = ""
    memory: Memory = ""
    pods: MostPods = None
    gpus: Gpus = None
    gpu_dialect: GpuDialect = None
    stages: Stages = None
    speed: Speed = 1.0

    def read(
        self, count: int | None, zones: str, controllers: Sequence[str]
    ) -> SimulatedClusterOptions:
        """So many nodes, with these controllers. Raises InputError."""
        from podium.simulated.cluster import SimulatedClusterOptions

        return SimulatedClusterOptions(
            nodes=self.read_nodes(count, zones),
            stages=read_stage_file(self.stages),
            controllers=tuple(controllers),
        )

    def read_nodes(self, count: int | None, zones: str) -> tuple[JsonObject, ...]:
        """So many of them. Raises InputError."""
        from podium.addons.gpu.agents.shapes import equip_nodes
        from podium.net.files.bounded_files import read_input
        from podium.simulated.nodes.templates import (
            default_template,
            nodes_from,
            read_templates,
        )

        if self.gpu_dialect is not None and not self.gpus:
            raise InputError(
                "--gpu-dialect is for nodes with GPUs", remedy="say which: --gpus 8xA100"
            )
        if self.template and (self.cpu or self.memory or self.pods is not None):
            raise InputError("--cpu, --memory and --pods are for nodes without a template")
        found = [
            each
            for path in self.template or ()
            for each in read_templates(read_input(str(path)), str(path))
        ]
        names = [name.strip() for name in zones.split(",") if name.strip()]
        usual = (
            [] if found else [default_template(cpu=self.cpu, memory=self.memory, pods=self.pods)]
        )
        if count is None:
            count = len(found) or _NODES
        nodes = nodes_from(found or usual, count, names)
        return equip_nodes(nodes, self.gpus or (), self.gpu_dialect or DEFAULT_GPU_DIALECT)


USUAL_NODES: Final = NodeOptions()


def read_stage_file(path: Path | None) -> tuple[Stage, ...]:
    from podium.net.files.bounded_files import read_input
    from podium.simulated.pods.stage_files import default_stages, read_stages

    if path is None:
        return default_stages()
    return read_stages(read_input(str(path)), str(path))


def require_usable_speed(speed: float) -> float:
    if not 0.01 <= speed <= 1000:
        raise InputError(f"--speed {speed:g} is too much or too little", remedy="0.01 to 1000 work")
    return speed

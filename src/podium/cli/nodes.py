"""`podium nodes`: simulated nodes and controllers for an API server that has none."""

import logging
import sys
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from podium.api.errors import InputError
from podium.cli.event_loop import run
from podium.cli.exit_codes import OK
from podium.cli.inhabiting import inhabit
from podium.cli.options import read_bytes
from podium.client.connection import find_settings
from podium.population import PopulationOptions
from podium.population.catalogue import ALL, chosen
from podium.population.nodes.templates import default_template, nodes_from, read_templates
from podium.population.objects.meta import JsonObject
from podium.population.pods.stage_files import default_stages, read_stages
from podium.population.pods.stages import Stage

_FORMAT: Final = "%(asctime)s %(levelname)s %(message)s"


def nodes(
    count: Annotated[int, Parameter(name="COUNT", help="How many nodes to simulate.")] = 3,
    /,
    *,
    template: Annotated[
        list[Path] | None,
        Parameter(
            negative="",
            metavar="FILE",
            help="Node manifests to make nodes from, in turn. May be repeated.",
        ),
    ] = None,
    cpu: Annotated[
        str,
        Parameter(show_default=False, help="CPUs of a node without a template. [default: 8]"),
    ] = "",
    memory: Annotated[
        str,
        Parameter(show_default=False, help="Memory of a node without a template. [default: 32Gi]"),
    ] = "",
    pods: Annotated[
        int | None, Parameter(help="Most pods on a node without a template. [default: 110]")
    ] = None,
    zones: Annotated[
        str,
        Parameter(
            metavar="A,B,C", show_default=False, help="Zones to give out to the nodes in turn."
        ),
    ] = "",
    stages: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="Stages that pods go through, in place of the usual ones."),
    ] = None,
    controllers: Annotated[
        str,
        Parameter(metavar="NAMES", help=f"all, none, or a list of: {', '.join(ALL)}."),
    ] = "all",
    speed: Annotated[float, Parameter(help="How many times faster everything goes.")] = 1.0,
    kubeconfig: Annotated[
        str,
        Parameter(
            metavar="FILE",
            show_default=False,
            help="Where the server is. [default: $KUBECONFIG or ~/.kube/config]",
        ),
    ] = "",
    context: Annotated[
        str, Parameter(show_default=False, help="The kubeconfig's context to use.")
    ] = "",
    cleanup: Annotated[
        bool, Parameter(negative="", show_default=False, help="Delete the nodes when stopping.")
    ] = False,
    verbose: Annotated[
        bool,
        Parameter(name=("--verbose", "-v"), negative=(), show_default=False, help="Log more."),
    ] = False,
) -> int:
    """Simulate nodes, and the controllers of a cluster, until SIGTERM or Ctrl-C.

    Nodes are made from templates, send heartbeats, and let the pods that are bound to them start,
    run and end; nothing is really run. Existing nodes that carry the label
    `podium.dev/simulated=true` are brought to life as well. Together with `podium apiserver` and a
    scheduler this is a whole cluster.

    In a cluster that has a kube-controller-manager use `--controllers none`.

    **Examples**

    ```
    podium nodes 10 --kubeconfig podium.kubeconfig
    podium nodes 100 --cpu 64 --memory 256Gi --zones a,b,c --speed 10
    podium nodes 5 --template gpu-node.yaml --controllers none --cleanup
    kubectl annotate node node-3 podium.dev/failure=unreachable
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the server cannot be reached or the input is
    wrong.
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format=_FORMAT, stream=sys.stderr
    )
    if not 0.01 <= speed <= 1000:
        raise InputError(f"--speed {speed:g} is too much or too little", remedy="0.01 to 1000 work")
    options = PopulationOptions(
        nodes=tuple(_nodes(count, template or [], cpu, memory, pods, zones)),
        stages=_stages(stages),
        controllers=chosen(part.strip() for part in controllers.split(",")),
    )
    settings = find_settings(kubeconfig, context)
    run(inhabit(settings, options, speed=speed, cleanup=cleanup))
    return OK


def _nodes(
    count: int, templates: list[Path], cpu: str, memory: str, pods: int | None, zones: str
) -> list[JsonObject]:
    if templates and (cpu or memory or pods is not None):
        raise InputError("--cpu, --memory and --pods are for nodes without a template")
    found = [
        each for path in templates for each in read_templates(read_bytes(str(path)), str(path))
    ]
    names = [name.strip() for name in zones.split(",") if name.strip()]
    usual = [] if found else [default_template(cpu=cpu, memory=memory, pods=pods)]
    return nodes_from(found or usual, count, names)


def _stages(path: Path | None) -> tuple[Stage, ...]:
    if path is None:
        return default_stages()
    return read_stages(read_bytes(str(path)), str(path))

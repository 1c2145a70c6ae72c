"""`podium gpu`: the cards of a cluster, who shares them, and what is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

from podium.commands.answering import ON_A_TERMINAL, Answer, answers
from podium.commands.cluster_options import FILES_ONLY, ClusterOptions
from podium.commands.gpu_defrag import DialectName, defrag
from podium.commands.options import Filename, ValidationMode
from podium.golang.errors import InputError, closest, did_you_mean

if TYPE_CHECKING:
    from podium.commands.gpu_report import GPUReport


gpu = App(
    name="gpu",
    help="Show GPUs, who shares them, and what is free.",
    group_commands=Group("Commands"),
)


@gpu.command
@answers("gpu", ON_A_TERMINAL)
def show(
    *,
    filename: Filename = None,
    cluster: ClusterOptions = FILES_ONLY,
    dialect: DialectName = None,
    node: Annotated[
        str | None,
        Parameter(name=["--node"], metavar="NAME", help="Show one node, with all of its cards."),
    ] = None,
    validation: ValidationMode = "strict",
) -> Answer:
    """Show the GPUs of a cluster: cards, shares, owners, quotas, and what lies in pieces.

    The cluster is that of kubectl's current context, which is only read, or comes from files as
    with `podium simulate`; what stands in files is judged by the last moment that they tell of.
    Each card is a block: how high it is says how full the card is. Cards that somebody uses are
    listed with the pods that share them (`-o wide`: all cards), pods whose decision does not count
    with the reason. Devices of dynamic resource allocation are shown beside, with their claims.

    **Examples**

    ```
    podium gpu --kubeconfig podium.kubeconfig
    podium gpu -f cluster.yaml --node gpu-a1
    podium gpu -f cluster.yaml --dialect hami -o wide
    podium gpu -o json | jq '.dialects[].nodes[] | {name, idleCards}'
    ```

    **Exit code** 0, or 2 if the input is wrong.
    """
    from podium.commands.gpu_reading import read_gpu_cluster
    from podium.commands.gpu_report import make_report
    from podium.commands.gpu_view import GPUOverviewView

    found = read_gpu_cluster(filename or (), cluster, validation, dialect)
    report = make_report(found)
    if node is not None:
        report = _only_node(report, node, [each.name for each in found.nodes])
    return GPUOverviewView(report, shows_every_card=node is not None)


gpu.default(show)
gpu.command(defrag)


def _only_node(report: GPUReport, name: str, known: list[str]) -> GPUReport:
    if name not in known:
        remedy = did_you_mean(closest(name, known))
        raise InputError(f"no node named {name} in the input", remedy=remedy)
    return report.of_node(name)

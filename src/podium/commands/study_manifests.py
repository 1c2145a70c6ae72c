"""`podium study manifests`: a run of the GPU packing study as files for the scheduler itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.printing import print_line
from podium.golang.errors import InputError, closest, did_you_mean

if TYPE_CHECKING:
    from podium.golang.json_values import JsonObject


NODES, PODS, SCHEDULER = "nodes.json", "pods.json", "scheduler.json"


def write_manifests(
    out: Annotated[Path, Parameter(help="A folder for the files; it is made if it is not there.")],
    *,
    nodes: Annotated[Path, Parameter(help="The cluster: a CSV file of nodes.")],
    pods: Annotated[
        Path, Parameter(help="The trace: a CSV file of pods, or pods as kubectl prints them.")
    ],
    policy: Annotated[str, Parameter(help="The policy of the scheduler's configuration.")] = "FGD",
    seed: Annotated[int, Parameter(help="By what pods and nodes are shuffled.")] = 42,
    demand: Annotated[
        int, Parameter(help="How much of the cluster's GPUs pods ask for in all, in percent.")
    ] = 130,
) -> None:
    """Write one run of a trace as nodes, pods and a scheduler's configuration.

    The objects speak HAMi's dialect. Pods come in the order of the run, and nodes in the order in
    which ties are broken, so that `podium simulate` goes through the same run with GPUShare and the
    policy's plugin.

    **Examples**

    ```
    podium study manifests run --nodes nodes.csv --pods pods.csv --policy FGD --seed 42
    podium simulate -f run/nodes.json -f run/pods.json --config run/scheduler.json
    ```

    **Exit code** 0; 2 if the input is wrong.
    """
    import msgspec

    from podium.addons.gpu.packing.policies import POLICIES
    from podium.addons.gpu.study.traces import read_trace
    from podium.addons.gpu.study.workloads import (
        make_workload,
        node_manifests,
        pod_manifests,
        scheduler_configuration,
    )
    from podium.commands.tables import count

    if policy not in POLICIES:
        raise InputError(
            f"no policy is named {policy}", remedy=did_you_mean(closest(policy, list(POLICIES)))
        )
    if not 1 <= demand <= 1000:
        raise InputError("--demand must be between 1 and 1000")
    workload = make_workload(read_trace(pods.name, nodes, pods), seed, demand / 100)
    written = {
        NODES: _list([*node_manifests(workload)]),
        PODS: _list([*pod_manifests(workload)]),
        SCHEDULER: scheduler_configuration(policy),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, document in written.items():
            (out / name).write_bytes(msgspec.json.format(msgspec.json.encode(document)))
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", source=str(out)) from None
    many = f"{count(len(workload.node_order), 'node')} and {count(len(workload.stream), 'pod')}"
    print_line(f"{many} in {out}")


def _list(items: list[JsonObject]) -> JsonObject:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}

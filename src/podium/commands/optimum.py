"""`podium optimum`: how good is the scheduler's placement?"""

from typing import Annotated

from cyclopts import Parameter

from podium.commands.answering import Answer, answers
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.commands.solver_options import TimeLimit, read_time_limit
from podium.offline.what_if.optimum_objectives import ObjectiveName


@answers("optimum")
def optimum(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    objective: Annotated[
        ObjectiveName,
        Parameter(
            name=["--objective"],
            help="What counts: pods placed; pods of the highest priority first; the price of nodes "
            "that come into use, or their number, once as many pods as possible are placed; the "
            "share of cpu and memory that is taken.",
        ),
    ] = "pods",
    time_limit: TimeLimit = "30s",
    prices: Annotated[
        list[str] | None,
        Parameter(
            name=["--prices"],
            negative="",
            metavar="NODES:PRICE",
            help="With --objective cost, what nodes cost: pool=general:0.10. Left out: their "
            "annotation or label podium.dev/price. May be repeated.",
        ),
    ] = None,
) -> Answer:
    """Tell how good the scheduler's placement is, beside the best one that there is.

    The scheduler places one pod after the other and never thinks back. Here the pending pods are
    also placed all at once by an exact solver, on the same cluster and by the same filters, without
    evicting anybody. The placement that it finds is put through the scheduler's filters pod by pod,
    so what is shown is a real one, in an order in which pods would be let in.

    The bound is what no placement can better; where it and the placement meet, that is proven. What
    the bound leaves out is told. The solver is HiGHS: pip install 'podium[optimum]'.

    **Examples**

    ```
    podium optimum -f cluster.json -f pods.yaml
    podium optimum -f cluster.json -f pods.yaml --objective priority --time-limit 2m
    podium optimum -f cluster.json -f pods.yaml --objective cost --prices pool=general:0.10
    podium optimum --kubeconfig ~/.kube/config -o json | jq '.measures'
    podium optimum -f cluster.json -f pods.yaml --html report.html
    ```

    **Exit code** 0 if no placement is better than the scheduler's, 1 if there is one or may be one,
    2 if the input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.optimum_view import OptimumView
    from podium.commands.preparation import prepare_simulation
    from podium.commands.simulate import tell_crashes_of
    from podium.offline.optimum.integer_program import require_solver
    from podium.offline.what_if.node_selection import prices_of
    from podium.offline.what_if.optimum import (
        OptimumQuestion,
        cluster_without_pending,
        find_optimum,
    )

    limit_s = read_time_limit(time_limit)
    require_solver()
    prepared = prepare_simulation(options.files(paths), options)
    priced = prices_of(prepared.scenario.nodes, prices or ())
    question = OptimumQuestion(objective, limit_s, priced)
    with prepared.open_simulation() as (report, simulation, _):
        has_crashed = tell_crashes_of(report)
        alone = cluster_without_pending(prepared.scenario, simulation)
    with prepared.open_run(scenario=alone) as (_, engine, _):
        answer = find_optimum(engine, report, question)
        nodes = engine.cluster.nodes.present_count
    return OptimumView(answer, report, report.notes, has_crashed, nodes)

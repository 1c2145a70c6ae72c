"""`podium rebalance`: which pods to move so that nodes become empty, pods fit or loads even out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import Answer, answers
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions
from podium.commands.solver_options import TimeLimit, read_time_limit
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.offline.what_if.rebalance_goals import Goal


_GOALS = "--free-nodes N, --fit-pending, --skew 'cpu<=20%' or --lower-skew cpu"


@answers("rebalance")
def rebalance(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    free_nodes: Annotated[
        int | None,
        Parameter(
            name=["--free-nodes"],
            metavar="N",
            help="Have so many nodes without pods but their own; those that are empty count, those "
            "that no pod may use do not.",
        ),
    ] = None,
    fit_pending: Annotated[
        bool,
        Parameter(
            name=["--fit-pending"],
            negative="",
            show_default=False,
            help="Make room for the pods that wait.",
        ),
    ] = False,
    skew: Annotated[
        str | None,
        Parameter(
            name=["--skew"],
            metavar="LIMIT",
            help="Bring the fullest and the emptiest node this near to each other: 'cpu<=20%'.",
        ),
    ] = None,
    lower_skew: Annotated[
        str | None,
        Parameter(
            name=["--lower-skew"],
            metavar="RESOURCE",
            help="Bring them as near to each other as the moves allow.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        Parameter(
            name=["--by"],
            metavar="KEY",
            help="Compare not nodes but what they add up to by this label, "
            "topology.kubernetes.io/zone say.",
        ),
    ] = None,
    max_moves: Annotated[
        int | None,
        Parameter(name=["--max-moves"], metavar="N", help="Move no more pods than this."),
    ] = None,
    delete_emptydir_data: Annotated[
        bool,
        Parameter(
            name=["--delete-emptydir-data"],
            negative="",
            show_default=False,
            help="Move pods that have an emptyDir as well; what is in it is lost.",
        ),
    ] = False,
    time_limit: TimeLimit = "30s",
) -> Answer:
    """Propose the fewest moves that reach a goal, with the commands that make them.

    A pod is moved by evicting it: its controller makes another one, and the scheduler decides where
    that goes. So every step is carried out by the scheduler on a copy of the cluster first, one
    eviction after the other, with your configuration. Where it would choose otherwise, or several
    nodes are as good to it, the others are cordoned for the moment of the move. Nodes that are to
    become empty are cordoned first and stay so. Nothing real is touched.

    Pods stay that kubectl drain would not move: those that nothing would make again, and those
    with an emptyDir unless it may be lost. Pods of DaemonSets and of the kubelet are passed over,
    and PodDisruptionBudgets are respected.

    Which pods to move is found by the solver HiGHS: pip install 'podium[optimum]'.

    **Examples**

    ```
    podium rebalance -f cluster.json --free-nodes 2
    podium rebalance -f cluster.json -f pods.yaml --fit-pending --max-moves 5
    podium rebalance -f cluster.json --skew 'cpu<=20%' --by topology.kubernetes.io/zone
    podium rebalance --kubeconfig ~/.kube/config --lower-skew memory --max-moves 3 -o json
    podium rebalance -f cluster.json --free-nodes 2 --html report.html
    ```

    **Exit code** 0 if the goal is reached, 1 if not, with how near the moves come to it, 2 if the
    input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.preparation import prepare_simulation
    from podium.commands.rebalance_view import RebalanceView
    from podium.commands.simulate import tell_crashes_of
    from podium.offline.optimum.integer_program import require_solver
    from podium.offline.what_if.rebalance import (
        RebalanceQuestion,
        find_rebalance,
        fresh_simulations,
    )

    goal = _read_goal(free_nodes, skew, lower_skew, by, fit_pending=fit_pending)
    if max_moves is not None and max_moves < 0:
        raise InputError("--max-moves cannot be negative")
    question = RebalanceQuestion(
        goal,
        max_moves,
        delete_emptydir_data,
        read_time_limit(time_limit),
        options.cluster.kubectl,
    )
    require_solver()
    prepared = prepare_simulation(options.files(paths), options)
    report = prepared.run()
    has_crashed = tell_crashes_of(report)
    scenario = prepared.scenario
    with fresh_simulations(scenario, prepared.equipped, prepared.gates, prepared.seed) as begin:
        answer = find_rebalance(begin, scenario, question)
    return RebalanceView(answer, report, report.notes, has_crashed)


def _read_goal(
    free_nodes: int | None,
    skew: str | None,
    lower_skew: str | None,
    by: str | None,
    *,
    fit_pending: bool,
) -> Goal:
    from podium.offline.what_if.rebalance_goals import FitPending, FreeNodes, LimitSkew, parse_skew

    goals: list[Goal] = []
    if free_nodes is not None:
        if free_nodes < 1:
            raise InputError("--free-nodes must be at least 1")
        goals.append(FreeNodes(free_nodes))
    if fit_pending:
        goals.append(FitPending())
    if skew is not None:
        resource, limit = parse_skew(skew)
        goals.append(LimitSkew(resource, limit, by or ""))
    if lower_skew is not None:
        goals.append(LimitSkew(lower_skew, None, by or ""))
    if len(goals) != 1:
        told = "there is no goal" if not goals else "there are several goals"
        raise InputError(told, remedy=f"name one: {_GOALS}")
    if by is not None and not isinstance(goals[0], LimitSkew):
        raise InputError("--by is about --skew and --lower-skew")
    return goals[0]

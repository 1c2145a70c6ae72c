"""Disruption budgets: how many pods may go."""

from typing import Any

from support.simulated.controller_objects import (
    build,
    condition,
    moment,
    owned_by,
    pod,
    shown,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.disruption_budgets import (
    DisruptionBudgets,
    GuardedPods,
    decide,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import (
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from podium.kubernetes.kinds.meta import OwnerReference
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.disruptions import Scaled
from podium.simulated.informers import Informers


def budget(status: dict[str, Any] | None = None, **spec: Any) -> PodDisruptionBudget:
    return build(PodDisruptionBudget, "guard", spec=spec, status=status or {})


def members(count: int, *, ready: int | None = None) -> list[Pod]:
    healthy = count if ready is None else ready
    return [pod(f"web-{i}", ready=i < healthy, owner=("ReplicaSet", "web")) for i in range(count)]


def plan(
    of: PodDisruptionBudget, pods: list[Pod], wanted: int | None = None, now_s: float = 0
) -> Plan:
    def scale(_: str, owner: OwnerReference) -> Scaled | None:
        return None if wanted is None else Scaled(owner.kind, owner.name, wanted)

    return decide(of, GuardedPods(pods), scale, moment(now_s))


def counts(made: Plan) -> tuple[int, int, int, int]:
    status = written_status(made, "poddisruptionbudgets")
    names = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    expected, desired, healthy, allowed = (status[name] for name in names)
    return expected, desired, healthy, allowed


def test_a_number_that_must_stay_is_taken_as_it_is() -> None:
    assert counts(plan(budget(minAvailable=2), members(3))) == (3, 2, 3, 1)
    assert counts(plan(budget(minAvailable=5), members(3))) == (3, 5, 3, 0)


def test_percentages_are_of_what_the_controllers_want() -> None:
    assert counts(plan(budget(maxUnavailable="25%"), members(10), 10)) == (10, 7, 10, 3)
    assert counts(plan(budget(minAvailable="25%"), members(10), 10)) == (10, 3, 10, 7)
    assert counts(plan(budget(maxUnavailable=1), members(2), 4)) == (4, 3, 2, 0)


def test_pods_without_a_controller_count_only_against_a_plain_number() -> None:
    bare = [pod("a"), pod("b")]
    assert counts(plan(budget(minAvailable=1), bare)) == (2, 1, 2, 1)
    assert counts(plan(budget(maxUnavailable=1), bare)) == (0, 0, 2, 0)
    mixed = [*bare, *members(3)]
    assert counts(plan(budget(maxUnavailable=1), mixed, wanted=3)) == (3, 2, 5, 3)


def test_unready_ended_and_leaving_pods_are_not_healthy() -> None:
    pods = [
        *members(3, ready=2),
        pod("done", "Succeeded"),
        pod("going", deletionTimestamp=timestamp()),
    ]
    assert counts(plan(budget(minAvailable=1), pods)) == (4, 1, 2, 1)


def test_an_eviction_under_way_uses_the_budget_until_it_is_doubted() -> None:
    evicted = {"disruptedPods": {"web-0": timestamp(0), "gone": timestamp(0)}}
    made = plan(budget(evicted, minAvailable=1), members(3), now_s=20)
    assert counts(made) == (3, 1, 2, 1)
    status = written_status(made, "poddisruptionbudgets")
    assert status["disruptedPods"] == {"gone": None}
    assert made.again_after_s == 100
    late = plan(budget(evicted, minAvailable=1), members(3), now_s=120)
    assert counts(late) == (3, 1, 3, 2)


def test_no_pods_allow_no_disruption() -> None:
    assert counts(plan(budget(minAvailable=0), [])) == (0, 0, 0, 0)


def test_what_was_reported_is_not_reported_again() -> None:
    made = plan(budget(minAvailable=1), members(2))
    status = written_status(made, "poddisruptionbudgets")
    (written,) = status["conditions"]
    assert (written["type"], written["status"]) == ("DisruptionAllowed", "True")
    known = condition("DisruptionAllowed", reason="SufficientPods")
    again = budget({**status, "disruptedPods": {}, "conditions": [known]}, minAvailable=1)
    assert shown(plan(again, members(2))) == []


def test_what_controllers_want_is_asked_of_the_one_at_the_top() -> None:
    informers = Informers()
    controller = DisruptionBudgets(informers)
    woken: list[tuple[str, str]] = []
    controller.watch(woken.append)
    everything: dict[str, Any] = {}
    informers.budgets.put(budget(maxUnavailable="50%", selector=everything))
    above = {"ownerReferences": owned_by("Deployment", "web")}
    informers.deployments.put(build(Deployment, "web", spec={"replicas": 6}))
    informers.replica_sets.put(build(ReplicaSet, "web-1", metadata=above, spec={"replicas": 4}))
    informers.replica_sets.put(build(ReplicaSet, "alone", spec={"replicas": 3}))
    informers.stateful_sets.put(build(StatefulSet, "db", spec={"replicas": 2}))
    informers.replication_controllers.put(build(ReplicationController, "old", spec={"replicas": 1}))
    owners = (
        ("ReplicaSet", "web-1"),
        ("ReplicaSet", "alone"),
        ("StatefulSet", "db"),
        ("ReplicationController", "old"),
        ("ReplicaSet", "gone"),
        ("Job", "sum"),
    )
    woken.clear()
    for kind, name in owners:
        informers.pods.put(pod(f"{name}-x", owner=(kind, name)))
    assert set(woken) == {("ns", "guard")}
    made = controller.plan(("ns", "guard"), moment())
    assert counts(made) == (6 + 3 + 2 + 1 + 1 + 1, 7, 6, 0)


def test_pods_of_two_replica_sets_are_expected_once_by_their_deployment() -> None:
    """As in the middle of a roll-out (`pkg/controller/disruption/disruption.go`,
    `getExpectedScale`)."""
    informers = Informers()
    controller = DisruptionBudgets(informers)
    controller.watch(lambda _: None)
    everything: dict[str, Any] = {}
    informers.budgets.put(budget(maxUnavailable="25%", selector=everything))
    above = {"ownerReferences": owned_by("Deployment", "web")}
    informers.deployments.put(build(Deployment, "web", spec={"replicas": 4}))
    for name in ("web-1", "web-2"):
        informers.replica_sets.put(build(ReplicaSet, name, metadata=above, spec={"replicas": 2}))
        for number in range(2):
            informers.pods.put(pod(f"{name}-{number}", owner=("ReplicaSet", name)))

    assert counts(controller.plan(("ns", "guard"), moment())) == (4, 3, 4, 1)

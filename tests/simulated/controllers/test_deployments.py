"""Deployments: from one template to the next, never too many pods and never too few."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.simulated.controller_objects import (
    build,
    condition,
    creations,
    moment,
    owned_by,
    patches,
    pod,
    shown,
    template,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.deployments import REVISION, decide
from podium.kubernetes.controllers.pod_templates import TEMPLATE_HASH
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.rollout import (
    DESIRED,
    MAX,
    limits,
    new_replicas,
    old_replicas,
    proportional_sizes,
)
from podium.kubernetes.controllers.workloads import Deployment, ReplicaSet


def deployment(replicas: int = 3, image: str = "v2", **fields: Any) -> Deployment:
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": versioned(image),
        **fields.pop("spec", {}),
    }
    return build(Deployment, "web", spec=spec, **fields)


def versioned(image: str) -> dict[str, Any]:
    made = template(app="web")
    made["spec"]["containers"][0]["image"] = image
    return made


def replica_set(
    image: str, replicas: int, *, available: int | None = None, revision: int = 1, **metadata: Any
) -> ReplicaSet:
    marked = versioned(image)
    marked["metadata"]["labels"][TEMPLATE_HASH] = image
    available = replicas if available is None else available
    return build(
        ReplicaSet,
        f"web-{image}",
        metadata={
            "labels": {"app": "web", TEMPLATE_HASH: image},
            "ownerReferences": owned_by("Deployment", "web"),
            "annotations": {REVISION: str(revision)},
            "creationTimestamp": timestamp(revision),
            **metadata,
        },
        spec={"replicas": replicas, "template": marked},
        status={
            "replicas": replicas,
            "readyReplicas": available,
            "availableReplicas": available,
        },
    )


def plan(
    of: Deployment, *sets: ReplicaSet, pods: dict[str, list[Pod]] | None = None, now_s: float = 0
) -> Plan:
    return decide(of, sets, pods or {}, moment(now_s))


def scalings(made: Plan) -> dict[str, int]:
    return {
        patch.name: patch.body["spec"]["replicas"]
        for patch in patches(made)
        if "spec" in patch.body
    }


def test_the_first_template_gets_a_replica_set_with_its_hash() -> None:
    made = plan(deployment(3))
    (body,) = creations(made)
    mark = body["metadata"]["labels"][TEMPLATE_HASH]
    assert body["metadata"]["name"] == f"web-{mark}"
    assert body["spec"]["replicas"] == 3
    assert body["spec"]["selector"]["matchLabels"] == {"app": "web", TEMPLATE_HASH: mark}
    assert body["spec"]["template"]["metadata"]["labels"][TEMPLATE_HASH] == mark
    assert body["metadata"]["annotations"] == {REVISION: "1", DESIRED: "3", MAX: "4"}
    assert creations(plan(deployment(3)))[0] == body


def test_a_new_template_rolls_out_within_its_limits() -> None:
    old = replica_set("v1", 10)
    (body,) = creations(plan(deployment(10), old))
    assert body["spec"]["replicas"] == 3  # 10 + 25 % rounded up, less the 10 that are there
    assert body["metadata"]["annotations"] == {REVISION: "2", DESIRED: "10", MAX: "13"}
    starting = replica_set("v2", 3, available=0, revision=2)
    assert scalings(plan(deployment(10), old, starting)) == {"web-v1": 8}
    shrunk = replica_set("v1", 8)
    assert scalings(plan(deployment(10), shrunk, starting)) == {"web-v2": 5}
    ready = replica_set("v2", 5, revision=2)
    assert scalings(plan(deployment(10), shrunk, ready)) == {"web-v1": 3}


def test_unhealthy_old_pods_go_before_healthy_ones() -> None:
    wanted = old_replicas(
        deployment(4),
        replica_set("v2", 1, available=0, revision=3),
        [replica_set("v0", 2, available=0), replica_set("v1", 2, available=2, revision=2)],
    )
    assert wanted == {"web-v0": 1}


@given(
    wanted=st.integers(0, 30),
    surge=st.sampled_from(["0%", "25%", "100%", 1, 3]),
    unavailable=st.sampled_from(["0%", "25%", "50%", 1]),
    start=st.integers(0, 30),
)
def test_a_roll_out_ends_and_keeps_its_limits(
    wanted: int, surge: Any, unavailable: Any, start: int
) -> None:
    """Pods become available at once; what is followed is only the arithmetic."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    of = deployment(wanted, spec={"strategy": {"rollingUpdate": rolling}})
    bounds = limits(of)
    old, new = start, 0
    for _ in range(200):
        old_set, new_set = replica_set("v1", old), replica_set("v2", new, revision=2)
        wish = new_replicas(of, new, [old_set])
        if wish != new:
            new = wish
        else:
            old = old_replicas(of, new_set, [old_set]).get("web-v1", old)
        assert new + old <= max(wanted + bounds.surge, start)
        assert new + old >= min(wanted - bounds.unavailable, start)
        if (old, new) == (0, wanted):
            return
    raise AssertionError(f"stuck at {old} old and {new} new")


def test_going_back_takes_the_old_set_again_with_a_new_revision() -> None:
    back = deployment(2, image="v1", metadata={"annotations": {REVISION: "2"}})
    sets = (replica_set("v1", 0), replica_set("v2", 2, revision=2))
    made = plan(back, *sets)
    revisions = [
        (patch.name, patch.body["metadata"]["annotations"][REVISION])
        for patch in patches(made)
        if "spec" not in patch.body and "metadata" in patch.body
    ]
    assert revisions == [("web-v1", "3"), ("web", "3")]
    assert scalings(made) == {"web-v1": 1}


def sized(image: str, replicas: int, before: int, **more: Any) -> ReplicaSet:
    surge = -(-before // 4)
    told = {DESIRED: str(before), MAX: str(before + surge), REVISION: str(more.get("revision", 1))}
    return replica_set(image, replicas, annotations=told, **more)


def test_a_new_size_is_spread_over_all_sets_in_the_middle_of_a_roll_out() -> None:
    old = sized("v1", 8, 10)
    new = sized("v2", 5, 10, available=0, revision=2)
    assert scalings(plan(deployment(30), old, new)) == {"web-v1": 23, "web-v2": 15}
    assert scalings(plan(deployment(5), old, new)) == {"web-v1": 4, "web-v2": 3}
    assert scalings(plan(deployment(0), old, new)) == {"web-v1": 0, "web-v2": 0}
    (first, *_) = patches(plan(deployment(30), old, new))
    assert first.body["metadata"]["annotations"] == {DESIRED: "30", MAX: "38"}


@given(st.integers(0, 40), st.lists(st.integers(1, 20), min_size=2, max_size=4))
def test_a_spread_change_of_size_comes_out_even(wanted: int, sizes: list[int]) -> None:
    before = sum(sizes)
    sets = [sized(f"v{place}", size, before, revision=place) for place, size in enumerate(sizes)]
    made = proportional_sizes(deployment(wanted), sets)
    allowed = wanted + limits(deployment(wanted)).surge if wanted else 0
    assert sum(made.values()) == allowed
    assert min(made.values()) >= 0


def test_the_only_set_with_pods_takes_the_new_size_before_a_new_template() -> None:
    assert scalings(plan(deployment(6), sized("v1", 3, 3))) == {"web-v1": 6}
    assert creations(plan(deployment(6), sized("v1", 3, 3))) == []


def test_recreation_waits_until_all_old_pods_are_gone() -> None:
    fresh = deployment(2, spec={"strategy": {"type": "Recreate"}})
    old = replica_set("v1", 2)
    assert scalings(plan(fresh, old)) == {"web-v1": 0}
    empty = replica_set("v1", 0)
    going = {"uid-web-v1": [pod("a", deletionTimestamp="x")]}
    assert creations(plan(fresh, empty, pods=going)) == []
    assert creations(plan(fresh, empty))[0]["spec"]["replicas"] == 2


def test_a_paused_deployment_scales_and_does_not_roll_out() -> None:
    paused = deployment(5, spec={"paused": True})
    made = plan(paused, replica_set("v1", 2))
    assert creations(made) == []
    assert scalings(made) == {"web-v1": 5}


def test_old_empty_sets_are_kept_up_to_a_limit() -> None:
    limited = deployment(1, spec={"revisionHistoryLimit": 1})
    sets = [replica_set(f"old{i}", 0, revision=i) for i in range(3)]
    made = shown(plan(limited, replica_set("v2", 1, revision=9), *sets))
    assert [each for each in made if each[0] == "-"] == [
        "-replicasets web-old0",
        "-replicasets web-old1",
    ]


def conditions_of(made: Plan) -> dict[str, tuple[str, str]]:
    status = written_status(made, "deployments")
    return {c["type"]: (c["status"], c["reason"]) for c in status.get("conditions", ())}


def test_a_complete_roll_out_is_reported() -> None:
    made = plan(deployment(2), replica_set("v2", 2))
    status = written_status(made, "deployments")
    assert (status["updatedReplicas"], status["availableReplicas"]) == (2, 2)
    assert conditions_of(made) == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }


def test_a_roll_out_that_does_not_move_is_reported_when_its_deadline_is_over() -> None:
    status = {
        "replicas": 2,
        "updatedReplicas": 2,
        "unavailableReplicas": 2,
        "observedGeneration": 1,
        "conditions": [
            condition(
                "Available",
                "False",
                reason="MinimumReplicasUnavailable",
                message="Deployment does not have minimum availability.",
            ),
            condition("Progressing", reason="ReplicaSetUpdated", lastUpdateTime=timestamp(0)),
        ],
    }
    stuck = deployment(2, spec={"progressDeadlineSeconds": 60}, status=status)
    marked = deployment(2, spec={"progressDeadlineSeconds": 60}, status=status)
    slow = replica_set("v2", 2, available=0)
    waiting = plan(stuck, slow, now_s=20)
    assert waiting.again_after_s == 40
    assert conditions_of(plan(marked, slow, now_s=60)) == {
        "Progressing": ("False", "ProgressDeadlineExceeded")
    }

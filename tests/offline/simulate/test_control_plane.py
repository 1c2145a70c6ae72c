"""Pods that controllers would have made."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError, ObjectError
from podium.kubernetes.controllers.workloads import WORKLOAD_KINDS, Workload
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.meta import LabelSelector
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid
from podium.offline.simulate.control_plane import ControlPlane, Made
from podium.offline.simulate.scenario import read_inline_scenario
from podium.testing import make_node, make_pod

POD_SPEC: dict[str, Any] = {"containers": [{"name": "main", "image": "app"}]}
CLAIM_SPEC: dict[str, Any] = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "web"}}, "spec": POD_SPEC}


def workload(kind: str, name: str, *, metadata: dict[str, Any] | None = None, **more: Any) -> Any:
    struct = next(struct for (_, known), struct in WORKLOAD_KINDS.items() if known == kind)
    status = more.pop("status", {})
    spec = {"template": TEMPLATE, "selector": {"matchLabels": {"app": "web"}}, **more}
    if kind == "Job":
        del spec["selector"]
    raw = {"metadata": {"name": name, **(metadata or {})}, "spec": spec, "status": status}
    if "status" in struct.UNREAD:
        del raw["status"]
    return assign_uid(msgspec.convert(raw, struct))


def make(
    target: Workload,
    *others: Workload,
    pods: Iterable[Pod] = (),
    nodes: Iterable[Node] = (),
) -> Made:
    return ControlPlane(pods, [target, *others], nodes, Admission(FeatureGates())).make(target)


def names(made: Made) -> list[str]:
    return [pod.metadata.name for pod in made.pods]


def labels(pod: Pod) -> dict[str, str]:
    return pod.metadata.labels or {}


def owned_pod(name: str, kind: str, owner: str) -> Pod:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "controller": True}
    return make_pod(name, metadata={"ownerReferences": [reference]})


def test_a_deployment_makes_numbered_pods_through_a_replica_set() -> None:
    made = make(workload("Deployment", "web", replicas=2))
    assert names(made) == ["web-0", "web-1"]
    (replicas,) = made.objects
    assert isinstance(replicas, read_by_engine.ReplicaSet)
    owner = (made.pods[0].metadata.owner_references or ())[0]
    assert (owner.kind, owner.name, owner.controller) == (
        "ReplicaSet",
        replicas.metadata.name,
        True,
    )
    assert owner.uid == replicas.metadata.uid


def test_pods_of_a_deployment_carry_the_hash_that_their_replica_set_selects() -> None:
    made = make(workload("Deployment", "web"))
    (replicas,) = made.objects
    assert isinstance(replicas, read_by_engine.ReplicaSet)
    assert replicas.spec.selector is not None
    mark = labels(made.pods[0])["pod-template-hash"]
    assert replicas.metadata.name == f"web-{mark}"
    assert replicas.spec.selector.match_labels == {"app": "web", "pod-template-hash": mark}


def test_replicas_default_to_one_and_may_be_none_at_all() -> None:
    assert len(make(workload("Deployment", "web")).pods) == 1
    assert make(workload("Deployment", "web", replicas=0)).pods == []


def test_a_deployment_whose_pods_are_in_the_input_makes_none() -> None:
    deployment = workload("Deployment", "web", replicas=3)
    replicas = workload(
        "ReplicaSet",
        "web-5d9c",
        replicas=3,
        metadata={
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
            ]
        },
    )
    running = owned_pod("web-5d9c-x7", "ReplicaSet", "web-5d9c")
    assert make(deployment, replicas, pods=[running]).pods == []
    assert make(replicas, deployment, pods=[running]).pods == []


def test_a_deployment_whose_replica_set_is_missing_from_the_dump_makes_none() -> None:
    running = owned_pod("web-5d9c-x7", "ReplicaSet", "web-5d9c")
    assert make(workload("Deployment", "web"), pods=[running]).pods == []


def test_a_deployment_leaves_the_work_to_its_replica_set_in_the_input() -> None:
    deployment = workload("Deployment", "web", replicas=2)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    replicas = workload("ReplicaSet", "web-5d9c", replicas=2, metadata={"ownerReferences": [owner]})
    assert make(deployment, replicas).pods == []
    assert names(make(replicas, deployment)) == ["web-5d9c-0", "web-5d9c-1"]


def test_pods_of_another_namespace_do_not_count() -> None:
    running = owned_pod("web-5d9c-x7", "ReplicaSet", "web-5d9c")
    elsewhere = workload("Deployment", "web", metadata={"namespace": "other"})
    assert names(make(elsewhere, pods=[running])) == ["web-0"]


def test_a_name_that_is_taken_gets_the_template_hash() -> None:
    made = make(workload("Deployment", "web"), pods=[make_pod("web-0")])
    mark = labels(made.pods[0])["pod-template-hash"]
    assert names(made)[0].startswith("web-")
    assert names(made)[0] != "web-0"
    assert len(names(made)[0]) == len(f"web-{mark}-0")


def test_a_stateful_set_goes_on_after_a_name_that_is_taken() -> None:
    made = make(workload("StatefulSet", "db", replicas=3), pods=[make_pod("db-1")])
    assert names(made) == ["db-0", names(made)[1], "db-2"]
    assert names(made)[1].startswith("db-")
    assert names(made)[1] != "db-1"


@pytest.mark.parametrize("kind", [kind for _, kind in WORKLOAD_KINDS])
def test_a_selector_that_does_not_match_the_template_is_told(kind: str) -> None:
    labels = {"app": "api"}
    if kind == "ReplicationController":
        target = workload(kind, "web", selector=labels)
    else:
        target = workload(kind, "web")
        spec = replace(target.spec, selector=LabelSelector(match_labels=labels))
        target = replace(target, spec=spec)
    with pytest.raises(ObjectError, match="`selector` does not match template `labels`"):
        make(target, nodes=[make_node("n1")])


def test_a_stateful_set_makes_pods_with_ordinals_labels_and_claims() -> None:
    spec = {**CLAIM_SPEC, "storageClassName": "fast"}
    template = {"metadata": {"name": "data"}, "spec": spec}
    made = make(
        workload(
            "StatefulSet", "db", replicas=2, ordinals={"start": 5}, volumeClaimTemplates=[template]
        )
    )
    assert names(made) == ["db-5", "db-6"]
    assert labels(made.pods[0])["statefulset.kubernetes.io/pod-name"] == "db-5"
    assert labels(made.pods[0])["apps.kubernetes.io/pod-index"] == "5"
    claims = [obj for obj in made.objects if isinstance(obj, PersistentVolumeClaim)]
    assert [claim.metadata.name for claim in claims] == ["data-db-5", "data-db-6"]
    volume = (made.pods[1].spec.volumes or ())[0]
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "data-db-6"


def test_a_job_makes_as_many_pods_as_run_at_once() -> None:
    assert len(make(workload("Job", "once", parallelism=3, completions=2)).pods) == 2
    assert len(make(workload("Job", "once", parallelism=3, completions=9)).pods) == 3
    assert len(make(workload("Job", "once", parallelism=3)).pods) == 3


def test_a_job_that_has_succeeded_partly_makes_what_is_left() -> None:
    job = workload("Job", "once", parallelism=5, completions=6, status={"succeeded": 4})
    assert len(make(job).pods) == 2


def test_a_finished_or_suspended_job_makes_no_pods() -> None:
    complete = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert make(workload("Job", "once", status=complete)).pods == []
    assert make(workload("Job", "once", suspend=True)).pods == []


def test_pods_of_an_indexed_job_know_their_index() -> None:
    made = make(workload("Job", "once", parallelism=2, completions=2, completionMode="Indexed"))
    key = "batch.kubernetes.io/job-completion-index"
    assert [labels(pod)[key] for pod in made.pods] == ["0", "1"]
    assert labels(made.pods[0])["job-name"] == "once"


def test_an_indexed_job_that_does_not_say_how_many_indexes_it_has_is_refused() -> None:
    spec: dict[str, Any] = {
        "template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}},
        "parallelism": 2,
    }
    job: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once"},
        "spec": {**spec, "completionMode": "Indexed"},
    }
    message = "spec.completions: Required value: when completion mode is Indexed"
    with pytest.raises(InputError) as refused:
        read_inline_scenario([SourceDocument("input", 1, 1, job, "")], gates=FeatureGates())
    assert message in str(refused.value)


def pinned_to(pod: Pod) -> tuple[str, ...] | None:
    affinity = pod.spec.affinity
    assert affinity is not None
    assert affinity.node_affinity is not None
    required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert required is not None
    (term,) = required.node_selector_terms or ()
    (field,) = term.match_fields or ()
    assert (field.key, field.operator) == ("metadata.name", "In")
    return field.values


def test_a_daemon_set_makes_one_pod_per_node_pinned_there() -> None:
    made = make(workload("DaemonSet", "agent"), nodes=[make_node("n1"), make_node("n2")])
    assert names(made) == ["agent-n1", "agent-n2"]
    assert [pinned_to(pod) for pod in made.pods] == [("n1",), ("n2",)]


def test_a_daemon_set_passes_by_nodes_that_its_template_cannot_use() -> None:
    template = {**TEMPLATE, "spec": {**POD_SPEC, "nodeSelector": {"pool": "a"}}}
    nodes = [
        make_node("wrong-pool", labels={"pool": "b"}),
        make_node("tainted", labels={"pool": "a"}, taints=[("gpu", "", "NoSchedule")]),
        make_node("soft", labels={"pool": "a"}, taints=[("gpu", "", "PreferNoSchedule")]),
    ]
    assert names(make(workload("DaemonSet", "agent", template=template), nodes=nodes)) == [
        "agent-soft"
    ]


def test_daemons_go_where_others_may_not() -> None:
    cordoned = make_node(
        "cordoned",
        unschedulable=True,
        taints=[
            ("node.kubernetes.io/unschedulable", "", "NoSchedule"),
            ("node.kubernetes.io/not-ready", "", "NoExecute"),
        ],
    )
    assert names(make(workload("DaemonSet", "agent"), nodes=[cordoned])) == ["agent-cordoned"]


def test_a_replication_controller_makes_pods_too() -> None:
    made = make(workload("ReplicationController", "old", replicas=1, selector={"app": "web"}))
    assert names(made) == ["old-0"]
    assert isinstance(made.objects[0], read_by_engine.ReplicationController)


@pytest.mark.parametrize("kind", [kind for _, kind in WORKLOAD_KINDS])
def test_a_controller_of_any_kind_whose_pods_are_in_the_input_makes_none(kind: str) -> None:
    selector = {"selector": {"app": "web"}} if kind == "ReplicationController" else {}
    running = owned_pod("mine-abcd-1", kind, "mine")
    made = make(workload(kind, "mine", **selector), pods=[running], nodes=[make_node("n1")])
    assert made.pods == []


def test_claims_of_a_stateful_set_carry_the_labels_that_it_selects() -> None:
    template = {"metadata": {"name": "data", "labels": {"tier": "1"}}, "spec": CLAIM_SPEC}
    made = make(workload("StatefulSet", "db", volumeClaimTemplates=[template]))
    (claim,) = (obj for obj in made.objects if isinstance(obj, PersistentVolumeClaim))
    assert claim.metadata.labels == {"tier": "1", "app": "web"}
    assert claim.metadata.namespace == "default"


def test_an_indexed_job_goes_on_with_the_indexes_that_are_left() -> None:
    job = workload(
        "Job",
        "once",
        parallelism=2,
        completions=4,
        completionMode="Indexed",
        status={"succeeded": 2, "completedIndexes": "0,2"},
    )
    key = "batch.kubernetes.io/job-completion-index"
    assert [labels(pod)[key] for pod in make(job).pods] == ["1", "3"]


def test_pods_of_one_template_share_their_spec() -> None:
    first, second = make(workload("ReplicaSet", "web", replicas=2)).pods
    assert first.spec is second.spec
    assert first.metadata.uid != second.metadata.uid

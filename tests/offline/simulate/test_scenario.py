"""From files to a cluster with pending pods."""

from pathlib import Path

import pytest

from podium.golang.errors import InputError
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.workloads import Namespace
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, load_scenario

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: 110}}
"""
CONTAINERS = "containers: [{name: main, image: app}]"


def load(tmp_path: Path, *documents: str) -> Scenario:
    path = tmp_path / "input.yaml"
    path.write_text("\n---\n".join([NODE, *documents]))
    return load_scenario([str(path)], gates=FeatureGates())


def refusal(tmp_path: Path, *documents: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, *documents)
    return str(caught.value)


def pod(name: str, spec: str = "", status: str = "", metadata: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}{metadata}}}
spec: {{{CONTAINERS}{spec}}}
status: {{{status}}}
"""


def test_pods_are_running_pending_or_left_out(tmp_path: Path) -> None:
    scenario = load(
        tmp_path,
        pod("runs", ", nodeName: n1"),
        pod("waits"),
        pod("over", ", nodeName: n1", "phase: Succeeded"),
    )
    assert [p.metadata.name for p in scenario.running] == ["runs"]
    assert [p.metadata.name for p in scenario.pending] == ["waits"]
    assert scenario.notes == ("left out because they have finished: 1 pod",)


def test_pods_of_a_workload_arrive_where_it_stands_in_the_input(tmp_path: Path) -> None:
    deployment = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{{CONTAINERS}}}}}
"""
    scenario = load(tmp_path, pod("first"), deployment, pod("last"))
    assert [p.metadata.name for p in scenario.pending] == ["first", "web-0", "web-1", "last"]
    assert "2 pods made from 1 Deployment" in scenario.notes


def test_running_pods_on_nodes_that_are_not_there_are_noted(tmp_path: Path) -> None:
    scenario = load(tmp_path, pod("runs", ", nodeName: gone"))
    assert scenario.notes == ("1 pod on nodes that are not in the input (gone)",)


def test_namespaces_that_nobody_wrote_down_exist_all_the_same(tmp_path: Path) -> None:
    scenario = load(tmp_path, pod("a", metadata=", namespace: team-a"))
    (namespace,) = [obj for obj in scenario.objects if isinstance(obj, Namespace)]
    assert namespace.metadata.labels == {"kubernetes.io/metadata.name": "team-a"}


def test_names_may_not_be_there_twice(tmp_path: Path) -> None:
    told = refusal(tmp_path, pod("a"), pod("a"))
    assert "document 3" in told
    assert "Pod default/a is there twice; the first one is in" in told


def test_the_same_name_in_two_namespaces_is_fine(tmp_path: Path) -> None:
    scenario = load(tmp_path, pod("a"), pod("a", metadata=", namespace: other"))
    assert len(scenario.pending) == 2


def test_a_uid_that_was_copied_along_is_not_shared(tmp_path: Path) -> None:
    scenario = load(tmp_path, pod("a", metadata=", uid: x"), pod("b", metadata=", uid: x"))
    first, second = (p.metadata.uid for p in scenario.pending)
    assert first == "x"
    assert second not in ("", "x")


def test_a_claim_is_made_for_an_ephemeral_volume(tmp_path: Path) -> None:
    template = "ephemeral: {volumeClaimTemplate: {spec: "
    template += "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}"
    scenario = load(tmp_path, pod("a", f", volumes: [{{name: scratch, {template}}}]"))
    (claim,) = [obj for obj in scenario.objects if isinstance(obj, PersistentVolumeClaim)]
    assert claim.metadata.name == "a-scratch"
    owner = (claim.metadata.owner_references or ())[0]
    assert owner.uid == scenario.pending[0].metadata.uid


def test_a_claim_is_made_from_a_claim_template(tmp_path: Path) -> None:
    template = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
"""
    claims = ", resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]"
    scenario = load(tmp_path, template, pod("a", claims))
    (claim,) = [obj for obj in scenario.objects if isinstance(obj, ResourceClaim)]
    (told,) = scenario.pending[0].status.resource_claim_statuses or ()
    assert (told.name, told.resource_claim_name) == ("gpu", claim.metadata.name)


def test_input_without_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("# nothing\n")
    with pytest.raises(InputError, match="no objects in the input"):
        load_scenario([str(path)], gates=FeatureGates())


def test_input_without_nodes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pods.yaml"
    path.write_text(pod("a"))
    with pytest.raises(InputError, match="no nodes in the input; podium dump-command prints"):
        load_scenario([str(path)], gates=FeatureGates())


def test_no_input_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="no input; give files"):
        load_scenario([], gates=FeatureGates())


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (", nodeSelector: {disk: 'fast one'}", 'spec.nodeSelector: Invalid value: "fast one"'),
        (
            ", tolerations: [{key: a, operator: Exist}]",
            'Unsupported value: "Exist": supported values: "Equal", "Exists"',
        ),
        (", tolerations: [{operator: Equal}]", "operator must be Exists when `key` is empty"),
        (
            ", tolerations: [{key: a, operator: Exists, value: b}]",
            "value must be empty when `operator` is 'Exists'",
        ),
        (
            ", preemptionPolicy: Sometimes",
            "the string value of PreemptionPolicy (Sometimes) must not be provided",
        ),
        (
            ", nodeName: n1, schedulingGates: [{name: g}]",
            "cannot be set until all schedulingGates have been cleared",
        ),
        (
            ", topologySpreadConstraints: [{maxSkew: 0, topologyKey: z}]",
            "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        ),
        (
            ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never}]",
            'Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ),
        (
            ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}",
            "matchExpressions[0].values: Required value: must be specified when `operator` is",
        ),
        (
            ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
            "[{weight: 101, preference: {}}]}}",
            "[0].weight: Invalid value: 101: must be in the range 1-100",
        ),
        (
            ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "[{labelSelector: {matchLabels: {'a b': c}}}]}}",
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
        ),
    ],
)
def test_what_a_server_would_refuse_is_refused(tmp_path: Path, spec: str, told: str) -> None:
    assert told in refusal(tmp_path, pod("a", spec))


def test_a_request_above_its_limit_is_refused(tmp_path: Path) -> None:
    resources = "resources: {requests: {cpu: 2}, limits: {cpu: 1}}"
    text = pod("a").replace("image: app", f"image: app, {resources}")
    assert 'requests: Invalid value: "2": must be less than or equal to cpu limit of 1' in refusal(
        tmp_path, text
    )


def test_a_pod_without_containers_is_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, pod("a").replace(CONTAINERS, ""))
    assert "spec.containers: Required value" in told


def deployment(pod_spec: str, metadata: str = "") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web{metadata}}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{{CONTAINERS}{pod_spec}}}}}
"""


def test_a_problem_in_a_template_has_the_path_of_the_template(tmp_path: Path) -> None:
    told = refusal(tmp_path, deployment(", hostname: 'A b'"))
    assert "spec.template.spec.hostname: Invalid value" in told


def test_pods_that_a_server_would_refuse_their_controller_are_told(tmp_path: Path) -> None:
    """As in a cluster, where the Deployment is there and its pods are not."""
    scenario = load(tmp_path, deployment(", priorityClassName: nope"))

    assert scenario.pending == ()
    (told,) = scenario.notes
    assert told.startswith("Deployment default/web has 0 pods, and the API server refuses the next")
    assert "no PriorityClass with name nope was found" in told


def test_a_quota_bounds_the_pods_of_its_namespace(tmp_path: Path) -> None:
    quota = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {pods: "2"}}
"""
    scenario = load(tmp_path, deployment(""), quota)

    assert [p.metadata.name for p in scenario.pending] == ["web-0", "web-1"]
    assert (
        "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"
        in (scenario.notes[-1])
    )
    assert "exceeded quota: small" in refusal(tmp_path, *map(pod, "abc"), quota)


def test_what_a_server_has_stored_is_not_checked_again(tmp_path: Path) -> None:
    stored = pod("a", ", preemptionPolicy: FromTheFuture", metadata=", resourceVersion: '1'")
    assert len(load(tmp_path, stored).pending) == 1


def test_a_wrong_taint_is_refused(tmp_path: Path) -> None:
    node = NODE.replace("n1", "n2") + "spec: {taints: [{key: a, effect: Never}]}\n"
    assert 'taints[0].effect: Unsupported value: "Never"' in refusal(tmp_path, node)


def test_a_priority_class_may_not_be_worth_too_much(tmp_path: Path) -> None:
    entry = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: huge}
value: 1000000001
"""
    assert (
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"
        in refusal(tmp_path, entry)
    )

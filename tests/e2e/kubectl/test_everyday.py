"""What people type on an ordinary day."""

from typing import Any

import pytest
from support.apiserver.apiserver_process import RunningServer
from support.apiserver.kubectl_process import Kubectl
from support.e2e.manifests import BUDGET, DEPLOYMENT, pod_manifest
from support.waiting import PATIENTLY


def write_status(server: RunningServer, obj: dict[str, Any], plural: str, **status: Any) -> None:
    """Do what a controller or kubelet would do."""
    group = obj["apiVersion"]
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"
    metadata = obj["metadata"]
    path = f"{root}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}"
    _, found = server.ask("GET", path)
    code, answer = server.ask("PUT", f"{path}/status", {**found, "status": status})
    assert code == 200, answer


# --- creating and reading ------------------------------------------------------------------------


def test_objects_are_created_in_all_the_ways_that_kubectl_knows(kubectl: Kubectl) -> None:
    assert kubectl("create", "-f", "-", stdin=pod_manifest("a")) == "pod/a created\n"
    assert kubectl("run", "b", "--image", "nginx") == "pod/b created\n"
    for words, created in (
        (("configmap", "c", "--from-literal=a=b"), "configmap/c"),
        (("secret", "generic", "s", "--from-literal=a=b"), "secret/s"),
        (("deployment", "d", "--image=nginx"), "deployment.apps/d"),
        (("job", "j", "--image=busybox"), "job.batch/j"),
        (("cronjob", "cj", "--image=busybox", "--schedule=* * * * *"), "cronjob.batch/cj"),
        (("service", "clusterip", "svc", "--tcp=80"), "service/svc"),
        (("serviceaccount", "robot"), "serviceaccount/robot"),
        (("quota", "q", "--hard=pods=5"), "resourcequota/q"),
        (("pdb", "b", "--selector=app=web", "--min-available=1"), "poddisruptionbudget.policy/b"),
        (("role", "r", "--verb=get", "--resource=pods"), "role.rbac.authorization.k8s.io/r"),
    ):
        if kubectl.release < (1, 21) and words[0] in ("pdb", "cronjob"):
            continue  # that kubectl asks for v1beta1, which was served until 1.25
        assert kubectl("create", *words) == f"{created} created\n"
    assert "already exists" in kubectl("create", "configmap", "c", code=1)


@pytest.mark.slow
def test_creating_nonsense_says_what_is_wrong(kubectl: Kubectl) -> None:
    wrong = pod_manifest("A_B").replace("nginx", '""')

    said = kubectl("create", "-f", "-", stdin=wrong, code=1)

    assert 'The Pod "A_B" is invalid' in said
    assert "spec.containers[0].image: Required value" in said
    misspelt = pod_manifest("a").replace("nodeName", "nodName")
    assert 'unknown field "' in kubectl("create", "-f", "-", stdin=misspelt, code=1)


@pytest.mark.slow
def test_tables_show_what_kubectl_users_know(kubectl: Kubectl, node: str) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a", node))
    kubectl("create", "-f", "-", stdin=pod_manifest("b").replace("app: web", "app: db"))

    header, first, second = kubectl("get", "pods").splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert [first.split()[:4], second.split()[:4]] == [
        ["a", "0/1", "Pending", "0"],
        ["b", "0/1", "Pending", "0"],
    ]
    wide = kubectl("get", "pods", "-o", "wide").splitlines()
    assert wide[0].split()[5:8] == ["IP", "NODE", "NOMINATED"]
    assert node in wide[1]
    assert "app=db" in kubectl("get", "pods", "--show-labels")
    assert kubectl("get", "pods", "-l", "app=db", "-o", "name") == "pod/b\n"
    by_node = f"spec.nodeName={node}"
    assert kubectl("get", "pods", "--field-selector", by_node, "-o", "name") == "pod/a\n"
    assert kubectl("get", "pods", "-l", "app=none").startswith("No resources found")
    assert kubectl("get", "nodes", node, "--no-headers").split()[:3] == [node, "Ready", "<none>"]
    columns = "custom-columns=N:.metadata.name,S:.spec.schedulerName"
    assert kubectl("get", "pod", "a", "-o", columns).split()[2:] == ["a", "default-scheduler"]
    by_label = ("--sort-by=.metadata.labels.app", "-o", "name")
    assert kubectl("get", "pods", *by_label) == "pod/b\npod/a\n"
    assert "pod/a" in kubectl("get", "all")
    assert '"nope" not found' in kubectl("get", "pod", "nope", code=1)
    assert "doesn't have a resource type" in kubectl("get", "unicorns", code=1)


@pytest.mark.slow
def test_whole_objects_are_shown_as_yaml_and_json(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a"))

    assert "schedulerName: default-scheduler\n" in kubectl("get", "pod", "a", "-o", "yaml")
    assert kubectl.value("get", "pod", "a")["status"]["qosClass"] == "BestEffort"
    assert kubectl.value("get", "pods")["items"][0]["metadata"]["name"] == "a"
    assert kubectl("get", "pod", "a", "-o", "jsonpath={.spec.containers[*].image}") == "nginx"


def test_a_watch_shows_changes_as_they_happen(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a"))
    with kubectl.started("get", "pods", "--watch", "--output-watch-events") as watch:
        assert watch.line().split()[:2] == ["EVENT", "NAME"]
        assert watch.line().split()[:2] == ["ADDED", "a"]
        kubectl("create", "-f", "-", stdin=pod_manifest("b"))
        assert watch.line().split()[:2] == ["ADDED", "b"]
        kubectl("label", "pod", "b", "tier=x")
        assert watch.line().split()[:2] == ["MODIFIED", "b"]
        kubectl("delete", "pod", "a")
        assert watch.line().split()[:2] == ["MODIFIED", "a"]  # its deletion begins
        assert watch.line().split()[:2] == ["DELETED", "a"]


def test_describe_tells_the_story_of_pods_and_nodes(kubectl: Kubectl, node: str) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a", node))
    uid = kubectl("get", "pod", "a", "-o", "jsonpath={.metadata.uid}")
    namespace = kubectl("get", "pod", "a", "-o", "jsonpath={.metadata.namespace}")
    event = f"""
apiVersion: v1
kind: Event
metadata: {{name: a.1}}
involvedObject: {{kind: Pod, name: a, namespace: {namespace}, uid: {uid}}}
reason: FailedScheduling
message: no room anywhere
type: Warning
count: 3
"""
    kubectl("create", "-f", "-", stdin=event)

    told = kubectl("describe", "pod", "a")
    assert "Name:" in told
    assert "QoS Class:" in told
    assert "no room anywhere" in told
    of_node = kubectl("describe", "node", node)
    assert "Allocatable:" in of_node
    assert f"{namespace}" in of_node.partition("Non-terminated Pods:")[2]
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT.replace("REPLICAS", "2"))
    assert "RollingUpdateStrategy:" in kubectl("describe", "deployment", "web")
    assert "no room anywhere" in kubectl("get", "events")


# --- changing ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_apply_on_the_clients_side_merges_three_ways(kubectl: Kubectl) -> None:
    two, three = (DEPLOYMENT.replace("REPLICAS", number) for number in "23")

    assert kubectl("apply", "-f", "-", stdin=two) == "deployment.apps/web created\n"
    assert kubectl("apply", "-f", "-", stdin=two) == "deployment.apps/web unchanged\n"
    kubectl("label", "deployment", "web", "kept=yes")
    assert "configured" in kubectl("apply", "-f", "-", stdin=three)
    assert "-  replicas: 3" in kubectl("diff", "-f", "-", stdin=two, code=1)
    assert "(server dry run)" in kubectl("apply", "--dry-run=server", "-f", "-", stdin=two)
    found = kubectl.value("get", "deployment", "web")
    assert found["spec"]["replicas"] == 3
    assert found["metadata"]["labels"] == {"kept": "yes"}


@pytest.mark.slow
def test_apply_on_the_servers_side_guards_fields_of_others(kubectl: Kubectl) -> None:
    two, four = (DEPLOYMENT.replace("REPLICAS", number) for number in "24")
    mine = ("apply", "--server-side", "--field-manager=mine", "-f", "-")
    other = ("apply", "--server-side", "--field-manager=other", "-f", "-")

    assert kubectl(*mine, stdin=two) == "deployment.apps/web serverside-applied\n"
    refused = kubectl(*other, stdin=four, code=1)
    assert "conflict" in refused
    assert ".spec.replicas" in refused
    assert "serverside-applied" in kubectl(*other, "--force-conflicts", stdin=four)
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "4"


@pytest.mark.slow
def test_labels_and_annotations_come_and_go(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a"))

    assert kubectl("label", "pod", "a", "tier=x") == "pod/a labeled\n"
    assert "already has a value" in kubectl("label", "pod", "a", "tier=y", code=1)
    assert "labeled" in kubectl("label", "--overwrite", "pod", "a", "tier=y")
    assert kubectl("annotate", "pod", "a", "why=because").startswith("pod/a annotate")
    metadata = kubectl.value("get", "pod", "a")["metadata"]
    assert metadata["labels"] == {"app": "web", "tier": "y"}
    assert metadata["annotations"] == {"why": "because"}
    kubectl("label", "pod", "a", "tier-", "app-")
    assert "labels" not in kubectl.value("get", "pod", "a")["metadata"]


@pytest.mark.slow
def test_patches_of_three_kinds_change_what_they_say(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT.replace("REPLICAS", "2"))
    patch = ("patch", "deployment", "web", "--type")

    json_patch = '[{"op": "replace", "path": "/spec/replicas", "value": 5}]'
    assert kubectl(*patch, "json", "-p", json_patch) == "deployment.apps/web patched\n"
    kubectl(*patch, "merge", "-p", '{"spec": {"minReadySeconds": 7}}')
    side = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}'
    kubectl(*patch, "strategic", "-p", side)

    spec = kubectl.value("get", "deployment", "web")["spec"]
    assert (spec["replicas"], spec["minReadySeconds"]) == (5, 7)
    assert {each["name"] for each in spec["template"]["spec"]["containers"]} == {"main", "side"}
    assert "patched (no change)" in kubectl(*patch, "merge", "-p", '{"spec": {"replicas": 5}}')
    missing = '[{"op": "remove", "path": "/spec/nope"}]'
    assert "The request is invalid" in kubectl(*patch, "json", "-p", missing, code=1)


@pytest.mark.slow
def test_objects_are_edited_and_replaced(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT.replace("REPLICAS", "2"))

    edited = kubectl("edit", "deployment", "web", KUBE_EDITOR="sed -i s/replicas:.2/replicas:\\ 6/")
    assert edited == "deployment.apps/web edited\n"
    assert "image updated" in kubectl("set", "image", "deployment/web", "main=nginx:2")
    found = kubectl.value("get", "deployment", "web")["spec"]
    assert found["replicas"] == 6
    assert found["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    one = DEPLOYMENT.replace("REPLICAS", "1")
    assert kubectl("replace", "-f", "-", stdin=one) == "deployment.apps/web replaced\n"
    assert "service/web exposed" in kubectl("expose", "deployment", "web", "--port=80")


@pytest.mark.slow
def test_workloads_are_scaled_and_rolled_out(kubectl: Kubectl, server: RunningServer) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT.replace("REPLICAS", "2"))

    wrong = ("scale", "deployment/web", "--current-replicas=9", "--replicas=3")
    assert "Expected replicas to be 9, was 2" in kubectl(*wrong, code=1)
    assert kubectl("scale", "deployment/web", "--replicas=3") == "deployment.apps/web scaled\n"
    status = ("rollout", "status", "deployment/web")
    assert "Waiting for deployment" in kubectl(*status, "--timeout=1s", code=1)
    assert "restarted" in kubectl("rollout", "restart", "deployment/web")
    with kubectl.started(*status) as rollout:
        assert "Waiting for deployment" in rollout.line()
        found = kubectl.value("get", "deployment", "web")
        counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
        done = {"observedGeneration": found["metadata"]["generation"], **dict.fromkeys(counts, 3)}
        write_status(server, found, "deployments", **done)
        lines = [rollout.line()]
        while "Waiting" in lines[-1]:
            lines.append(rollout.line())
        assert lines[-1] == 'deployment "web" successfully rolled out'


@pytest.mark.slow
def test_waiting_ends_when_the_condition_is_met(kubectl: Kubectl, server: RunningServer) -> None:
    created = kubectl.value("create", "-f", "-", stdin=pod_manifest("a"))
    wait = ("wait", "--for=condition=Ready", "pod/a")

    assert "timed out waiting" in kubectl(*wait, "--timeout=1s", code=1)
    with kubectl.started(*wait, PATIENTLY) as waiting:
        ready = [{"type": "Ready", "status": "True"}]
        write_status(server, created, "pods", phase="Running", conditions=ready)
        assert waiting.line() == "pod/a condition met"
    if kubectl.release >= (1, 23):
        wanted = "--for=jsonpath={.status.phase}=Running"
        assert "condition met" in kubectl("wait", wanted, "pod/a", PATIENTLY)
    with kubectl.started("wait", "--for=delete", "pod/a", PATIENTLY) as waiting:
        kubectl("delete", "pod", "a", "--wait=false")
        assert waiting.ended() == 0 or kubectl.release < (1, 23)


@pytest.mark.slow
def test_objects_are_deleted_by_name_by_label_and_all_at_once(kubectl: Kubectl, node: str) -> None:
    for name in ("a", "b", "c"):
        kubectl("create", "-f", "-", stdin=pod_manifest(name))
    kubectl("label", "pod", "b", "tier=x")

    assert 'pod "a" deleted' in kubectl("delete", "pod", "a")
    assert 'pod "b" deleted' in kubectl("delete", "pods", "-l", "tier=x")
    assert 'pod "c" deleted' in kubectl("delete", "pods", "--all")
    assert "NotFound" in kubectl("delete", "pod", "a", code=1)
    assert kubectl("delete", "pod", "a", "--ignore-not-found") == ""
    slow = pod_manifest("d", node).replace("GracePeriodSeconds: 0", "GracePeriodSeconds: 30")
    kubectl("create", "-f", "-", stdin=slow)
    assert "deleted" in kubectl("delete", "pod", "d", "--wait=false")
    assert "Terminating" in kubectl("get", "pod", "d")
    assert "force deleted" in kubectl("delete", "pod", "d", "--grace-period=0", "--force")
    assert kubectl("get", "pods").startswith("No resources found")


# --- nodes ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nodes_are_cordoned_and_tainted(kubectl: Kubectl, node: str) -> None:
    assert kubectl("cordon", node) == f"node/{node} cordoned\n"
    assert kubectl("cordon", node) == f"node/{node} already cordoned\n"
    assert "Ready,SchedulingDisabled" in kubectl("get", "node", node)
    assert kubectl("uncordon", node) == f"node/{node} uncordoned\n"
    assert kubectl("taint", "node", node, "k=v:NoSchedule") == f"node/{node} tainted\n"
    assert "k=v:NoSchedule" in kubectl("describe", "node", node)
    assert kubectl("taint", "node", node, "k-") == f"node/{node} untainted\n"
    assert "taints" not in kubectl.value("get", "node", node)["spec"]


def test_a_drain_waits_for_the_disruption_budget(
    kubectl: Kubectl, server: RunningServer, node: str
) -> None:
    kubectl("create", "-f", "-", stdin=pod_manifest("a", node))
    found = kubectl.value("get", "pod", "a")
    ready = [{"type": "Ready", "status": "True"}]
    write_status(server, found, "pods", phase="Running", conditions=ready)
    budget = kubectl.value("create", "-f", "-", stdin=BUDGET)

    def allow(disruptions: int) -> None:
        counts = {"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
        counts.update(observedGeneration=1, disruptionsAllowed=disruptions)
        write_status(server, budget, "poddisruptionbudgets", **counts)

    allow(0)
    assert "--force" in kubectl("drain", node, code=1)
    refused = kubectl("drain", node, "--force", "--timeout=1s", code=1)
    assert "would violate the pod's disruption budget" in refused
    allow(1)
    drained = kubectl("drain", node, "--force", PATIENTLY)
    assert "evicting pod" in drained
    assert f"node/{node} " in drained.splitlines()[-1]
    assert kubectl("get", "pods").startswith("No resources found")


# --- exploring -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_needs_containers_says_that_there_are_none(
    kubectl: Kubectl, server: RunningServer, node: str
) -> None:
    created = kubectl.value("create", "-f", "-", stdin=pod_manifest("a", node))
    write_status(server, created, "pods", phase="Running")

    for words in ("exec a -- true", "attach a", "cp a:/etc/hosts /none"):
        said = kubectl(*words.split(), code=1)
        assert "is not supported: the pods of this server are simulated" in said


@pytest.mark.slow
def test_logs_tell_when_a_container_started_and_how_it_ended(
    kubectl: Kubectl, server: RunningServer, node: str
) -> None:
    created = kubectl.value("create", "-f", "-", stdin=pod_manifest("a", node))
    (container,) = created["spec"]["containers"]
    named = {"name": container["name"], "image": "i", "imageID": "", "ready": False}
    times = {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:05Z"}
    ended = {"terminated": {"exitCode": 1, "reason": "Error", **times}}
    started = f"Started container {container['name']}, which is simulated"
    assert "is waiting to start: ContainerCreating" in kubectl("logs", "a", code=1)
    status = {**named, "restartCount": 0, "state": {"running": {"startedAt": times["startedAt"]}}}
    write_status(server, created, "pods", phase="Running", containerStatuses=[status])
    assert started in kubectl("logs", "a")
    status = {**named, "restartCount": 0, "state": ended}
    write_status(server, created, "pods", phase="Failed", containerStatuses=[status])
    first, second, last = kubectl("logs", "-f", "--timestamps", "a").splitlines()
    assert first.startswith("2026-01-01T00:00:00.000000000Z Container image")
    assert started in second
    assert last.endswith("ended: Error, exit code 1")
    assert kubectl("logs", "--tail=1", "a").count("\n") == 1
    assert "previous terminated container" in kubectl("logs", "--previous", "a", code=1)
    assert "not found" in kubectl("logs", "nope", code=1)

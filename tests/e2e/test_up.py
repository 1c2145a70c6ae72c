"""`podium up` as a process: a whole cluster that schedules, seen from outside by HTTPS.

One cluster, ten times as fast as time, serves most tests; each has a namespace to itself and leaves
the nodes as it found them.
"""

import re
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import Kubectl, releases, required
from support.commands.command_line import EXAMPLES
from support.e2e.up_process import Objects, UpProcess, up
from support.simulated.simulated_clusters import pod_spec, workload
from support.waiting import PATIENCE_S, PATIENTLY

from podium.commands import main

FIRST_STEPS = str(EXAMPLES / "first-steps.yaml")
DEFAULT_PODS = "/api/v1/namespaces/default/pods"
numbers = count(1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpProcess]:
    directory = tmp_path_factory.mktemp("up")
    with up(directory, "--apply", FIRST_STEPS, "--speed", "10") as running:
        yield running
        assert running.end() == (0, "podium: stopped\n")


class Namespace:
    """A test's own corner of the cluster."""

    def __init__(self, cluster: UpProcess) -> None:
        self.cluster = cluster
        self.name = f"team-{next(numbers)}"
        cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
        self.pods = f"/api/v1/namespaces/{self.name}/pods"
        self.deployments = f"/apis/apps/v1/namespaces/{self.name}/deployments"

    def pod(self, name: str, cpu: str = "100m", **spec: Any) -> None:
        requests = {"resources": {"requests": {"cpu": cpu}}}
        spec = {**spec, "terminationGracePeriodSeconds": 0}
        spec["containers"] = [{"name": "c", "image": "nginx", **requests}]
        self.cluster.ask("POST", self.pods, {"metadata": {"name": name}, "spec": spec})

    def deployment(self, name: str, replicas: int, **spec: Any) -> None:
        body = workload(name, replicas)
        body["spec"]["template"]["spec"] |= pod_spec(terminationGracePeriodSeconds=0, **spec)
        self.cluster.ask("POST", self.deployments, body)

    def until(self, holds: Callable[[Objects], bool]) -> Objects:
        return self.cluster.until(self.pods, holds)

    def events(self, reason: str) -> Objects:
        """Those with a reason, once there are some."""
        path = f"/api/v1/namespaces/{self.name}/events?fieldSelector=reason={reason}"
        return self.cluster.until(path, bool)


@pytest.fixture
def namespace(cluster: UpProcess) -> Iterator[Namespace]:
    made = Namespace(cluster)
    yield made
    cluster.ask("DELETE", f"/api/v1/namespaces/{made.name}")


def running(number: int) -> Callable[[Objects], bool]:
    return lambda pods: [each["status"]["phase"] for each in pods] == ["Running"] * number


def node_of(pod: Any) -> str:
    return str(pod["spec"].get("nodeName", ""))


def on(node: str) -> dict[str, str]:
    return {"kubernetes.io/hostname": node}


def condition(obj: Any, kind: str) -> Any:
    return next((c for c in obj["status"].get("conditions", ()) if c["type"] == kind), {})


def is_pending_because(reason: str) -> Callable[[Objects], bool]:
    return lambda pods: any(reason in condition(p, "PodScheduled").get("message", "") for p in pods)


# --- the first steps -----------------------------------------------------------------------------


def test_the_pods_of_the_example_run_where_they_should(cluster: UpProcess) -> None:
    def by_app(pods: Objects, app: str) -> list[Any]:
        found = [each for each in pods if each["metadata"].get("labels", {}).get("app") == app]
        return [each for each in found if each["status"]["phase"] == "Running"]

    pods = cluster.until(
        DEFAULT_PODS, lambda pods: len(by_app(pods, "web")) == 6 and len(by_app(pods, "cache")) == 3
    )
    nodes = ["node-0", "node-1", "node-2"]
    assert sorted(map(node_of, by_app(pods, "web"))) == sorted(nodes * 2)
    assert sorted(map(node_of, by_app(pods, "cache"))) == nodes
    name, node = by_app(pods, "web")[0]["metadata"]["name"], node_of(by_app(pods, "web")[0])
    told = cluster.output.until(lambda line: f"→ default/{name} {node}: " in line)
    assert re.search(r"best of \d that fit|best among \d that fit|only node", told)
    jobs = cluster.until(
        "/apis/batch/v1/namespaces/default/jobs",
        lambda jobs: condition(jobs[0], "Complete").get("status") == "True",
    )
    assert jobs[0]["status"]["succeeded"] == 2


def test_a_pod_that_fits_nowhere_says_why_in_its_status_in_an_event_and_on_the_screen(
    cluster: UpProcess,
) -> None:
    reason = "0/3 nodes are available: 3 Insufficient cpu."
    pods = cluster.until(DEFAULT_PODS, is_pending_because(reason))
    (giant,) = [each for each in pods if each["metadata"]["name"] == "giant"]
    assert giant["status"]["phase"] == "Pending"
    assert condition(giant, "PodScheduled")["reason"] == "Unschedulable"
    about = "involvedObject.name=giant,reason=FailedScheduling"
    (event, *_) = cluster.until(
        f"/api/v1/namespaces/default/events?fieldSelector={about}",
        lambda events: any(reason in each["message"] for each in events),
    )
    assert event["type"] == "Warning"
    assert cluster.output.until(lambda line: "default/giant" in line and reason in line)


# --- an ordinary day -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_deployment_grows_shrinks_and_goes(namespace: Namespace) -> None:
    namespace.deployment("web", 2)
    namespace.until(running(2))
    scale = f"{namespace.deployments}/web/scale"
    namespace.cluster.change(scale, lambda found: found["spec"].update(replicas=5))
    namespace.until(running(5))
    namespace.cluster.change(scale, lambda found: found["spec"].update(replicas=1))
    namespace.until(running(1))
    namespace.cluster.ask("DELETE", f"{namespace.deployments}/web")
    namespace.until(lambda pods: not pods)


@pytest.mark.slow
def test_a_cordoned_node_takes_no_pods_until_it_is_uncordoned(namespace: Namespace) -> None:
    cluster, path = namespace.cluster, "/api/v1/nodes/node-0"
    cluster.change(path, lambda node: node["spec"].update(unschedulable=True))
    try:
        namespace.pod("waits", nodeSelector=on("node-0"))
        namespace.until(is_pending_because("1 node(s) were unschedulable"))
    finally:
        cluster.change(path, lambda node: node["spec"].update(unschedulable=False))
    (pod,) = namespace.until(running(1))
    assert node_of(pod) == "node-0"


@pytest.mark.slow
def test_pods_leave_a_node_that_fails(namespace: Namespace) -> None:
    cluster, path = namespace.cluster, "/api/v1/nodes/node-1"
    soon = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    namespace.deployment("web", 3, tolerations=[soon], topologySpreadConstraints=[spread])
    before = namespace.until(running(3))
    assert "node-1" in map(node_of, before)

    def fail(node: Any) -> None:
        node["metadata"].setdefault("annotations", {})["podium.dev/failure"] = "not-ready"

    cluster.change(path, fail)
    try:
        namespace.until(
            lambda pods: running(3)(pods) and "node-1" not in [node_of(each) for each in pods]
        )
    finally:
        cluster.change(path, lambda n: n["metadata"]["annotations"].pop("podium.dev/failure"))
    cluster.until("/api/v1/nodes", lambda nodes: not any(n["spec"].get("taints") for n in nodes))


@pytest.mark.slow
def test_an_important_pod_takes_the_place_of_another(namespace: Namespace) -> None:
    cluster, name = namespace.cluster, f"{namespace.name}-first"
    priority = {"metadata": {"name": name}, "value": 1000}
    cluster.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority)
    namespace.pod("filler", "4", nodeSelector=on("node-2"))
    namespace.until(running(1))
    namespace.pod("vip", "5", nodeSelector=on("node-2"), priorityClassName=name)
    namespace.until(lambda pods: running(1)(pods) and pods[0]["metadata"]["name"] == "vip")
    (event,) = namespace.events("Preempted")
    assert event["involvedObject"]["name"] == "filler"
    line = f"x {namespace.name}/filler has to leave node-2 for {namespace.name}/vip"
    assert cluster.output.until(lambda said: said.endswith(line))


# --- kubectl -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=releases())
def kubectl(
    request: pytest.FixtureRequest, cluster: UpProcess, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    path = required(request.param)
    home = tmp_path_factory.mktemp("home")
    return Kubectl(path, request.param, cluster.server.kubeconfig, home)


def test_kubectl_shows_why_a_pod_is_pending(cluster: UpProcess, kubectl: Kubectl) -> None:
    reason = "0/3 nodes are available: 3 Insufficient cpu."
    cluster.until("/api/v1/namespaces/default/events", lambda events: reason in str(events))
    told = kubectl("describe", "pod", "giant")
    assert "FailedScheduling" in told
    assert reason in told
    assert kubectl("get", "pod", "giant", "--no-headers").split()[:3] == ["giant", "0/1", "Pending"]


def test_kubectl_runs_a_deployment_through_its_day(namespace: Namespace, kubectl: Kubectl) -> None:
    here = kubectl.within(namespace.name)
    here("create", "deployment", "web", "--image=nginx")
    here("scale", "deployment", "web", "--replicas=3")
    assert "successfully rolled out" in here("rollout", "status", "deployment/web", PATIENTLY)
    here("set", "image", "deployment/web", "nginx=nginx:2")
    here("rollout", "status", "deployment/web", PATIENTLY)
    node = here("get", "pods", "-o", "jsonpath={.items[0].spec.nodeName}")
    assert f"node/{node} cordoned" in here("cordon", node)
    here("run", "late", "--image=nginx")
    here("wait", "--for=condition=Ready", "pod/late", PATIENTLY)
    assert here("get", "pod", "late", "-o", "jsonpath={.spec.nodeName}") != node
    assert f"node/{node} uncordoned" in here("uncordon", node)
    here("delete", "deployment", "web", "--cascade=foreground", PATIENTLY)
    assert here("get", "pods", "-o", "name") == "pod/late\n"


# --- the end, and going on -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_cluster_that_is_kept_goes_on_where_it_stopped(tmp_path: Path) -> None:
    arguments = ("2", "--data", str(tmp_path / "kept"), "--speed", "10", "--quiet")

    with up(tmp_path, *arguments) as first:
        mine = Namespace(first)
        mine.deployment("web", 3)
        mine.pod("huge", "100")
        mine.until(lambda pods: running(3)([p for p in pods if node_of(p)]))
        pods = mine.until(is_pending_because("Insufficient cpu"))
        placed = {each["metadata"]["name"]: node_of(each) for each in pods}
        with closing(first.server.connect()) as watching:
            watching.request("GET", f"{mine.pods}?watch=1", headers=_credentials(first))
            assert watching.getresponse().status == 200
            assert first.end(signal.SIGINT) == (0, "podium: stopped\n")
        assert not any("web" in line for line in first.output.lines)

    with up(tmp_path, *arguments) as second:
        found = second.ask("GET", mine.pods)["items"]
        assert {each["metadata"]["name"]: node_of(each) for each in found} == placed
        mine.cluster = second
        scale = f"{mine.deployments}/web/scale"
        second.change(scale, lambda found: found["spec"].update(replicas=6))
        mine.until(lambda pods: running(6)([p for p in pods if node_of(p)]))
        assert second.end() == (0, "podium: stopped\n")


@pytest.mark.slow
def test_a_kind_that_the_server_does_not_know_is_warned_of_and_the_rest_is_applied(
    tmp_path: Path,
) -> None:
    chart = tmp_path / "chart.yaml"
    unknown = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\n"
    known = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    chart.write_text(f"{unknown}---\n{known}")
    with up(tmp_path, "--apply", str(chart)) as running:
        named = "/api/v1/namespaces/default/configmaps"
        running.until(named, lambda found: "settings" in {p["metadata"]["name"] for p in found})
        code, told = running.end()
    assert code == 0
    assert told == (
        f"podium: warning: {chart}: document 1 (line 1): no matches for kind "
        '"ServiceMonitor" in version "monitoring.coreos.com/v1"; ensure CRDs are installed first\n'
        "podium: stopped\n"
    )


def _credentials(cluster: UpProcess) -> dict[str, str]:
    return {"Authorization": f"Bearer {cluster.server.token}"}


def test_the_kubeconfig_of_a_cluster_that_has_ended_says_how_to_start_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with up(tmp_path, "1", "--no-page") as cluster:
        process = cluster.process.pid
        assert cluster.end()[0] == 0
    kubeconfig = ("--kubeconfig", str(tmp_path / "kubeconfig"))
    for command in (
        ("explain", "web", *kubeconfig),
        ("explain", "web", "--recorded", *kubeconfig),
        ("nodes", "1", *kubeconfig),
    ):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == (
            f"podium: the cluster of this kubeconfig was `podium up`, process {process}, which has"
            f" ended; start it again with `podium up --port 0 --kubeconfig-out"
            f" {tmp_path}/kubeconfig 1 --no-page`"
        )


def test_a_store_that_cannot_be_written_ends_the_cluster_with_the_reason(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with up(tmp_path, "1", "--data", str(data)) as cluster:
        size = (data / "objects.sqlite-wal").stat().st_size
        resource.prlimit(cluster.process.pid, resource.RLIMIT_FSIZE, (size, size))
        large = {"metadata": {"name": "large"}, "data": {"k": "x" * 100_000}}
        path = "/api/v1/namespaces/default/configmaps"
        status, answer = cluster.server.ask("POST", path, large)
        assert (status, answer["message"].partition(":")[0]) == (500, "the store cannot be written")
        assert cluster.process.wait(PATIENCE_S) == 2
        assert cluster.process.stderr is not None
        said = cluster.process.stderr.read()
    assert f"podium: {data}: cannot be written: " in said
    assert "Traceback" not in said
    assert "this is a bug" not in said

"""`podium run` as a process of its own, against a real server over TLS."""

import json
import re
import signal
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import yaml
from support.apiserver.apiserver_process import ApiServer, serving
from support.deploy.account_kubeconfig import account_kubeconfig
from support.e2e.given_cluster import given_server
from support.e2e.scheduler_process import SchedulerProcess, running_scheduler
from support.user_code.plugin_files import UNORDERED
from support.waiting import PATIENCE_S
from support.waiting import wait_until as until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
PODS = "/api/v1/namespaces/default/pods"
NODE = {
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
PLUGIN = """
from podium.plugin import NodeFilterPlugin

class NeverHere(NodeFilterPlugin):
    name = "NeverHere"

    def filter_node(self, pod, node):
        return "not on my watch" if pod.metadata.name.startswith("unwanted") else None
"""

SECOND_TIME = """
from podium.plugin import Action, Registration, ReservePlugin, Resource, unschedulable

class SecondTime(ReservePlugin):
    name = "SecondTime"
    seen = False

    def events(self):
        return (Registration(Resource.STORAGE_CLASS, Action.ADD),)

    def reserve(self, cycle, node_name):
        if cycle.pod.pod.metadata.name != "stubborn" or self.seen:
            return None
        self.seen = True
        return unschedulable("once more, please")

    def unreserve(self, cycle, node_name):
        pass
"""


@contextmanager
def scheduler(server: ApiServer, directory: Path, *arguments: str) -> Iterator[SchedulerProcess]:
    flags = (*arguments, "--kubeconfig", str(server.kubeconfig))
    with running_scheduler(directory, *flags) as process:
        yield process


@pytest.fixture(scope="module", params=["administrator", "deployed account", "given cluster"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    """The kubeconfig is the administrator's, or has the rights that `deploy/` grants, no others; so
    it does for a cluster that is given."""
    directory = tmp_path_factory.mktemp("server")
    is_given = request.param == "given cluster"
    with given_server() if is_given else serving(directory) as running:
        status, _ = running.ask("POST", "/api/v1/nodes", NODE)
        assert status == 201
        if request.param != "administrator":
            # What the test itself asks is still asked by the administrator.
            running.kubeconfig = account_kubeconfig(running, directory)
        yield running


def create(server: ApiServer, name: str, cpu: str = "100m") -> None:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    body = {"metadata": {"name": name}, "spec": {"containers": [container]}}
    status, told = server.ask("POST", PODS, body)
    assert status == 201, told


def node_of(server: ApiServer, name: str) -> str:
    return str(server.ask("GET", f"{PODS}/{name}")[1]["spec"].get("nodeName", ""))


def why_pending(server: ApiServer, name: str) -> str:
    conditions = server.ask("GET", f"{PODS}/{name}")[1]["status"].get("conditions", [])
    return "".join(each.get("message", "") for each in conditions)


def holder(server: ApiServer) -> str:
    status, lease = server.ask("GET", LEASE)
    return str(lease["spec"]["holderIdentity"]) if status == 200 else ""


def test_pods_are_bound_and_the_lease_is_given_back(server: ApiServer, tmp_path: Path) -> None:
    with scheduler(server, tmp_path, "--secure-port=0") as process:
        create(server, "a")
        assert until(lambda: node_of(server, "a")) == "n1"
        assert re.fullmatch(r".+_[0-9a-f-]{36}", holder(server))
        create(server, "large", "64")
        assert until(lambda: why_pending(server, "large")).startswith("0/1 nodes are available")
        assert process.stopped() == 0
    assert holder(server) == ""
    assert '"Successfully acquired lease" lock="kube-system/kube-scheduler"' in process.said
    assert '"Requested to terminate, exiting"' in process.said
    events = server.ask("GET", "/api/v1/namespaces/default/events")[1]["items"]
    told = {(each["involvedObject"]["name"], each["reason"]) for each in events}
    assert {("a", "Scheduled"), ("large", "FailedScheduling")} <= told


@pytest.mark.slow
def test_a_standby_takes_over_from_one_that_ends(server: ApiServer, tmp_path: Path) -> None:
    quick = ("--secure-port=0", "--leader-elect-retry-period=100ms")
    with scheduler(server, tmp_path, *quick) as first:
        before = until(lambda: holder(server))
        with scheduler(server, tmp_path, *quick) as second:
            until(lambda: "Attempting to acquire" in second.said)
            assert first.stopped(signal.SIGINT) == 0
            until(lambda: holder(server) not in ("", before))
            create(server, "later")
            assert until(lambda: node_of(server, "later")) == "n1"
            assert second.stopped() == 0


@pytest.mark.slow
def test_whoever_loses_the_lease_stops_and_says_so(server: ApiServer, tmp_path: Path) -> None:
    quick = ("--leader-elect-renew-deadline=1s", "--leader-elect-retry-period=200ms")
    with scheduler(server, tmp_path, "--secure-port=0", *quick) as process:
        mine = until(lambda: holder(server))
        until(lambda: "Successfully acquired lease" in process.said)
        _, lease = server.ask("GET", LEASE)
        lease["spec"] |= {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3600}
        until(lambda: _put(server, lease))
        assert process.running.wait(PATIENCE_S) == 1
        assert '"Leaderelection lost"' in process.said
        assert holder(server) == "somebody-else"
        assert mine != "somebody-else"
    assert server.ask("DELETE", LEASE)[0] == 200


def _put(server: ApiServer, lease: dict[str, Any]) -> bool:
    """Whether an update went through; who holds the lease writes to it as well."""
    _, latest = server.ask("GET", LEASE)
    lease["metadata"]["resourceVersion"] = latest["metadata"]["resourceVersion"]
    return server.ask("PUT", LEASE, lease)[0] == 200


@pytest.mark.slow
def test_a_plugin_of_ones_own_has_its_say(server: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    flags = ("--secure-port=0", "--leader-elect=false", "--plugin", "mine.py")
    with scheduler(server, tmp_path, *flags) as process:
        create(server, "unwanted")
        create(server, "wanted")
        assert until(lambda: node_of(server, "wanted")) == "n1"
        assert "1 not on my watch" in until(lambda: why_pending(server, "unwanted"))
        assert process.stopped() == 0


@pytest.mark.slow
def test_a_plugin_can_be_rewritten_while_it_is_at_work(server: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PLUGIN)
    flags = ("--secure-port=0", "--plugin", "mine.py", "--reload")
    with scheduler(server, tmp_path, *flags) as process:
        create(server, "unwanted-at-first")
        assert "not on my watch" in until(lambda: why_pending(server, "unwanted-at-first"))
        file.write_text("class Half(")
        until(lambda: "those before stay in force" in process.said)
        file.write_text(PLUGIN.replace("unwanted", "hated"))
        assert until(lambda: node_of(server, "unwanted-at-first")) == "n1"
        assert '"Plugins have changed, starting anew" files="mine.py"' in process.said
        create(server, "hated")
        assert "not on my watch" in until(lambda: why_pending(server, "hated"))
        assert process.stopped() == 0
    assert holder(server) == ""


@pytest.mark.slow
def test_a_pod_that_no_event_wakes_is_tried_again_after_the_time_that_a_flag_gives(
    server: ApiServer, tmp_path: Path
) -> None:
    (tmp_path / "second.py").write_text(SECOND_TIME)
    flags = ("--secure-port=0", "--leader-elect=false", "--plugin", "second.py")
    with scheduler(
        server, tmp_path, *flags, "--pod-max-in-unschedulable-pods-duration=5s"
    ) as process:
        create(server, "stubborn")
        assert "once more" in until(lambda: why_pending(server, "stubborn"))
        assert until(lambda: node_of(server, "stubborn")) == "n1"  # by default after five minutes
        assert process.stopped() == 0


class Endpoints:
    """The pages of a scheduler, over TLS; its certificate is its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE

    def get(self, path: str, token: str = "") -> tuple[int, str]:
        request = Request(f"https://127.0.0.1:{self._port}{path}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urlopen(request, timeout=PATIENCE_S, context=self._context) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()
        except URLError:
            return 0, ""


def test_health_metrics_and_configuration_are_served_to_who_may_see_them(
    server: ApiServer, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kubeconfig = str(server.kubeconfig)
    flags = (
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
    )
    pages = Endpoints(port)
    with scheduler(server, tmp_path, *flags) as process:
        assert until(lambda: pages.get("/livez") == (200, "ok"))
        assert until(lambda: pages.get("/readyz") == (200, "ok"))
        assert pages.get("/metrics")[0] == 403
        assert pages.get("/metrics", "not-a-token")[0] == 401
        create(server, "counted")
        until(lambda: node_of(server, "counted"))

        scheduled = re.compile(
            r'^scheduler_schedule_attempts_total\{.*result="scheduled"\} [1-9]', re.MULTILINE
        )
        until(lambda: scheduled.search(pages.get("/metrics", server.token)[1]))
        _, text = pages.get("/metrics", server.token)
        assert 'rest_client_requests_total{code="201"' in text
        _, text = pages.get("/configz", server.token)
        configuration = json.loads(text)["componentconfig"]
        assert configuration["kind"] == "KubeSchedulerConfiguration"
        assert "kube_pod_resource_request" in pages.get("/metrics/resources", server.token)[1]
        assert process.stopped() == 0
    assert "Serving securely on" in process.said


@pytest.mark.slow
def test_the_lease_the_limits_and_the_writes_are_counted(server: ApiServer, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = (
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--authorization-always-allow-paths=/metrics",
        "--leader-elect-retry-period=100ms",
    )
    pages = Endpoints(port)

    def shown(series: str) -> float:
        text = pages.get("/metrics")[1]
        found = re.search(rf"^{series}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    with scheduler(server, tmp_path, "--secure-port=0") as first:
        until(lambda: holder(server))
        with scheduler(server, tmp_path, *flags) as standby:
            standing_by = 'leader_election_master_status{name="kube-scheduler"} 0.0'
            until(lambda: standing_by in pages.get("/metrics")[1])
            assert first.stopped() == 0
            until(lambda: shown("leader_election_master_status") == 1)
            _, lease = server.ask("GET", LEASE)
            lease["metadata"]["labels"] = {"team": "x"}
            until(lambda: _put(server, lease))
            until(lambda: shown("leader_election_slowpath_total") >= 1)
            create(server, "timed")
            until(lambda: node_of(server, "timed"))
            until(lambda: shown("scheduler_async_api_call_execution_total") >= 1)
            until(lambda: shown("scheduler_pod_scheduling_attempts_count") >= 1)
            text = pages.get("/metrics")[1]
            for point in ("PreBind", "Bind", "PostBind"):
                assert f'duration_seconds_count{{extension_point="{point}"' in text
            assert 'event_handling_duration_seconds_count{event="NodeAdd"} 1.0' in text
            limited = r'rest_client_rate_limiter_duration_seconds_count\{.*verb="POST"\} [1-9]'
            assert re.search(limited, text)
            assert standby.stopped() == 0


def grant_config_maps(server: ApiServer) -> None:
    """Schedulers need no right to read them but for this old flag."""
    named = {"metadata": {"name": "policy"}}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "policy"}
    subject = {"kind": "ServiceAccount", "name": "podium", "namespace": "kube-system"}
    in_namespace = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system"
    for plural, more in (
        ("roles", {"rules": [rule]}),
        ("rolebindings", {"roleRef": reference, "subjects": [subject]}),
    ):
        assert server.ask("POST", f"{in_namespace}/{plural}", {**named, **more})[0] == 201


@pytest.mark.slow
def test_a_policy_in_a_config_map_is_fetched(server: ApiServer, tmp_path: Path) -> None:
    policy = {"apiVersion": "v1", "kind": "Policy", "priorities": [], "predicates": []}
    body = {"metadata": {"name": "old"}, "data": {"policy.cfg": json.dumps(policy)}}
    assert server.ask("POST", "/api/v1/namespaces/kube-system/configmaps", body)[0] == 201
    grant_config_maps(server)
    flags = ("--secure-port=0", "--policy-configmap=old", "--write-config-to=effective.yaml")
    with scheduler(server, tmp_path, *flags) as process:
        assert process.running.wait(PATIENCE_S) == 0, process.said
    effective = yaml.safe_load((tmp_path / "effective.yaml").read_text())
    (profile,) = effective["profiles"]
    assert not profile["plugins"]["score"].get("enabled")
    with scheduler(server, tmp_path, "--secure-port=0", "--policy-configmap=none") as refused:
        assert refused.running.wait(PATIENCE_S) == 1
    assert "couldn't get policy config map kube-system/none" in refused.said


@pytest.mark.slow
def test_a_server_that_is_away_is_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", str(tmp_path / "data")) as first:
        assert first.ask("POST", "/api/v1/nodes", NODE)[0] == 201
        port = first.url.rpartition(":")[2]
        flags = ("--secure-port=0", "--leader-elect=false")
        with scheduler(first, tmp_path, *flags) as process:
            create(first, "early")
            until(lambda: node_of(first, "early"))
            first.stop()
            with serving(tmp_path, "--data", str(tmp_path / "data"), "--port", port) as second:
                create(second, "late")
                assert until(lambda: node_of(second, "late")) == "n1"
                assert process.stopped() == 0


ENDLESS = """
from podium.plugin import NodeFilterPlugin

class Endless(NodeFilterPlugin):
    name = "Endless"

    def filter_node(self, pod, node):
        while pod.metadata.name == "endless": pass
        return None
"""


@pytest.mark.slow
def test_a_plugin_that_loops_fails_its_pod_and_others_are_bound(
    server: ApiServer, tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    flags = ("--secure-port=0", "--plugin=endless.py", "--plugin-timeout=200ms")
    with scheduler(server, tmp_path, *flags) as process:
        create(server, "endless")
        told = until(lambda: why_pending(server, "endless"))
        assert told == (
            'running "Endless" filter plugin: filter of plugin Endless took longer than 0.2s'
            " (endless.py, line 8): make it quicker, or allow it more with --plugin-timeout"
        )
        create(server, "beside-endless")
        assert until(lambda: node_of(server, "beside-endless")) == "n1"
        until(lambda: process.said.count('pod="default/endless"') > 1)
        assert node_of(server, "endless") == ""
        assert process.stopped() == 0
    server.ask("DELETE", f"{PODS}/endless")


UNORDERED_CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: %s}
profiles:
- plugins:
    queueSort: {enabled: [{name: Unordered}], disabled: [{name: "*"}]}
"""
NO_ORDER = "plugin Unordered cannot order the queue: LookupError: no order (unordered.py, line 8)"


@pytest.mark.slow
@pytest.mark.parametrize("elects", ["true", "false"])
def test_an_order_that_breaks_ends_the_scheduler_with_code_2_and_loses_no_pod(
    server: ApiServer, tmp_path: Path, elects: str
) -> None:
    (tmp_path / "unordered.py").write_text(UNORDERED)
    configuration = UNORDERED_CONFIGURATION % (server.kubeconfig, elects)
    (tmp_path / "config.yaml").write_text(configuration)
    flags = ("--plugin=unordered.py", "--config=config.yaml", "--secure-port=0")
    names = (f"first-unordered-{elects}", f"second-unordered-{elects}")
    for name in names:
        create(server, name)
    with scheduler(server, tmp_path, *flags) as process:
        assert process.running.wait(PATIENCE_S) == 2, process.said
        lines = [line for line in process.said.splitlines() if NO_ORDER in line]
        assert len(lines) == 1
        assert "passed over" not in process.said
        assert "goes on" not in process.said
    with scheduler(server, tmp_path, "--secure-port=0", "--leader-elect=false"):
        for name in names:
            assert until(partial(node_of, server, name)) == "n1"

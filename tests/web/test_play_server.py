"""Steps of Play through the socket: who may take them, and which there are."""

import asyncio
import json
import shlex
import subprocess
from http.client import HTTPConnection
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from support.commands.document_schemas import require_valid
from support.e2e.up_process import UpProcess
from support.waiting import PATIENCE_S
from support.web.page_at_work import PageAtWork

from podium.client import KubeClient
from podium.golang.documents import read_documents
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.decision_notices import DecisionNotices
from podium.scheduler.config.load import load_configuration
from podium.testing import FakeCluster, make_node, make_pod
from podium.web.access import Refused
from podium.web.play import BURST, RATE_PER_S, Play
from podium.web.play_commands import here_document
from podium.web.play_decisions import MAX_KEPT, RecentDecisions
from podium.web.play_examples import play_examples
from podium.web.play_steps import MAX_STEP_BYTES
from podium.web.play_weights import PlayWeights, WrongWeights

CORDON = {"step": "cordon", "node": "node-2"}
PROFILE = "default-scheduler"


class Player:
    """Sends steps as the page's own scripts would, or otherwise."""

    def __init__(self, link: str) -> None:
        split = urlsplit(link)
        self.host, self.port = split.netloc, split.port or 0
        self.token = split.query.partition("=")[2]
        self.own = {
            "Host": self.host,
            "Origin": f"http://{self.host}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Sec-Fetch-Site": "same-origin",
        }

    def send(
        self, step: Any, path: str = "/play/steps", method: str = "POST", **headers: Any
    ) -> tuple[int, bytes]:
        """`None` leaves a header out."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        body = step if isinstance(step, bytes) else json.dumps(step).encode()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**self.own, "Content-Length": str(len(body)), **changed}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        return answer.status, told

    def take(self, **step: Any) -> Any:
        status, told = self.send(step)
        assert status == 200, told
        document = json.loads(told)
        require_valid(document)
        return document


@pytest.fixture
def player(played: UpProcess) -> Player:
    return Player(played.output.lines[0].rpartition("  ")[2])


def test_another_site_takes_no_step_though_its_visitor_may(
    player: Player, played: UpProcess
) -> None:
    refused: list[tuple[int, dict[str, Any]]] = [
        (401, {"Authorization": None}),
        (401, {"Authorization": "Bearer wrong"}),
        (401, {"Authorization": None, "Cookie": f"podium-page-{player.port}={player.token}"}),
        (403, {"Origin": None}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://evil.example.com"}),
        (403, {"Origin": f"https://{player.host}"}),
        (403, {"Origin": f"http://localhost:{player.port}"}),
        (403, {"Sec_Fetch_Site": "cross-site"}),
        (403, {"Sec_Fetch_Site": "same-site"}),
        (403, {"Sec_Fetch_Site": "none"}),
        (421, {"Host": "evil.example.com", "Origin": "http://evil.example.com"}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": "application/x-www-form-urlencoded"}),
        (415, {"Content_Type": None}),
    ]
    for status, headers in refused:
        assert player.send(CORDON, **headers)[0] == status, headers
    with_link = f"/play/steps?token={player.token}"
    assert player.send(CORDON, with_link, Authorization=None)[0] == 401
    node = played.ask("GET", "/api/v1/nodes/node-2")
    assert "unschedulable" not in node["spec"]


def test_only_steps_are_taken_and_only_at_their_path(player: Player) -> None:
    for path in ("/data/play", "/play", "/play/steps/x", "/"):
        assert player.send(CORDON, path)[0] == 405
    assert player.send(CORDON, method="PUT")[0] == 405
    assert player.send(b"", method="GET")[0] == 404
    long = {"step": "create", "yaml": "#" * MAX_STEP_BYTES}
    assert player.send(long)[0] == 413
    for wrong in (
        b"",
        b"\xff",
        b"[" * 5_000,
        {"step": "create"},
        {"step": "apply", "yaml": ""},
        {"step": "cordon", "node": ""},
        {"step": "cordon", "node": ".."},
        {"step": "cordon", "node": "a/../../secrets/b"},
        {"step": "delete", "kind": "pod", "name": "x", "namespace": "../kube-system"},
        {**CORDON, "more": 1},
        {"step": "weights", "profile": PROFILE, "weights": {"NodeAffinity": 1.5}},
    ):
        status, told = player.send(wrong)
        assert status == 400, wrong
        assert told.startswith(b"this is no step: ")


def test_what_play_is_not_about_is_told_with_the_command_that_does_it(player: Player) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"
    told = player.take(step="create", yaml=secret)
    assert "Play creates Pod" in told["problem"]
    assert told["commands"] == [f"kubectl create --filename=- <<'EOF'\n{secret}EOF"]
    for step in (
        {"kind": "secret", "name": "x", "namespace": "default"},
        {"kind": "pod", "name": "x"},
        {"kind": "node", "name": "x", "namespace": "default"},
    ):
        assert "Play deletes" in player.take(step="delete", **step)["problem"]
    many = "---\n".join("apiVersion: v1\nkind: Pod\n" for _ in range(21))
    assert "20 at a time" in player.take(step="create", yaml=many)["problem"]
    gone = player.take(step="delete", kind="pod", name="x", namespace="default")
    assert gone["problem"] == 'Error from server (NotFound): pods "x" not found'


def test_admission_refuses_what_it_would_refuse_of_kubectl(player: Player) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: nowhere}\n"
    told = player.take(step="create", yaml=pod + "spec: {containers: [{name: m, image: x}]}\n")
    assert told["problem"].startswith("Error from server (")
    assert "nowhere" in told["problem"]
    unknown = pod.replace("nowhere", "default") + "spec: {containers: [], colour: red}\n"
    assert 'unknown field "spec.colour"' in player.take(step="create", yaml=unknown)["problem"]


def test_documents_of_play_are_as_their_schemas_say(player: Player) -> None:
    for path, kind in (
        ("play", "PlayView"),
        ("play?q=node-1", "PlayView"),
        (f"play/examples/{PROFILE}", "PlayExamples"),
        ("overview", "PageOverview"),
    ):
        status, told = player.send(b"", f"/data/{path}", "GET")
        assert status == 200
        found = json.loads(told)
        assert found["kind"] == kind
        require_valid(found)
    assert player.send(b"", "/data/play/examples/nobody", "GET")[0] == 404


def test_a_page_without_play_takes_no_steps(small_page: PageAtWork) -> None:
    player = Player(small_page.link)
    assert player.send(CORDON)[0] == 405
    assert player.send(b"", "/data/play", "GET")[0] == 404
    assert json.loads(player.send(b"", "/data/overview", "GET")[1])["play"] is False


# --- without a server -----------------------------------------------------------------------------


def test_steps_are_bounded_in_rate() -> None:
    now = [0.0]

    async def hurry() -> list[int]:
        engine = FakeCluster(make_node("a")).engine
        play = Play(lambda: engine, _no_client(), RecentDecisions(), lambda: now[0])
        return [await _status(play) for _ in range(BURST + 2)] + [await _later(play, now)]

    *first, last, after = asyncio.run(hurry())
    assert first == [400] * BURST + [429]
    assert (last, after) == (429, 400)


async def _status(play: Play) -> int:
    with pytest.raises(Refused) as refusal:
        await play.take_step(b"{}")
    return refusal.value.status


async def _later(play: Play, now: list[float]) -> int:
    now[0] += 1 / RATE_PER_S
    return await _status(play)


def _no_client() -> KubeClient:
    return KubeClient(cast("Any", None))


@pytest.mark.parametrize("text", ["a\n", "EOF\nb\n", "EOF\nEOF1\n$(false) `x` 'y' \\", ""])
def test_a_shell_gives_back_what_a_here_document_holds(text: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"cat {here_document(text)}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == text.splitlines()


def test_decisions_are_kept_up_to_a_bound_the_newest_first() -> None:
    decisions = RecentDecisions()
    cluster = FakeCluster(make_node("a", allocatable={"cpu": "1", "pods": 9}), validate=False)
    cluster.engine.observers.add(DecisionNotices(lambda: 0.0, decisions.note))
    for number in range(MAX_KEPT + 5):
        cluster.schedule(make_pod(f"p-{number}", requests={"cpu": "2"}))
    listed = decisions.document()
    assert len(listed) == MAX_KEPT
    assert listed[0].number == decisions.count == MAX_KEPT + 5
    assert listed[0].pod == f"default/p-{MAX_KEPT + 4}"
    assert listed[0].reason == "Insufficient cpu"


def test_each_profile_has_weights_of_its_own_and_a_file_has_all_of_them() -> None:
    engine = FakeCluster(make_node("a"), profiles=[PROFILE, "packing"]).engine
    before = engine.configuration
    weights = PlayWeights(lambda: engine)
    weights.set(PROFILE, {"NodeAffinity": 5})
    weights.set("packing", {"ImageLocality": 0})
    scorers = {name: dict(p.points()["score"]) for name, p in engine.profiles.items()}
    assert scorers[PROFILE]["NodeAffinity"] == 5
    assert scorers["packing"]["NodeAffinity"] == 2
    assert "ImageLocality" not in scorers["packing"]
    file = weights.file(PROFILE)
    assert file is not None
    (written,) = read_documents(file, "file")
    assert (
        load_configuration(cast("Any", written.value), gates=FeatureGates()).profiles
        == engine.configuration.profiles
    )
    for wrong in ({"Nobody": 1}, {"NodeAffinity": -1}, {"NodeAffinity": 101}):
        with pytest.raises(WrongWeights):
            weights.set(PROFILE, wrong)
    with pytest.raises(WrongWeights):
        weights.set("nobody", {})
    weights.set(PROFILE, {})
    weights.set("packing", {})
    assert engine.configuration == before
    assert weights.file(PROFILE) is None


def test_examples_are_offered_where_the_cluster_can_make_use_of_them() -> None:
    plain = FakeCluster(make_node("a"))
    gates = {"GenericWorkload": True, "GangScheduling": True}
    cards = make_node("g", allocatable={"cpu": "8", "pods": 9, "nvidia.com/gpu": 4})
    able = FakeCluster(cards, gates=gates, profiles=["mine"])

    def names(cluster: FakeCluster, profile: str) -> dict[str, str]:
        found = play_examples(cluster.engine, profile, has_urgent=True)
        return {each.name: each.yaml for each in found}

    assert not {"gang", "gpu"} & names(plain, PROFILE).keys()
    offered = names(able, "mine")
    assert {"gang", "gpu"} <= offered.keys()
    assert "schedulerName: mine" in offered["small"]
    assert "PriorityClass" not in offered["urgent"]
    assert shlex.quote("nvidia.com/gpu") in offered["gpu"]

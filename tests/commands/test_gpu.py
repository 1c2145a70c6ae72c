"""`podium gpu`: from files, and from a cluster that runs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.recorded_server import recorded_server
from support.commands.command_line import EXAMPLES, ROOT, podium

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect

HAMI = str(EXAMPLES / "gpu" / "hami-cluster.yaml")
DEVICES = str(EXAMPLES / "devices" / "cluster.yaml")
CARDS = tuple(Card(index=at, uuid=f"GPU-{at}", model="T4", memory=15360) for at in range(2))


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def written(directory: Path, *objects: dict[str, Any]) -> str:
    path = directory / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def gpu_node(name: str, dialect: str, cards: tuple[Card, ...] = CARDS) -> dict[str, Any]:
    write = find_dialect(dialect).register(cards, 1_800_000_000.0)
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", **write.capacity}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {key: text for key, text in write.annotations.items() if text},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def test_cards_are_drawn_as_blocks_and_listed_with_their_owners(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "gpu", "-f", HAMI)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert any(line.startswith("gpu-a   ██▅░ ") for line in lines)
    assert any(line.startswith("gpu-b   ▂▁▄✗ ") for line in lines)
    assert "serving/serve-0 30 cores 10Gi; serving/serve-1 30 cores 10Gi" in done.out
    assert "serving/half-0 3g.20gb at 4" in done.out
    assert "research/batch-0 50 cores 20Gi, not confirmed" in done.out
    assert "limits.nvidia.com/gpumem   53672   65536" in done.out
    assert "research/train-1   2 cards with 100 cores and 100% of the memory" in done.out
    assert "serving/copied-0    gpu-b   the pod is bound to another node" in done.out
    assert "· the nodes' agents speak: hami (3)" in done.out


def test_show_is_what_the_group_does_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert podium(capsys, "gpu", "show", "-f", HAMI) == podium(capsys, "gpu", "-f", HAMI)


def test_idle_cards_are_listed_when_everything_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def cards(*words: str) -> int:
        out = podium(capsys, "gpu", "-f", HAMI, *words).out
        return sum(" of 40Gi" in line for line in out.splitlines())

    assert (cards(), cards("-o", "wide"), cards("--node", "gpu-a")) == (9, 10, 4)


def test_the_document_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, "gpu", "-f", HAMI, "-o", "json").decoded()
    (hami,) = document["dialects"]
    assert (hami["name"], hami["cards"], hami["idleCards"]) == ("hami", 9, 1)
    first = hami["nodes"][0]["cards"][0]
    assert (first["usedCores"], first["memoryBytes"]) == (100, 40 << 30)
    assert first["owners"][0]["pod"] == "research/train-0"
    assert document["quotas"][0]["used"] == "53672"
    assert [each["pod"] for each in hami["uncounted"]] == ["serving/copied-0", "research/unseen-0"]
    assert document["at"] == "2027-01-15T08:00:00Z"


def test_one_node_can_be_looked_at_alone(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("gpu", "-f", HAMI, "--node", "gpu-c", "-o", "json")
    (hami,) = podium(capsys, *words).decoded()["dialects"]
    assert [node["name"] for node in hami["nodes"]] == ["gpu-c"]
    wrong = podium(capsys, "gpu", "-f", HAMI, "--node", "gpu-d")
    assert wrong.code == 2
    assert "no node named gpu-d in the input; did you mean gpu-" in wrong.err


def test_devices_of_drivers_need_no_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "gpu", "-f", DEVICES)
    assert "12 devices, 5 allocated" in done.out
    assert "default/node-b-0   running-node-b-0" in done.out
    document = podium(capsys, "gpu", "-f", DEVICES, "-o", "json").decoded()
    assert len(document["devices"]) == 12
    assert document["dialects"] == []


def test_several_dialects_are_shown_one_after_the_other_and_one_can_be_chosen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nodes = (gpu_node("a", "gpu-manager"), gpu_node("b", "gpu-manager"), gpu_node("c", "gpushare"))
    path = written(tmp_path, *nodes)
    document = podium(capsys, "gpu", "-f", path, "-o", "json").decoded()
    assert [each["name"] for each in document["dialects"]] == ["gpu-manager", "gpushare-mib"]
    chosen = podium(capsys, "gpu", "-f", path, "--dialect", "gpushare-mib")
    assert "GPUs, gpu-manager" not in chosen.out
    assert "· not shown, since --dialect says gpushare-mib: gpu-manager (2)" in chosen.out


def test_a_dialect_that_does_not_exist_is_refused_with_those_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "gpu", "-f", HAMI, "--dialect", "klingon")
    assert done.code == 2
    assert "no GPU dialect is called 'klingon'; there are gpu-manager" in done.err


def test_broken_cards_of_config_maps_and_quotas_by_model_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def config_map(name: str, **data: str) -> dict[str, Any]:
        metadata = {"name": name, "namespace": "kube-system"}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    path = written(
        tmp_path,
        gpu_node("a", "gpushare"),
        gpu_node("b", "gpu-manager"),
        config_map("unhealthy-gpu-a", gpus="1"),
        config_map("gpuquota", gpu_quota='{"team": {"quota": {"T4": 2}}}'),
    )
    done = podium(capsys, "gpu", "-f", path)
    assert "unhealthy" in done.out
    assert any(
        line.split() == ["team", "by", "model", "T4", "0", "2"] for line in done.out.split("\n")
    )


def test_a_quota_that_cannot_be_read_is_noted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    metadata = {"name": "gpuquota", "namespace": "kube-system"}
    bad = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"gpu_quota": "["},
    }
    done = podium(capsys, "gpu", "-f", written(tmp_path, gpu_node("b", "gpu-manager"), bad))
    assert done.code == 0
    assert "· gpu_quota:" in done.out


def test_a_cluster_without_gpus_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "gpu", "-f", str(EXAMPLES / "cluster.yaml"))
    assert done.code == 0
    assert "no node has GPUs that an agent has registered" in done.out


def test_a_cluster_that_runs_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with recorded_server() as server:
        server.create("/api/v1/nodes", gpu_node("live", "gpushare"))
        broken = {"metadata": {"name": "unhealthy-gpu-live"}, "data": {"gpus": "0"}}
        server.create("/api/v1/namespaces/kube-system/configmaps", broken)
        elsewhere = {"metadata": {"name": "unhealthy-gpu-live"}, "data": {"gpus": "1"}}
        server.create("/api/v1/namespaces/default/configmaps", elsewhere)
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
        done = podium(capsys, "gpu", "--kubeconfig", kubeconfig, "-o", "json")
    (shared,) = done.decoded()["dialects"]
    (node,) = shared["nodes"]
    assert [card["healthy"] for card in node["cards"]] == [False, True]
    assert any(note.startswith("read from https://") for note in done.decoded()["notes"])


def nvidia_objects() -> tuple[dict[str, Any], dict[str, Any]]:
    """What NVIDIA's DRA driver publishes of a node with a whole GPU and a MIG device, and a claim
    of the latter as the scheduler leaves it."""
    product = {"productName": {"string": "NVIDIA A100-SXM4-40GB"}}
    mig = {**product, "profile": {"string": "1g.5gb"}, "type": {"string": "mig"}}
    devices = [
        {"name": "gpu-0", "attributes": product, "capacity": {"memory": {"value": "40Gi"}}},
        {"name": "gpu-1-mig-1", "attributes": mig, "capacity": {"memory": {"value": "4864Mi"}}},
    ]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": "n1", "pool": pool, "devices": devices}
    head = {"apiVersion": "resource.k8s.io/v1"}
    published = {**head, "kind": "ResourceSlice", "metadata": {"name": "n1-gpus"}, "spec": spec}
    exactly = {"deviceClassName": "mig.nvidia.com"}
    given = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-1-mig-1"}
    claim = {
        **head,
        "kind": "ResourceClaim",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        "status": {
            "allocation": {"devices": {"results": [given]}},
            "reservedFor": [
                {"resource": "pods", "name": name, "uid": name} for name in ("infer-a", "infer-b")
            ],
        },
    }
    return published, claim


def test_gpus_of_nvidias_driver_are_read_from_files_and_from_a_cluster(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    published, claim = nvidia_objects()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    path = written(tmp_path, node, published, claim)
    from_file = podium(capsys, "gpu", "-f", path, "-o", "json")
    assert from_file.code == 0, from_file.err
    with recorded_server() as server:
        server.create("/apis/resource.k8s.io/v1/resourceslices", published)
        claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
        made = server.create(claims, {**claim, "status": {}})
        server.update(f"{claims}/small/status", {**made, "status": claim["status"]})
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
        live = podium(capsys, "gpu", "--kubeconfig", kubeconfig, "-o", "json")
    whole, part = live.decoded()["devices"]
    assert live.decoded()["devices"] == from_file.decoded()["devices"]
    assert (whole["model"], whole["holders"]) == ("NVIDIA A100-SXM4-40GB", [])
    assert part["capacity"] == {"memory": "4864Mi"}
    assert part["holders"] == [{"claim": "default/small", "pods": ["infer-a", "infer-b"]}]


def test_hostile_names_are_harmless_on_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cards = (Card(index=0, uuid="GPU-0", model="T4\x1b[2J[red]", memory=15360, slots=10),)
    done = podium(capsys, "gpu", "-f", written(tmp_path, gpu_node("a", "hami", cards)))
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "[red]" in done.out


# --- moving ---------------------------------------------------------------------------------------


def test_moves_are_proposed_for_a_pod_that_waits(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("gpu", "defrag", "-f", HAMI, "--config", str(EXAMPLES / "gpu" / "scheduler.yaml"))
    done = podium(capsys, *words, "-o", "wide")
    assert done.code == 0
    assert "2 moves; idle cards: 1 before, 1 after" in done.out
    assert "research/train-1, on gpu-b cards 0, 1" in done.out
    assert "research/train-0   annotation podium.dev/gpu-moving" in done.out
    assert "the scheduler, asked after each move, makes 2 moves as shown" in done.out
    document = podium(capsys, *words, "--free", "1", "-o", "json").decoded()
    assert document["checked"] is True
    assert [len(step["moves"]) for step in document["steps"]] == [2, 1]
    assert document["steps"][0]["places"]["pod"] == "research/train-1"
    assert document["steps"][1]["frees"] == {"node": "gpu-c", "cards": [0]}
    (move,) = document["steps"][1]["moves"]
    assert (move["to"], move["equalNodes"]) == ({"node": "gpu-c", "cards": [1]}, 1)


def test_steps_that_the_scheduler_would_defeat_are_given_up_and_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the cards alone serve-0 and serve-1 would be moved; their successors would come back."""
    done = podium(capsys, "gpu", "defrag", "-f", HAMI, "-o", "json")
    (refused,) = done.decoded()["refused"]
    assert [move["pod"] for move in refused["moves"]] == ["serving/serve-0", "serving/serve-1"]
    assert refused["reason"].startswith("research/train-1 would wait: 0/3 nodes are available")
    shown = podium(capsys, "gpu", "defrag", "-f", HAMI, "-o", "wide")
    assert "Given up" in shown.out
    assert "1 step given up" in shown.out


def test_the_scheduler_that_is_asked_has_to_decide_on_the_cards_of_the_nodes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = str(EXAMPLES / "gpu-extender" / "scheduler.yaml")
    done = podium(capsys, "gpu", "defrag", "-f", HAMI, "--config", other)
    assert done.code == 2
    assert "no profile has GPUShare" in done.err
    config = str(EXAMPLES / "gpu" / "scheduler.yaml")
    words = ("-f", HAMI, "--config", config, "--dialect", "gpu-manager")
    done = podium(capsys, "gpu", "defrag", *words)
    assert done.code == 2
    assert "GPUShare speaks hami there, and the agents on the nodes gpu-manager" in done.err


def test_pods_that_no_moves_help_are_told_with_the_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "gpu", "defrag", "-f", HAMI, "--max-moves", "1")
    assert done.code == 1
    assert "there is nothing to move" in done.out
    assert "research/train-1" in done.out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-f", HAMI, "--apply"), "--apply needs a cluster that runs"),
        (("-f", HAMI, "--max-moves", "-1"), "--free and --max-moves cannot be negative"),
        (("-f", HAMI, "--pause", "soon"), '--pause "soon" is no time; write it as 10s'),
        (("-f", str(EXAMPLES / "cluster.yaml")), "no node has GPUs that an agent has registered"),
    ],
)
def test_what_cannot_be_moved_is_refused(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "gpu", "defrag", *words)
    assert done.code == 2
    assert problem in done.err


def test_one_dialect_has_to_be_chosen_where_there_are_several(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = written(tmp_path, gpu_node("a", "gpu-manager"), gpu_node("c", "gpushare"))
    done = podium(capsys, "gpu", "defrag", "-f", path)
    assert done.code == 2
    assert "the nodes have several dialects: gpu-manager, gpushare-mib" in done.err
    assert podium(capsys, "gpu", "defrag", "-f", path, "--dialect", "gpu-manager").code == 0


def test_pods_are_evicted_when_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1"}
    amounts = {"tencent.com/vcuda-core": "30", "tencent.com/vcuda-memory": "2048"}
    resources = {"limits": amounts, "requests": amounts}
    with recorded_server() as server:
        for name in ("a", "b"):
            server.create("/api/v1/nodes", gpu_node(name, "gpu-manager"))
            given = {
                "tencent.com/predicate-gpu-idx-0": "0",
                "tencent.com/predicate-node": name,
                "tencent.com/predicate-time": "1800000000000000000",
                "tencent.com/gpu-assigned": "true",
            }
            body = {
                "metadata": {
                    "name": f"on-{name}",
                    "annotations": given,
                    "ownerReferences": [{**owner, "controller": True}],
                },
                "spec": {
                    "nodeName": name,
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "c", "image": "i", "resources": resources}],
                },
            }
            server.create("/api/v1/namespaces/default/pods", body)
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
        words = ("gpu", "defrag", "--kubeconfig", kubeconfig, "--pause", "0s")
        planned = podium(capsys, *words)
        assert "1 move; idle cards: 2 before, 3 after" in planned.out
        done = podium(capsys, *words, "--apply")
        left = podium(capsys, "gpu", "--kubeconfig", kubeconfig, "-o", "json").decoded()
    assert (done.code, done.err) == (0, "podium: default/on-a evicted\n")
    assert left["dialects"][0]["idleCards"] == 3


def test_the_page_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "140")
    page = (ROOT / "docs" / "gpu.md").read_text()
    shown = re.findall(r"^\$ podium (.+)\n((?:(?!```).*\n)*)", page, re.MULTILINE)
    printed = [(command, out) for command, out in shown if "|" not in command]
    assert printed
    for command, out in printed:
        assert podium(capsys, *command.split()).out.strip("\n") == out.strip("\n")

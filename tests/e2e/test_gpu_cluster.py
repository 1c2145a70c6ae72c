"""Shared GPUs in a whole cluster: the plugin decides, agents on the nodes give out the cards, and
`podium gpu` shows who has them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES
from support.e2e.up_process import UpProcess, up

pytestmark = pytest.mark.slow

PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
LOCK = "hami.io/mutex.lock"


def pod(name: str, cards: int, cores: int, memory: int | None = None) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(cards), "nvidia.com/gpucores": str(cores)}
    if memory is not None:
        limits["nvidia.com/gpumem"] = str(memory)
    container = {"name": "train", "image": "train", "resources": {"limits": limits}}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


def shown_cards(cluster: UpProcess) -> dict[tuple[str, int], list[Any]]:
    """What `podium gpu` says of each card: whose it is, and how much."""
    command = [sys.executable, "-m", "podium", "gpu", "-o", "json"]
    where = ["--kubeconfig", str(cluster.server.kubeconfig)]
    done = subprocess.run([*command, *where], capture_output=True, text=True, check=True)
    found = {}
    (dialect,) = json.loads(done.stdout)["dialects"]
    for node in dialect["nodes"]:
        for card in node["cards"]:
            owners = [(each["pod"], each["cores"]) for each in card["owners"]]
            found[node["name"], card["index"]] = sorted(owners)
    return found


def test_pods_share_cards_and_their_agents_confirm_it(tmp_path: Path) -> None:
    config = EXAMPLES / "gpu" / "scheduler.yaml"
    shapes = ["--gpus", "2:2xA100-40GB", "--gpu-dialect", "hami"]
    with up(tmp_path, "3", *shapes, "--config", str(config), "--speed", "10") as cluster:
        cluster.ask("POST", PODS, pod("whole", cards=2, cores=100))
        cluster.until(PODS, lambda found: all(each["spec"].get("nodeName") for each in found))
        for number in range(3):
            cluster.ask("POST", PODS, pod(f"share-{number}", 1, 40, 10_000))
        cluster.ask("POST", PODS, pod("too-much", cards=2, cores=90))

        def runs(found: list[Any]) -> bool:
            running = [each for each in found if each["status"].get("phase") == "Running"]
            return len(running) == 4

        pods = cluster.until(PODS, runs)
        nodes = {each["metadata"]["name"]: each["spec"].get("nodeName") for each in pods}
        shared, whole = nodes["share-0"], nodes["whole"]
        assert {nodes[f"share-{n}"] for n in range(3)} == {shared} != {whole}
        assert nodes["too-much"] is None
        bound = [each["metadata"] for each in pods if each["spec"].get("nodeName")]
        assert {each["annotations"]["hami.io/bind-phase"] for each in bound} == {"success"}
        cluster.until(NODES, lambda found: LOCK not in json.dumps(found))
        cards = shown_cards(cluster)
        assert cards[whole, 0] == cards[whole, 1] == [("default/whole", 100)]
        assert sorted(len(cards[shared, index]) for index in (0, 1)) == [1, 2]
        told = cluster.ask("GET", f"{PODS}/too-much")["status"]["conditions"][0]["message"]
        assert "2 insufficient GPU memory" in told

        cluster.ask("DELETE", f"{PODS}/whole")
        cluster.until(PODS, lambda found: runs(found) and len(found) == 4)
        assert shown_cards(cluster)[whole, 0] == [("default/too-much", 90)]
        code, complaints = cluster.end()
        assert (code, "Traceback" in complaints) == (0, False), complaints

"""The example plugins do what they say, on the example cluster and on their own."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.commands.command_line import EXAMPLE, EXAMPLES, podium

from podium.plugin import Cycle, Plugin
from podium.scheduler.config.plugin_args import RawArgs
from podium.scheduler.framework.registry import arguments_of
from podium.testing import assert_promises, make_cluster, make_handle, make_node, make_pod
from podium.user_code.plugins import load_plugin

DIRECTORY = EXAMPLES / "plugins"
ARCHITECTURE, PRICE, DENSITY, TEMPERATURE = (
    str(DIRECTORY / f"{name}.py")
    for name in ("image_architecture", "zone_price", "pod_density", "rack_temperature")
)
CONFIG = ("--config", str(DIRECTORY / "scheduler.yaml"), "--plugin", PRICE, "--plugin", DENSITY)


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def built(path: str, cluster: Any = None, **args: Any) -> Any:
    kind: type[Plugin] = load_plugin(path)
    typed = kind.Args(**args) if kind.Args is not None else None
    return kind(typed, make_handle(cluster))


# a filter in the node form


@pytest.mark.parametrize(
    ("built_for", "arch", "fits"),
    [
        (None, "arm64", True),
        ("amd64", "amd64", True),
        ("amd64,arm64", "arm64", True),
        ("amd64", "arm64", False),
        ("amd64", None, False),
    ],
)
def test_an_image_runs_where_it_was_built_for(
    built_for: str | None, arch: str | None, fits: bool
) -> None:
    annotations = {"example.com/architectures": built_for} if built_for else {}
    pod = make_pod("p", metadata={"annotations": annotations})
    node = SimpleNamespace(labels={"kubernetes.io/arch": arch} if arch else {})
    answer = built(ARCHITECTURE).filter_node(pod, node)
    assert (answer is None) is fits


def test_the_web_pods_of_the_example_stay_off_the_arm_node(
    capsys: pytest.CaptureFixture[str],
) -> None:
    without = podium(capsys, "simulate", *EXAMPLE, "-o", "json").decoded()
    with_it = podium(capsys, "simulate", *EXAMPLE, "--plugin", ARCHITECTURE, "-o", "json").decoded()

    def nodes(document: Any) -> set[str]:
        return {p["node"] for p in document["pods"] if p["name"].startswith("web-")}

    assert "general-c1" in nodes(without)
    assert "general-c1" not in nodes(with_it)


# a score in the node form


def test_a_zone_that_is_not_listed_costs_as_much_as_the_dearest() -> None:
    plugin = built(PRICE, prices={"a": 3, "b": 7})
    zones = ("a", "b", "elsewhere")
    nodes = [SimpleNamespace(labels={"topology.kubernetes.io/zone": zone}) for zone in zones]
    assert [plugin.score_node(make_pod("p"), node) for node in nodes] == [-3, -7, -7]
    assert built(PRICE).score_node(make_pod("p"), nodes[0]) == 0


def test_the_cheapest_zone_wins_where_it_may(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "explain", "web-0", *EXAMPLE, *CONFIG, "-o", "json").decoded()
    scores = {
        n["name"]: n["scores"]["ZonePrice"] for n in done["attempts"][0]["nodes"] if n["fits"]
    }
    assert done["node"] == "general-c1"
    assert scores["general-c1"] == {"raw": -10, "normalized": 100, "weighted": 500}
    assert scores["general-a1"] == {"raw": -30, "normalized": 0, "weighted": 0}


# the vector form


def test_a_node_with_enough_pods_takes_no_more_and_fewer_pods_score_higher() -> None:
    pods = [make_pod(f"p{n}", node="full" if n < 2 else "half") for n in range(3)]
    cluster = make_cluster([make_node(name) for name in ("full", "half", "empty")], pods)
    plugin = built(DENSITY, cluster, most=2)
    cycle = Cycle(cluster.infos.of(make_pod("new")), cluster)
    rows = np.arange(3)
    verdict = plugin.filter(cycle, rows)
    assert verdict.values.tolist() == [1, 0, 0]
    assert plugin.score(cycle, rows).tolist() == [0, 50, 100]
    part = np.array([2, 0])
    assert plugin.score(cycle, part).tolist() == [100, 0]


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="expected `int` >= 1"):
        arguments_of(load_plugin(DENSITY), RawArgs({"most": 0}))


def test_remembered_answers_are_the_ones_worked_out_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "simulate", *EXAMPLE, *CONFIG, "--validate", "-o", "json").decoded()
    counts = {node["name"]: node["requested"]["pods"]["after"] for node in done["nodes"]}
    assert max(counts.values()) <= 3


# data from outside


def temperature_config(tmp_path: Path, **args: Any) -> tuple[str, ...]:
    """Options that run the example with arguments."""
    plugins = {"multiPoint": {"enabled": [{"name": "RackTemperature", "weight": 50}]}}
    configured = [{"name": "RackTemperature", "args": args}]
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": plugins,
        "pluginConfig": configured,
    }
    config = tmp_path / "scheduler.json"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [profile],
            }
        )
    )
    return "--config", str(config), "--plugin", TEMPERATURE


def web_nodes(document: Any) -> set[str]:
    return {p["node"] for p in document["pods"] if p["name"].startswith("web-")}


def test_pods_stay_off_racks_that_a_file_says_are_hot(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    measured = tmp_path / "temperatures.json"
    measured.write_text(json.dumps({"general-a1": 60, "general-b1": 60, "general-c1": 20}))
    options = temperature_config(tmp_path, file=str(measured))
    done = podium(capsys, "simulate", *EXAMPLE, *options, "--validate", "-o", "json").decoded()
    hot = {"general-a1", "general-b1"}

    assert not web_nodes(done) & hot
    assert "general-c1" in web_nodes(done)


def test_temperatures_come_from_an_endpoint_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class Sensor(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"general-c1": 60}).encode())

        def log_message(self, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Sensor) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        options = temperature_config(tmp_path, url=url)
        done = podium(capsys, "simulate", *EXAMPLE, *options, "-o", "json").decoded()
        server.shutdown()

    assert "general-c1" not in web_nodes(done)


def test_without_temperatures_pods_go_where_they_would_and_a_note_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = temperature_config(tmp_path, file=str(tmp_path / "nowhere.json"))
    without = podium(capsys, "simulate", *EXAMPLE, "-o", "json").decoded()
    done = podium(capsys, "simulate", *EXAMPLE, *options, "-o", "json").decoded()

    assert web_nodes(done) == web_nodes(without)
    assert any("source rack-temperatures cannot be fetched" in note for note in done["notes"])


@pytest.mark.parametrize(
    ("path", "args"),
    [
        (ARCHITECTURE, {}),
        (PRICE, {"prices": {"a": 3, "b": 7}}),
        (DENSITY, {"most": 3}),
        (TEMPERATURE, {"limit": 60}),
    ],
)
def test_the_examples_keep_their_promises(path: str, args: dict[str, Any]) -> None:
    annotations = {"example.com/architectures": "amd64"}
    pods = [make_pod("amd", metadata={"annotations": annotations})]
    assert_promises(load_plugin(path), args=args or None, pods=pods)

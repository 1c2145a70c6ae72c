"""The load-aware scorers: every figure of the original's tests, and what happens without data."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.addons.collection.load.load_score import LoadScorePlugin
from podium.addons.collection.load.load_source import Loads, NodeLoad
from podium.addons.collection.load.load_variation_risk_balancing import LoadVariationRiskBalancing
from podium.addons.collection.load.low_risk_over_commitment import (
    Beta,
    Commitment,
    LowRiskOverCommitment,
    distribution,
    limit_risk,
    load_risk,
    matching_moments,
)
from podium.addons.collection.load.peaks import Peaks
from podium.addons.collection.load.target_load_packing import TargetLoadPacking
from podium.plugin import Plugin, Pod
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import (
    FakeCluster,
    assert_placed,
    assert_promises,
    make_node,
    make_pod,
    score_answers,
    scores_of,
)

WATCHER = "http://127.0.0.1:2020"
SOURCE = f"load-watcher {WATCHER}"
BASE: dict[str, Any] = {"watcherAddress": WATCHER}
MODEL = {
    "nodePowerModel": {"a": {"k0": 1, "k1": 2, "k2": 0.01}, "b": {"k0": 1, "k1": 9, "k2": 0.01}}
}
NOW = 1_800_000_000.0


def cluster(plugin: type[Plugin], *objects: Any, **args: Any) -> FakeCluster:
    return FakeCluster(*objects, plugins=[plugin], args={plugin.name: {**BASE, **args}})


def node(name: str = "a", cpu: str = "4", memory: str = "16Gi") -> Any:
    amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
    return make_node(name, allocatable=amounts)


def pod(cpu: str | None = None, name: str = "web", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu} if cpu is not None else None, **more)


def scores(
    plugin: type[LoadScorePlugin], loads: dict[str, NodeLoad], asked: Pod, *there: Any, **args: Any
) -> dict[str, int]:
    made = cluster(plugin, *there, **args)
    made.answer(SOURCE, Loads(loads, NOW))
    return asked_scores(made, plugin, asked)


def asked_scores(made: FakeCluster, kind: type[LoadScorePlugin], asked: Pod) -> dict[str, int]:
    """Of all nodes, even of a single one, which the engine would take without a score."""
    plugin = made.plugin(kind.name)
    assert isinstance(plugin, kind)
    found = score_answers(plugin, asked, made.engine.cluster)
    return {} if found is None else found[1]


# --- TargetLoadPacking --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "score"),
    [(0, 40), (10, 55), (20, 70), (40, 100), (41, 39), (50, 33), (70, 20), (100, 0), (120, 0)],
)
def test_packing_rises_to_the_target_and_falls_beyond_it(use: float, score: int) -> None:
    # A pod that is predicted to use nothing: the measured use is all there is.
    found = scores(TargetLoadPacking, {"a": NodeLoad(use)}, pod("0"), node())
    assert found == {"a": score}


@pytest.mark.parametrize(
    ("resources", "milli"),
    [
        ({"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, 2000),
        ({"requests": {"cpu": "101m"}}, 152),
        ({"requests": {"memory": "1Gi"}}, 1000),
        (None, 1000),
    ],
)
def test_the_use_of_a_pod_is_guessed(resources: dict[str, Any] | None, milli: int) -> None:
    container: dict[str, Any] = {"name": "c", "image": "i"}
    if resources is not None:
        container["resources"] = resources
    asked = make_pod("web", containers=[container], overhead={"cpu": "10m"})
    made = cluster(TargetLoadPacking, node())
    plugin = made.plugin("TargetLoadPacking")
    assert isinstance(plugin, TargetLoadPacking)
    assert plugin.predict(made.engine.cluster.infos.of(asked).shape) == milli + 10


@pytest.mark.parametrize(
    ("bound", "score"),
    [
        (NOW + 5, 55),  # after the window
        (NOW - 59, 55),
        (NOW - 60, 40),
        (None, 55),  # on its way
    ],
)
def test_pods_that_are_too_young_to_be_measured_are_guessed(
    bound: float | None, score: int
) -> None:
    condition = {"type": "PodScheduled", "status": "True"}
    if bound is not None:
        at = np.datetime_as_string(np.datetime64(int(bound), "s")) + "Z"
        condition["lastTransitionTime"] = str(at)
    limits = {"limits": {"cpu": "400m"}}
    there = make_pod(
        "there",
        node="a",
        containers=[{"name": "c", "image": "i", "resources": limits}],
        status={"conditions": [condition] if bound is not None else []},
    )
    assert scores(TargetLoadPacking, {"a": NodeLoad(0)}, pod("0"), node(), there) == {"a": score}


def test_a_pod_that_runs_without_saying_since_when_is_in_the_measurements() -> None:
    there = make_pod("there", node="a", status={"phase": "Running"})
    assert scores(TargetLoadPacking, {"a": NodeLoad(0)}, pod("0"), node(), there) == {"a": 40}


def test_a_pod_that_was_just_placed_counts_for_the_next() -> None:
    made = cluster(TargetLoadPacking, node("a"), node("b"))
    made.answer(SOURCE, Loads({"a": NodeLoad(10), "b": NodeLoad(9)}, NOW))
    asked = [pod("700m", name=f"web-{n}") for n in range(2)]
    first, second = (scores_of(made.schedule(each), "TargetLoadPacking") for each in asked)
    assert first == {"a": 94, "b": 93}  # 26.25 % more than before
    assert second == {"a": 25, "b": 93}  # a is predicted at 62.5 %


# --- LoadVariationRiskBalancing -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "request_cpu", "args", "score"),
    [
        (NodeLoad(50, 10), "400m", {}, 65),
        (NodeLoad(50, 16), "400m", {"safeVarianceSensitivity": 2}, 50),
        (NodeLoad(50, 16), "400m", {"safeVarianceSensitivity": 2, "safeVarianceMargin": 3}, 20),
        (NodeLoad(0, 0, 0, 0), "0", {}, 100),
        (NodeLoad(100, 100), "4", {}, 0),
        (NodeLoad(30, 4, 10, 0), "0", {}, 83),
        (NodeLoad(memory=50), "0", {}, 75),
        (NodeLoad(50, 10), "400m", {"safeVarianceMargin": -1}, 65),
    ],
)
def test_risk_is_the_middle_between_mean_and_deviation(
    load: NodeLoad, request_cpu: str, args: dict[str, Any], score: int
) -> None:
    found = scores(LoadVariationRiskBalancing, {"a": load}, pod(request_cpu), node(), **args)
    assert found == {"a": score}


# --- LowRiskOverCommitment ----------------------------------------------------------------------


def one(*figures: float) -> Commitment:
    return Commitment(*(np.array([float(figure)]) for figure in figures))


@pytest.mark.parametrize(
    ("node_state", "average", "deviation", "limit", "load", "risk"),
    [
        (one(4000, 3500, 6000, 3000, 5000), 60, 10, 0.8, 0.29815, 0.54908),
        (one(4000, 1500, 2000, 1000, 1500), 20, 5, 0.0, 0.23313, 0.11657),
    ],
)
def test_both_risks_are_those_of_the_original(
    node_state: Commitment,
    average: float,
    deviation: float,
    limit: float,
    load: float,
    risk: float,
) -> None:
    spread = np.array([5**0.5 * deviation / 100])
    found = load_risk(node_state, np.array([float(average)]), spread)[0]
    assert limit_risk(node_state)[0] == pytest.approx(limit)
    assert found == pytest.approx(load, abs=5e-6)
    assert 0.5 * limit + 0.5 * found == pytest.approx(risk, abs=5e-6)


@pytest.mark.parametrize(
    ("average", "deviation", "requested", "risk"),
    [(0, 10, 0, 0.0), (50, 0, 3000, 0.0), (50, 0, 1000, 1.0), (100, 10, 3000, 1.0)],
)
def test_a_load_without_deviation_is_certain(
    average: float, deviation: float, requested: float, risk: float
) -> None:
    state = one(4000, 0, 0, requested, 5000)
    found = load_risk(state, np.array([float(average)]), np.array([deviation / 100]))
    assert found[0] == pytest.approx(risk)


def over_committed(name: str = "there") -> Pod:
    resources = {"requests": {"cpu": "3"}, "limits": {"cpu": "5"}}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    return make_pod(name, node="a", containers=containers)


def test_the_score_is_that_of_the_worse_resource() -> None:
    resources = {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}
    asked = make_pod("web", containers=[{"name": "c", "image": "i", "resources": resources}])
    load = NodeLoad(60, 10, 0, 0)
    found = scores(LowRiskOverCommitment, {"a": load}, asked, node(), over_committed())
    assert found == {"a": 45}  # 1 - 0.54908


def test_pods_without_requests_and_limits_are_nobodys_risk() -> None:
    assert scores(LowRiskOverCommitment, {"a": NodeLoad(60, 10)}, pod(), node()) == {}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.001, 0.999))
def test_the_distribution_of_whole_shapes_is_a_sum_of_binomials(a: int, b: int, x: float) -> None:
    n = a + b - 1
    wanted = sum(math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))
    law = Beta(np.array([float(a)]), np.array([float(b)]))
    assert distribution(law, np.array([x]))[0] == pytest.approx(wanted, abs=1e-11)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.98))
def test_the_distribution_that_fits_has_the_mean_and_the_deviation(
    mean: float, part: float
) -> None:
    deviation = (part * mean * (1 - mean)) ** 0.5
    (a,), (b,) = matching_moments(np.array([mean]), np.array([deviation]))
    assert a / (a + b) == pytest.approx(mean)
    assert (a * b / (a + b) ** 2 / (a + b + 1)) ** 0.5 == pytest.approx(deviation)


# --- Peaks --------------------------------------------------------------------------------------


def test_the_smallest_rise_in_power_is_the_best() -> None:
    models = {
        name: {"k0": 1, "k1": k1, "k2": 0.01} for name, k1 in zip("abc", (2, 9, 5), strict=True)
    }
    loads = dict.fromkeys("abc", NodeLoad(20))
    nodes = [node(name) for name in "abc"]
    found = scores(Peaks, loads, pod("400m"), *nodes, nodePowerModel=models)
    assert found == {"a": 100, "b": 0, "c": 58}


def test_nodes_without_data_or_model_or_room_are_the_worst() -> None:
    nodes = [node(name) for name in "abcd"]
    loads = {"a": NodeLoad(20), "c": NodeLoad(20), "d": NodeLoad(95)}
    models = {name: {"k0": 1, "k1": 2, "k2": 0.01} for name in "abd"}
    found = scores(Peaks, loads, pod("400m"), *nodes, nodePowerModel=models)
    assert found == {"a": 100, "b": 0, "c": 0, "d": 0}


def test_models_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    file = tmp_path / "model.json"
    file.write_text('{"a": {"k0": 1, "k1": 2, "k2": 0.01}}')
    monkeypatch.setenv("NODE_POWER_MODEL", str(file))
    assert scores(Peaks, {"a": NodeLoad(20)}, pod("1"), node()) == {"a": 100}
    file.write_text('{"a": {"k7": 1}}')
    with pytest.raises(ConfigurationError, match="k7"):
        cluster(Peaks, node())


def test_arguments_may_begin_with_capitals_as_the_original_reads_them() -> None:
    args = {"WatcherAddress": WATCHER, "NodePowerModel": MODEL["nodePowerModel"]}
    made = FakeCluster(node(), plugins=[Peaks], args={"Peaks": args})
    assert [column.name for column in made.engine.sources] == [SOURCE]


# --- all of them --------------------------------------------------------------------------------

ALL: tuple[tuple[type[LoadScorePlugin], dict[str, Any]], ...] = (
    (TargetLoadPacking, {}),
    (LoadVariationRiskBalancing, {}),
    (LowRiskOverCommitment, {}),
    (Peaks, MODEL),
)


@pytest.mark.parametrize(("plugin", "args"), ALL)
def test_a_node_without_data_scores_nothing_and_pods_are_placed_without_any(
    plugin: type[LoadScorePlugin], args: dict[str, Any]
) -> None:
    asked = make_pod("web", requests={"cpu": "1"})
    found = scores(plugin, {"a": NodeLoad(10, 1, 10, 1)}, asked, node("a"), node("b"), **args)
    assert found["a"] > 0
    assert found["b"] == 0
    made = cluster(plugin, node("a"), node("b"), **args)
    made.fail(SOURCE, "connection refused")
    decision = made.schedule(asked)
    assert_placed(decision, on="a")
    assert scores_of(decision, plugin.name) == {"a": 0, "b": 0}


@pytest.mark.parametrize(("plugin", "args"), ALL)
def test_amounts_of_a_metrics_server_are_shares_of_the_capacity(
    plugin: type[LoadScorePlugin], args: dict[str, Any]
) -> None:
    asked = make_pod("web", requests={"cpu": "1", "memory": "1Gi"})
    by_percent = cluster(plugin, node(), **args)
    by_percent.answer(SOURCE, Loads({"a": NodeLoad(25, 0, 50, 0)}, NOW))
    by_amount = cluster(plugin, node(), **args)
    amounts = NodeLoad(1000, 0, 8 * 2.0**30, 0)
    by_amount.answer(SOURCE, Loads({"a": amounts}, NOW, in_percent=False))
    found = [asked_scores(each, plugin, asked) for each in (by_percent, by_amount)]
    assert found[0] == found[1] != {"a": 0}


@pytest.mark.parametrize(("plugin", "args"), ALL)
def test_promises_are_kept(plugin: type[LoadScorePlugin], args: dict[str, Any]) -> None:
    loads = {f"node-{n}": NodeLoad(12.0 * n, 2.0 * n, 9.0 * n, n) for n in range(5)}
    value = Loads({**loads, "a": NodeLoad(20, 3, 30, 4)}, NOW)
    assert_promises(
        plugin,
        args={**BASE, **args},
        nodes=[node("a"), node("b")],
        pods=[over_committed(), make_pod("asked", requests={"cpu": "1", "memory": "1Gi"})],
        values={SOURCE: value},
    )


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ({}, "metrics server metrics.k8s.io"),
        ({"metricProvider": {"type": "KubernetesMetricsServer"}}, "metrics server metrics.k8s.io"),
        (
            {"metricProvider": {"type": "Prometheus"}},
            "Prometheus http://prometheus-k8s:9090 instance:node_cpu:ratio"
            " instance:node_memory_utilisation:ratio",
        ),
        (
            {"metricProvider": {"type": "SignalFx"}, "watcherAddress": "http://w:2020/"},
            "load-watcher http://w:2020",
        ),
    ],
)
def test_the_configuration_says_whom_to_ask(args: dict[str, Any], name: str) -> None:
    made = FakeCluster(plugins=[TargetLoadPacking], args={"TargetLoadPacking": args})
    assert [column.name for column in made.engine.sources] == [name]


@pytest.mark.parametrize(
    ("plugin", "args", "words"),
    [
        (TargetLoadPacking, {"metricProvider": {"type": "SignalFx"}}, "load-watcher in front"),
        (TargetLoadPacking, {"metricProvider": {"type": "Datadog"}}, "args.metricProvider.type"),
        (TargetLoadPacking, {"metricProvider": {"address": "http://x"}}, "through the API server"),
        (TargetLoadPacking, {"watcherAddress": "w:2020"}, "args.watcherAddress"),
        (
            TargetLoadPacking,
            {"metricProvider": {"type": "Prometheus", "address": "file:x"}},
            "recorded answer of a load-watcher",
        ),
        (TargetLoadPacking, {"defaultRequestsMultiplier": "much"}, "is no number"),
        (TargetLoadPacking, {"defaultRequests": {"cpu": "much"}}, "args.defaultRequests.cpu"),
        (TargetLoadPacking, {"targetUtilization": 101}, "args.targetUtilization"),
        (Peaks, {}, "args.nodePowerModel: is missing"),
    ],
)
def test_a_mistake_in_the_arguments_is_told_with_its_place(
    plugin: type[Plugin], args: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NODE_POWER_MODEL", raising=False)
    with pytest.raises(ConfigurationError, match=words) as told:
        FakeCluster(plugins=[plugin], args={plugin.name: args})
    assert words in f"{told.value}"

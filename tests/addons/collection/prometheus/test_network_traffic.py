"""NetworkTraffic: arguments and arithmetic of the plugin of that name, without its traps."""

from typing import Any

import numpy as np
import pytest
import yaml

from podium.addons.collection.prometheus.plugins import NetworkTraffic
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.plugin import Ints
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.merge import expand_profiles
from podium.scheduler.config.types import ExtensionPoint
from podium.scheduler.engine import Engine
from podium.scheduler.plugins import in_tree_registry
from podium.testing import FakeCluster, assert_placed, assert_promises, make_node, make_pod
from podium.user_code.plugins import equip

ADDRESS = "http://prometheus-1616380099-server.monitor"
ARGS: dict[str, Any] = {
    "prometheusAddress": ADDRESS,
    "networkInterface": "ens192",
    "timeRangeInMinutes": 3,
}
QUERY = 'sum_over_time(node_network_receive_bytes_total{device="ens192"}[3m0s])'


def cluster(*names: str, **args: Any) -> FakeCluster:
    nodes = map(make_node, names)
    return FakeCluster(*nodes, plugins=[NetworkTraffic], args={"NetworkTraffic": {**ARGS, **args}})


def plugin_of(made: FakeCluster) -> NetworkTraffic:
    plugin = made.plugin("NetworkTraffic")
    assert isinstance(plugin, NetworkTraffic)
    return plugin


def source_name(made: FakeCluster) -> str:
    return plugin_of(made).sources()[0].name


def normalized(raw: list[int], **args: Any) -> list[int]:
    made = cluster(**args)
    array: Ints = np.array(raw, dtype=np.int64)
    found = plugin_of(made).normalize(None, slice(0, len(raw)), array)  # type: ignore[arg-type]
    return [int(score) for score in found]


PRINTED = """\
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: "/etc/kubernetes/scheduler.conf"
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled:
      - name: NetworkTraffic
      disabled:
      - name: "*"
  pluginConfig:
  - name: NetworkTraffic
    args:
      prometheusAddress: "http://prometheus-1616380099-server.monitor"
      networkInterface: "ens192"
      timeRangeInMinutes: 3
"""


def test_the_configuration_as_it_is_printed_makes_it_the_only_scorer() -> None:
    equipped = equip(
        load_configuration(yaml.safe_load(PRINTED), gates=FeatureGates()), in_tree_registry(), ()
    )
    engine = Engine(equipped.configuration, equipped.registry, gates=FeatureGates())
    (lists,) = expand_profiles(
        equipped.configuration, equipped.registry.implements, equipped.registry.__contains__
    ).values()
    assert [ref.name for ref in lists[ExtensionPoint.SCORE]] == ["NetworkTraffic"]
    assert [column.name for column in engine.sources] == [f"NetworkTraffic {ADDRESS} {QUERY}"]


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ([1, 15, 10, 13], [94, 0, 34, 14]),
        ([1, 15, 15, 13], [94, 0, 0, 14]),
        ([0, 0, 0], [100, 100, 100]),
        ([7], [0]),
        ([-1, 0], [50, 100]),
        ([-1, -1], [50, 50]),
        ([-1, 5, 10], [50, 50, 0]),
        ([2**62, 2**61, 0], [0, 50, 100]),
    ],
)
def test_the_busiest_node_gets_nothing_and_an_unknown_one_the_middle(
    raw: list[int], wanted: list[int]
) -> None:
    assert normalized(raw) == wanted


def test_one_query_asks_for_all_nodes() -> None:
    (source,) = plugin_of(cluster("a")).sources()
    assert source.name == f"NetworkTraffic {ADDRESS} {QUERY}"


@pytest.mark.parametrize(
    ("args", "query"),
    [
        ({"networkInterface": ""}, QUERY),
        (
            {"timeRangeInMinutes": 90},
            'sum_over_time(node_network_receive_bytes_total{device="ens192"}[1h30m0s])',
        ),
        (
            {"function": "rate", "direction": "Transmit", "networkInterface": "eth0"},
            'rate(node_network_transmit_bytes_total{device="eth0"}[3m0s])',
        ),
        (
            {"function": "rate", "direction": "Both"},
            'rate(node_network_receive_bytes_total{device="ens192"}[3m0s])'
            ' + rate(node_network_transmit_bytes_total{device="ens192"}[3m0s])',
        ),
    ],
)
def test_arguments_make_the_query(args: dict[str, Any], query: str) -> None:
    assert source_name(cluster("a", **args)).endswith(f" {query}")


def test_the_quietest_node_is_chosen() -> None:
    made = cluster("a", "b", "c")
    made.answer(source_name(made), {"a": 900, "b": 3.7, "c": 500})
    assert_placed(made.schedule(make_pod("web")), on="b")


def test_a_pod_is_placed_while_prometheus_says_nothing() -> None:
    made = cluster("a", "b")
    made.fail(source_name(made), "connection refused")
    assert_placed(made.schedule(make_pod("web")), on="a")


def test_an_answer_that_is_too_old_counts_no_more() -> None:
    made = cluster("a", "b", maxAgeSeconds=60)
    made.answer(source_name(made), {"a": 900, "b": 3})
    assert_placed(made.schedule(make_pod("one")), on="b")
    made.clock.advance(61)
    assert_placed(made.schedule(make_pod("two")), on="a")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"prometheusAddress": ""}, "args.prometheusAddress: is missing"),
        ({"prometheusAddress": "prometheus:9090"}, "is no address of a server"),
        ({"prometheusAddress": "http://me:secret@p"}, "must hold no name or password"),
        ({"timeRangeInMinutes": 0}, "args.timeRangeInMinutes"),
        ({"direction": "Up"}, "args.direction"),
        ({"nodeLabels": []}, "args.nodeLabels: is empty"),
        ({"networkinterface": "eth0"}, "args.networkinterface: unknown field"),
        ({"insecureSkipVerify": True, "certificateAuthority": "ca.pem"}, "contradicts"),
    ],
)
def test_a_mistake_in_the_arguments_is_told_with_its_place(
    args: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words) as told:
        cluster("a", **args)
    assert "secret" not in str(told.value)


def test_version_and_kind_may_stand_before_the_arguments() -> None:
    version = "kubescheduler.config.k8s.io/v1beta1"
    cluster("a", apiVersion=version, kind="NetworkTrafficArgs")


def test_it_keeps_its_promises() -> None:
    assert_promises(NetworkTraffic, args=ARGS)

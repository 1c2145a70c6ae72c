"""Where daemons run, and what they tolerate."""

from typing import Any

import msgspec

from podium.kubernetes.controllers.daemon_pods import DaemonTemplate, daemon_tolerations
from podium.kubernetes.controllers.workloads import DaemonSet
from podium.kubernetes.kinds.node import Taint

NOT_READY = "node.kubernetes.io/not-ready"


def template(**spec: Any) -> DaemonTemplate:
    raw = {"metadata": {"name": "agent", "uid": "u"}, "spec": {"template": {"spec": spec}}}
    return DaemonTemplate(msgspec.convert(raw, DaemonSet))


def taint(key: str, effect: str) -> Taint:
    return Taint(key=key, effect=effect)


def test_a_template_that_would_leave_after_some_seconds_stays_for_ever() -> None:
    written = {
        "key": NOT_READY,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    }
    given = daemon_tolerations({"tolerations": [written]})
    assert [each for each in given if each["key"] == NOT_READY] == [
        {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}
    ]


def test_other_tolerations_of_a_template_come_first_and_stay_as_they_are() -> None:
    written = {"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule"}
    given = daemon_tolerations({"tolerations": [written, {"operator": "Exists"}]})
    assert given[:2] == [written, {"operator": "Exists"}]
    assert len(given) == 2 + 6


def test_only_daemons_on_the_hosts_network_tolerate_a_node_without_one() -> None:
    unavailable = taint("node.kubernetes.io/network-unavailable", "NoSchedule")
    assert template(hostNetwork=True).runs_on("n", {}, [unavailable])
    assert not template().runs_on("n", {}, [unavailable])


def test_a_taint_against_new_pods_lets_those_stay_that_are_there() -> None:
    refusing = [taint("gpu", "NoSchedule")]
    assert not template().runs_on("n", {}, refusing)
    assert template().stays_on("n", {}, refusing)
    assert not template().stays_on("n", {}, [taint("gpu", "NoExecute")])


def test_a_pod_is_pinned_to_its_node_instead_of_what_the_template_required() -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity = {"nodeAffinity": {name: required}, "podAffinity": {}}
    pod = template(affinity=affinity).pod_for("n1", "hash")
    on_name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert pod["spec"]["affinity"] == {
        "nodeAffinity": {name: {"nodeSelectorTerms": [{"matchFields": [on_name]}]}},
        "podAffinity": {},
    }
    assert pod["metadata"]["labels"] == {"controller-revision-hash": "hash"}

"""Nodes and pods of many shapes for machines that make a cluster live.

Few names, labels, zones and sizes, so that pods get into each other's way as often as possible.
"""

from typing import Any

from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.testing import make_node, make_pod

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NODE_NAMES = ["n0", "n1", "n2", "n3", "n4"]
POD_NAMES = [f"p{number}" for number in range(14)]
TAINTS = [
    ("dedicated", "a", "NoSchedule"),
    ("flaky", "", "PreferNoSchedule"),
    ("x", "", "NoExecute"),
]
GATES = [{"name": "wait.example/for-it"}]
MISCHIEF = [
    "reserve rejects",
    "reserve breaks",
    "permit rejects",
    "permit breaks",
    "permit waits",
    "pre-flight breaks",
    "pre-bind works",
    "pre-bind rejects",
    "pre-bind breaks",
]
apps = st.sampled_from(["web", "db"])
zones = st.sampled_from(["a", "b"])
keys = st.sampled_from([ZONE, HOST])


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    labels = {HOST: name}
    if draw(st.booleans()):
        labels[ZONE] = draw(zones)
    return make_node(
        name,
        labels=labels,
        taints=draw(st.sampled_from([(), (), (), *((taint,) for taint in TAINTS)])),
        allocatable={
            "cpu": draw(st.sampled_from(["1", "2", "4"])),
            "memory": draw(st.sampled_from(["1Gi", "4Gi"])),
            "pods": draw(st.sampled_from([2, 5, 110])),
        },
        unschedulable=draw(st.sampled_from([False] * 7 + [True])),
    )


@st.composite
def pods(draw: st.DrawFn, name: str, uid: str, *, node: str = "") -> Pod:
    spec: dict[str, Any] = {}
    for feature in draw(st.sets(st.sampled_from(sorted(_FEATURES)), max_size=2)):
        spec.update(draw(_FEATURES[feature]))
    requests = {
        "cpu": draw(st.sampled_from(["0", "100m", "500m", "1", "2"])),
        "memory": draw(st.sampled_from(["0", "256Mi", "1Gi"])),
    }
    container: dict[str, Any] = {
        "name": "main",
        "image": "app:v1",
        "resources": {"requests": requests},
    }
    # Only the scheduler places pods with host ports: where two share one, what the table says
    # depends on who came and went first, as it does upstream.
    if not node and draw(st.integers(0, 5)) == 0:
        container["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    annotations = {}
    if not node and draw(st.integers(0, 2)) == 0:
        annotations["mischief"] = draw(st.sampled_from(MISCHIEF))
    return make_pod(
        name,
        labels={"app": draw(apps)},
        node=node,
        priority=draw(st.sampled_from([None, 0, 1, 5, 10])),
        metadata={"uid": uid, "annotations": annotations},
        containers=[container],
        schedulerName=draw(st.sampled_from(["default-scheduler"] * 9 + ["someone-else"])),
        **spec,
    )


def _term(key: str, app: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def _affinity(kind: str, required: bool) -> st.SearchStrategy[dict[str, Any]]:
    terms = st.builds(_term, keys, apps)
    if required:
        listed = "requiredDuringSchedulingIgnoredDuringExecution"
        return terms.map(lambda term: {"affinity": {kind: {listed: [term]}}})
    listed = "preferredDuringSchedulingIgnoredDuringExecution"
    return terms.map(
        lambda term: {"affinity": {kind: {listed: [{"weight": 10, "podAffinityTerm": term}]}}}
    )


def _spread(key: str, app: str, hard: bool) -> dict[str, Any]:
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": app}},
            }
        ]
    }


def _zone_affinity(zone: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": [zone]}]}
    listed = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {listed: {"nodeSelectorTerms": [term]}}}}


_FEATURES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "selector": zones.map(lambda zone: {"nodeSelector": {ZONE: zone}}),
    "node affinity": zones.map(_zone_affinity),
    "near": _affinity("podAffinity", True),
    "apart": _affinity("podAntiAffinity", True),
    "rather near": _affinity("podAffinity", False),
    "rather apart": _affinity("podAntiAffinity", False),
    "spread": st.builds(_spread, keys, apps, st.booleans()),
    "gates": st.just({"schedulingGates": GATES}),
    "meek": st.just({"preemptionPolicy": "Never"}),
    "tolerant": st.just({"tolerations": [{"operator": "Exists"}]}),
    "pinned": st.sampled_from(NODE_NAMES).map(
        lambda name: {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {"key": "metadata.name", "operator": "In", "values": [name]}
                                ]
                            }
                        ]
                    }
                }
            }
        }
    ),
}

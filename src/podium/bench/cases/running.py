"""Cases of Podium's own: a cluster that runs, and many kinds of pods in turn.

The pods that are there are read from JSON as an API server lists them, with all that kubelets and
controllers have written into them: most of it is of no use to a scheduler, and what it costs to
find that out is part of starting up.

A case of Podium's own: many kinds of pods in turn, so that nothing learned of one pod serves
the next.

The reference suite measures pods of one template at a time, which flatters anything that remembers
whole pods. A thousand signatures here are a hundred request vectors, five rules about zones and two
sets of tolerations in every combination; each is an application with a label of its own.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from podium.bench.templates import (
    IMAGE,
    ZONE,
    BenchmarkPlan,
    Raw,
    Scene,
    arrivals,
    make_nodes,
    make_pod,
    node_name,
    on_node,
)
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_as

APPLICATIONS = 500
_REQUESTS: Raw = {"cpu": "10m", "memory": "50Mi"}
_NAME, _UID, _APP, _NODE, _IP, _TIME = "@name@", "@uid@", "@app@", "@node@", "@ip@", "@time@"


def full_cluster(plan: BenchmarkPlan) -> Scene:
    zones = ("zone-1", "zone-2", "zone-3")
    return Scene(
        nodes=make_nodes(plan.nodes, zones=zones),
        init=_make_running_pods(plan.init, plan.nodes),
        measured=arrivals(
            make_pod(f"pod-{i}", labels=_labels(f"app-{i % APPLICATIONS}"))
            for i in range(plan.pods)
        ),
    )


def _make_running_pods(count: int, nodes: int) -> Iterator[Pod]:
    listed = msgspec.json.encode(_list_pod()).decode()
    for index in range(count):
        app = f"app-{index % APPLICATIONS}"
        text = (
            listed.replace(_NAME, f"{app}-{index:08d}")
            .replace(_UID, f"00000000-0000-4000-8000-{index:012d}")
            .replace(_APP, app)
            .replace(_NODE, node_name(index % nodes))
            .replace(
                _TIME, f"2026-01-01T{index // 3600 % 24:02}:{index // 60 % 60:02}:{index % 60:02}Z"
            )
            .replace(_IP, f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}")
        )
        yield decode_as(text.encode(), Pod)


def _labels(app: str) -> dict[str, str]:
    return {"app": app, "pod-template-hash": f"{app}-1"}


def _list_pod() -> Raw:
    """A running pod of some 4 KB, with marks where pods differ."""
    return {
        "metadata": {
            "name": _NAME,
            "namespace": "default",
            "uid": _UID,
            "resourceVersion": "1",
            "creationTimestamp": _TIME,
            "generateName": f"{_APP}-",
            "labels": _labels(_APP),
            "annotations": {"example.com/checksum": "0123456789abcdef" * 4},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{_APP}-1",
                    "uid": f"{_APP}-1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": [
                {"manager": m, "operation": "Update", "fieldsV1": {f"f:{i}": {} for i in range(40)}}
                for m in ("kube-controller-manager", "kubelet")
            ],
        },
        "spec": _spec(),
        "status": _status(),
    }


def _spec() -> Raw:
    token = {
        "name": "token",
        "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
    }
    container = {
        "name": "main",
        "image": IMAGE,
        "env": [{"name": f"SETTING_{i}", "value": f"value-{i}"} for i in range(12)],
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": _REQUESTS, "limits": _REQUESTS},
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 10},
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    return {
        "nodeName": _NODE,
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "priority": 0,
        "containers": [container],
        "volumes": [token],
        "tolerations": [
            {"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute"}
            for k in ("not-ready", "unreachable")
        ],
    }


def _status() -> Raw:
    kinds = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "podIP": _IP,
        "podIPs": [{"ip": _IP}],
        "hostIP": "10.0.0.1",
        "startTime": _TIME,
        "qosClass": "Guaranteed",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": _TIME} for kind in kinds
        ],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "image": IMAGE,
                "imageID": f"{IMAGE}@sha256:{'0' * 64}",
                "containerID": f"containerd://{_UID}",
                "started": True,
                "state": {"running": {"startedAt": _TIME}},
            }
        ],
    }


ZONES = ("zone-1", "zone-2", "zone-3", "zone-4")
_VECTORS = 100
_RULES = 5


def many_signatures(plan: BenchmarkPlan) -> Scene:
    count = max(1, plan.signatures)
    return Scene(
        nodes=make_nodes(plan.nodes, zones=ZONES),
        init=(_pod(f"init-{i}", i % count, **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=arrivals(_pod(f"pod-{i}", i % count) for i in range(plan.pods)),
    )


def _pod(name: str, signature: int, **placed: Any) -> Pod:
    vector = signature % _VECTORS
    requests = {"cpu": f"{10 * (1 + vector % 10)}m", "memory": f"{50 * (1 + vector // 10)}Mi"}
    spec: Raw = {}
    rule = signature // _VECTORS % _RULES
    if rule:
        spec["affinity"] = _zones_but(ZONES[rule - 1])
    if signature // (_VECTORS * _RULES) % 2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
    return make_pod(name, labels={"app": f"app-{signature}"}, requests=requests, **spec, **placed)


def _zones_but(zone: str) -> Raw:
    expression = {"key": ZONE, "operator": "NotIn", "values": [zone]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

"""Workloads that wait where more than the scheduler has a say: admission, budgets, strategies.

Here a changed template is not simply rolled out: quotas and limit ranges refuse pods, strategies
hold some of them back, controllers are paused or wait for their pods to be ready for a while.
"""

from collections.abc import Iterable
from typing import Any

from support.e2e.pending_workloads import PendingWorkload
from support.e2e.workload_manifests import (
    Manifest,
    apart,
    claim,
    daemon_set,
    deployment,
    job,
    node,
    on_nodes,
    pod,
    pod_spec,
    priority_class,
    replica_set,
    spread,
    stateful_set,
    storage_class,
    taint,
    three_nodes,
    together,
    uses,
)


def quota(name: str, **hard: str) -> Manifest:
    amounts = {key.replace("_", "."): value for key, value in hard.items()}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": {"hard": amounts},
    }


def limit_range(name: str, **limits: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name},
        "spec": {"limits": [{"type": "Container", **limits}]},
    }


def budget(name: str, app: str, least: int) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": app}}},
    }


def with_spec(manifest: Manifest, **fields: Any) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], **fields}}


def rolling(surge: Any = None, unavailable: Any = None) -> Manifest:
    limits = {"maxSurge": surge, "maxUnavailable": unavailable}
    found = {key: value for key, value in limits.items() if value is not None}
    return {"type": "RollingUpdate", "rollingUpdate": found}


def replication_controller(name: str, replicas: int, **spec: Any) -> Manifest:
    labels = {"app": name}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": labels,
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(**spec)},
        },
    }


def hard_cases() -> Iterable[PendingWorkload]:
    case = PendingWorkload
    labelled = (node("node-0", labels={"disk": "ssd"}), node("node-1", labels={"disk": "hdd"}))
    nvme = {"disk": "nvme"}
    tainted = (node("node-0", taints=[taint("team", "red")]), node("node-1", "1"))

    # quotas
    yield case(
        "quota-without-surge",
        "deployment/web",
        (deployment("web", 3, cpu="1"),),
        (quota("q", pods="3"),),
        tainted,
    )
    yield case(
        "quota-of-cpu",
        "deployment/web",
        (deployment("web", 4, cpu="3"),),
        (quota("q", requests_cpu="12"),),
        three_nodes(),
    )
    yield case(
        "quota-of-classes",
        "pod/p",
        (pod("p", cpu="3"),),
        (
            priority_class("high", 1000),
            {
                **quota("q"),
                "spec": {
                    "hard": {"pods": "0"},
                    "scopeSelector": {
                        "matchExpressions": [
                            {
                                "scopeName": "PriorityClass",
                                "operator": "In",
                                "values": ["high"],
                            }
                        ]
                    },
                },
            },
            *(
                pod(f"holder-{at}", cpu="3", nodeSelector={"kubernetes.io/hostname": f"node-{at}"})
                for at in range(3)
            ),
        ),
        three_nodes(),
    )
    # limit ranges
    yield case(
        "limit-range-minimum",
        "deployment/web",
        (deployment("web", 2, cpu="6"),),
        (limit_range("l", min={"cpu": "5"}),),
        three_nodes(),
    )
    yield case(
        "limit-range-ratio",
        "pod/p",
        (pod("p", cpu="6", limits={"cpu": "8"}),),
        (limit_range("l", maxLimitRequestRatio={"cpu": "1.5"}),),
        three_nodes(),
    )
    # strategies
    yield case(
        "no-surge",
        "deployment/web",
        (deployment("web", 4, cpu="3", strategy=rolling(0, 1)),),
        nodes=three_nodes(),
    )
    yield case(
        "none-unavailable",
        "deployment/web",
        (deployment("web", 4, cpu="3", strategy=rolling(1, 0)),),
        nodes=three_nodes(),
    )
    yield case(
        "all-at-once",
        "deployment/web",
        (deployment("web", 4, cpu="3", strategy=rolling("100%", "100%")),),
        nodes=three_nodes(),
    )
    yield case(
        "ready-after-a-while",
        "deployment/web",
        (with_spec(deployment("web", 4, cpu="3"), minReadySeconds=10),),
        nodes=three_nodes(),
    )
    yield case(
        "partition",
        "statefulset/db",
        (
            with_spec(
                stateful_set("db", 4, cpu="3"),
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
            ),
        ),
        nodes=three_nodes(),
    )
    yield case(
        "partition-above",
        "statefulset/db",
        (
            with_spec(
                stateful_set("db", 2, nodeSelector=nvme),
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
            ),
        ),
        nodes=labelled,
    )
    yield case(
        "stateful-set-on-delete",
        "statefulset/db",
        (with_spec(stateful_set("db", 3, cpu="3"), updateStrategy={"type": "OnDelete"}),),
        nodes=three_nodes()[:2],
    )
    yield case(
        "stateful-set-ordinals",
        "statefulset/db",
        (with_spec(stateful_set("db", 3, cpu="3"), ordinals={"start": 5}),),
        nodes=three_nodes()[:2],
    )
    yield case(
        "daemon-set-on-delete",
        "daemonset/agent",
        (with_spec(daemon_set("agent", cpu="5"), updateStrategy={"type": "OnDelete"}),),
        nodes=(node("node-0", "4"), node("node-1", "8")),
    )
    yield case(
        "daemon-set-surge",
        "daemonset/agent",
        (
            with_spec(
                daemon_set("agent", cpu="5"),
                updateStrategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
                },
            ),
        ),
        nodes=(node("node-0", "4"), node("node-1", "8")),
    )
    yield case(
        "parallel-stateful-set-cpu",
        "statefulset/db",
        (stateful_set("db", 5, cpu="3", parallel=True),),
        nodes=three_nodes(),
    )
    # other kinds
    yield case(
        "replication-controller-cpu",
        "replicationcontroller/rc",
        (replication_controller("rc", 4, cpu="3"),),
        nodes=three_nodes(),
    )
    yield case(
        "job-of-few-at-a-time",
        "job/run",
        (with_spec(job("run", 2, cpu="3"), completions=6),),
        nodes=three_nodes()[:1],
    )
    yield case(
        "indexed-job",
        "job/run",
        (with_spec(job("run", 3, nodeSelector=nvme), completionMode="Indexed"),),
        nodes=labelled,
    )
    # budgets
    yield case(
        "budget-of-the-workload",
        "deployment/web",
        (deployment("web", 4, cpu="3"),),
        (budget("b", "web", 3),),
        three_nodes(),
    )
    yield case(
        "budget-in-the-way",
        "pod/p",
        (pod("p", cpu="3", nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        (
            replica_set("other", 1, cpu="3", affinity=on_nodes("kubernetes.io/hostname", "node-0")),
            budget("b", "other", 1),
        ),
        three_nodes(),
    )
    # roll-outs that are under way
    yield case(
        "two-deployments-compete",
        "deployment/other",
        (deployment("other", 2, cpu="3"),),
        (deployment("web", 3, cpu="3"),),
        three_nodes(),
    )
    yield case(
        "two-anti-affine",
        "deployment/web",
        (deployment("web", 3, affinity=apart("other")),),
        (deployment("other", 3, affinity=apart("other")),),
        three_nodes(),
    )
    yield case(
        "affinity-to-itself",
        "deployment/web",
        (deployment("web", 4, cpu="2", affinity=together("web")),),
        nodes=three_nodes(),
    )
    yield case(
        "spread-by-host",
        "deployment/web",
        (
            deployment(
                "web",
                6,
                cpu="2500m",
                topologySpreadConstraints=spread("web", "kubernetes.io/hostname"),
            ),
        ),
        nodes=(*three_nodes(), node("node-3", "16")),
    )
    yield case(
        "spread-match-label-keys",
        "deployment/web",
        (
            deployment(
                "web",
                4,
                cpu="3",
                topologySpreadConstraints=spread(
                    "web", "kubernetes.io/hostname", matchLabelKeys=["pod-template-hash"]
                ),
            ),
        ),
        nodes=three_nodes(),
    )
    yield case(
        "no-execute-evicts",
        "deployment/web",
        (deployment("web", 3, cpu="1500m"),),
        nodes=(
            node("node-0", taints=[taint("team", "red", "NoExecute")]),
            node("node-1"),
        ),
    )
    # volumes
    yield case(
        "shared-claim-by-deployment",
        "deployment/web",
        (deployment("web", 4, cpu="3", volumes=uses("data")),),
        (storage_class("fast"), claim("data", "fast")),
        three_nodes(),
    )
    yield case(
        "claim-templates",
        "statefulset/db",
        (
            with_spec(
                stateful_set("db", 4, cpu="3"),
                volumeClaimTemplates=[
                    {
                        "metadata": {"name": "data"},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "storageClassName": "fast",
                            "resources": {"requests": {"storage": "1Gi"}},
                        },
                    }
                ],
            ),
        ),
        (storage_class("fast"),),
        three_nodes(),
    )
    yield case(
        "claim-templates-without-class",
        "statefulset/db",
        (
            with_spec(
                stateful_set("db", 2),
                volumeClaimTemplates=[
                    {
                        "metadata": {"name": "data"},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "storageClassName": "fst",
                            "resources": {"requests": {"storage": "1Gi"}},
                        },
                    }
                ],
            ),
        ),
        (storage_class("fast"),),
        three_nodes(),
    )
    # priorities
    yield case(
        "default-priority-class",
        "deployment/web",
        (deployment("web", 4, cpu="3"),),
        ({**priority_class("normal", 5), "globalDefault": True},),
        three_nodes(),
    )
    yield case(
        "waiting-rivals",
        "pod/p",
        (pod("p", cpu="3"),),
        (
            priority_class("high", 1000),
            deployment("other", 5, cpu="3", priorityClassName="high"),
        ),
        three_nodes(),
    )
    yield case(
        "replica-set-of-many",
        "replicaset/rs",
        (replica_set("rs", 30, cpu="1"),),
        nodes=three_nodes(),
    )
    yield case(
        "limits-follow-requests",
        "deployment/web",
        (deployment("web", 4, cpu="3", limits={"cpu": "3", "memory": "128Mi"}),),
        nodes=three_nodes(),
    )
    yield case(
        "init-container",
        "deployment/web",
        (
            deployment(
                "web",
                3,
                cpu="1",
                initContainers=[
                    {
                        "name": "first",
                        "image": "registry.example/init:1",
                        "resources": {"requests": {"cpu": "6"}},
                    }
                ],
            ),
        ),
        nodes=three_nodes(),
    )
    yield case(
        "sidecar",
        "pod/p",
        (
            pod(
                "p",
                cpu="3",
                initContainers=[
                    {
                        "name": "side",
                        "image": "registry.example/side:1",
                        "restartPolicy": "Always",
                        "resources": {"requests": {"cpu": "2"}},
                    }
                ],
            ),
        ),
        nodes=three_nodes(),
    )


HARD_CASES = tuple(hard_cases())

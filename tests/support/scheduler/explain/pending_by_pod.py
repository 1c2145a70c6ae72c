"""Pods that wait because of other pods: affinity, anti-affinity, spreading."""

from typing import Any

from support.scheduler.explain.manifests import HOSTNAME, ZONE, pod
from support.scheduler.explain.pending_by_node import TOLERATES_GPU
from support.scheduler.explain.pending_pod import PendingPod


def _term(app: str, key: str, **more: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **more}


def _near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def _apart(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def _spread(app: str, key: str, **more: Any) -> list[dict[str, Any]]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }
    return [constraint]


BY_POD = (
    PendingPod(
        pod("near-nobody", affinity=_near(_term("cache", HOSTNAME))),
        "pod-affinity-no-match",
        ("app=cache", "no pod"),
    ),
    PendingPod(
        pod("near-other-namespace", affinity=_near(_term("vault", ZONE))),
        "pod-affinity-no-match",
        ("app=vault", "namespace default", "secure/vault-0"),
    ),
    PendingPod(
        pod(
            "near-elsewhere",
            affinity=_near(_term("ledger", ZONE)),
            nodeSelector={"pool": "gpu"},
            tolerations=TOLERATES_GPU,
        ),
        "pod-affinity-elsewhere",
        ("app=ledger", "default/ledger-0", "eu-1c"),
    ),
    PendingPod(
        pod("near-full-node", requests={"cpu": "6"}, affinity=_near(_term("ledger", HOSTNAME))),
        "insufficient-resource",
        ("app=ledger", "c-11", "2 cpu"),
    ),
    PendingPod(
        pod("near-no-key", affinity=_near(_term("db", "example.com/room"))),
        "topology-key-missing",
        ("No node has the label example.com/room", "app=db"),
    ),
    PendingPod(
        pod("apart-from-db", affinity=_apart(_term("db", ZONE))),
        "pod-anti-affinity",
        ("app=db", "default/db-a-10", "eu-1a, eu-1b, eu-1c"),
    ),
    PendingPod(
        pod(
            "apart-on-hosts",
            affinity=_apart(_term("filler", HOSTNAME)),
            nodeSelector={"pool": "big"},
        ),
        "pod-anti-affinity",
        ("30 nodes match pool=big", "app=filler", "default/filler-a-60"),
    ),
    PendingPod(
        pod("unwanted", labels={"app": "noisy"}),
        "existing-pod-anti-affinity",
        ("default/quiet-a-20", "app=noisy", "eu-1a, eu-1b, eu-1c"),
    ),
    PendingPod(
        pod(
            "skewed",
            labels={"app": "web"},
            nodeSelector={ZONE: "eu-1a"},
            topologySpreadConstraints=_spread("web", ZONE, nodeAffinityPolicy="Ignore"),
        ),
        "topology-spread",
        ("app=web", "eu-1a 6", "eu-1c 2", "maxSkew 1"),
    ),
    PendingPod(
        pod(
            "skewed-by-few-domains",
            labels={"app": "web"},
            topologySpreadConstraints=_spread("web", ZONE, minDomains=5),
        ),
        "topology-spread",
        ("minDomains 5", "3", "eu-1a 6"),
    ),
    PendingPod(
        pod(
            "spread-no-key",
            labels={"app": "web"},
            topologySpreadConstraints=_spread("web", "example.com/room"),
        ),
        "topology-key-missing",
        ("No node has the label example.com/room",),
    ),
    PendingPod(
        pod(
            "skewed-gpu",
            labels={"app": "cron"},
            nodeSelector={"pool": "gpu"},
            tolerations=TOLERATES_GPU,
            topologySpreadConstraints=_spread("cron", ZONE, nodeAffinityPolicy="Ignore"),
        ),
        "topology-spread",
        ("20 nodes match pool=gpu", "eu-1a 1", "eu-1b 1", "eu-1c 0"),
    ),
)

"""Pods that wait because of what nodes are: taints, labels, names, features, room, ports."""

from typing import Any

from support.scheduler.explain.manifests import HOSTNAME, ZONE, Manifest, pod
from support.scheduler.explain.pending_cluster import GPU_TAINT
from support.scheduler.explain.pending_pod import PendingPod

TOLERATES_GPU = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
TOLERATES_BATCH = [{"key": "batch", "operator": "Exists"}]

_ADDED_AFFINITY = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    pluginConfig:
      - name: NodeAffinity
        args:
          addedAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
                - matchExpressions: [{key: tenant, operator: In, values: [blue]}]
"""


def _required(*terms: Manifest) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def _expressions(*expressions: tuple[str, str, list[str]]) -> Manifest:
    listed = [{"key": k, "operator": o, "values": v} for k, o, v in expressions]
    return {"matchExpressions": listed}


def _named(*names: str) -> Manifest:
    field = {"key": "metadata.name", "operator": "In", "values": list(names)}
    return {"matchFields": [field]}


BY_NODE = (
    PendingPod(
        pod("taint-gpu", nodeSelector={"pool": "gpu"}),
        "untolerated-taint",
        ("20 nodes match pool=gpu", "taint nvidia.com/gpu=present:NoSchedule", "20 would fit"),
    ),
    PendingPod(
        pod("taint-batch", nodeSelector={"pool": "batch"}),
        "untolerated-taint",
        ("10 nodes match pool=batch", "taint batch=only:NoExecute", "10 would fit"),
    ),
    PendingPod(
        pod(
            "taint-other-value",
            nodeSelector={"pool": "gpu"},
            tolerations=[GPU_TAINT | {"value": "absent", "operator": "Equal"}],
        ),
        "untolerated-taint",
        ("nvidia.com/gpu=present:NoSchedule", "20 would fit"),
    ),
    PendingPod(
        pod(
            "taint-then-room",
            nodeSelector={"pool": "gpu"},
            requests={"cpu": "30"},
        ),
        "untolerated-taint",
        ("20 nodes match pool=gpu", "nvidia.com/gpu=present:NoSchedule", "lack", "6 cpu"),
    ),
    PendingPod(
        pod("cordoned", nodeSelector={"pool": "retired"}),
        "node-unschedulable",
        ("15 nodes match pool=retired", "cordoned"),
    ),
    PendingPod(
        pod("label-value", nodeSelector={ZONE: "eu-1d"}),
        "label-value-missing",
        ("eu-1d", "eu-1a, eu-1b, eu-1c, 100 each"),
    ),
    PendingPod(
        pod("label-typo", nodeSelector={"pool": "generall"}),
        "label-value-missing",
        ("No node has pool=generall", "general"),
    ),
    PendingPod(
        pod("label-key", nodeSelector={"example.com/team": "red"}),
        "label-missing",
        ("No node has the label example.com/team",),
    ),
    PendingPod(
        pod("labels-apart", nodeSelector={"pool": "gpu", ZONE: "eu-1c"}),
        "node-labels-apart",
        ("20 nodes match pool=gpu", "100", f"{ZONE}=eu-1c", "none"),
    ),
    PendingPod(
        pod("affinity-in", affinity=_required(_expressions((ZONE, "In", ["eu-1d", "eu-1e"])))),
        "label-value-missing",
        ("eu-1d", "eu-1e", "eu-1a, eu-1b, eu-1c, 100 each"),
    ),
    PendingPod(
        pod("affinity-gt", affinity=_required(_expressions(("generation", "Gt", ["5"])))),
        "label-value-missing",
        ("generation", "5", "30 have 3"),
    ),
    PendingPod(
        pod(
            "affinity-two-terms",
            affinity=_required(
                _expressions(("pool", "In", ["gpu"]), ("disk", "Exists", [])),
                _expressions(("rack", "In", ["r99"])),
            ),
        ),
        "node-labels-apart",
        ("2 terms", "20 nodes match pool=gpu"),
    ),
    PendingPod(
        pod("affinity-name", affinity=_required(_named("a-777"))),
        "node-name-missing",
        ("no node named a-777",),
    ),
    PendingPod(
        pod("affinity-name-full", requests={"cpu": "8"}, affinity=_required(_named("a-07"))),
        "insufficient-resource",
        ("a-07", "4 cpu"),
    ),
    PendingPod(
        pod(
            "affinity-names-conflict",
            affinity=_required(
                {"matchFields": [*_named("a-00")["matchFields"], *_named("a-01")["matchFields"]]}
            ),
        ),
        "node-names-conflict",
        ("a-00", "a-01"),
    ),
    PendingPod(
        pod("enforced-affinity"),
        "enforced-node-affinity",
        ("addedAffinity", "tenant=blue"),
        config=_ADDED_AFFINITY,
    ),
    PendingPod(
        # Stored by a server with a gate that is closed by default.
        pod("feature", hostNetwork=True, hostUsers=False, metadata={"resourceVersion": "1"}),
        "node-feature-missing",
        ("UserNamespacesHostNetworkSupport", "no node declares"),
        gates="NodeDeclaredFeatures=true,UserNamespacesSupport=true",
    ),
    PendingPod(
        pod("cpu-largest", requests={"cpu": "96"}),
        "resource-exceeds-largest-node",
        ("asks for 96 cpu", "the largest node (b-65) has 72"),
    ),
    PendingPod(
        pod("cpu-short", requests={"cpu": "17500m"}, nodeSelector={"pool": "storage"}),
        "resource-exceeds-largest-node",
        ("30 nodes match pool=storage", "17.5 cpu", "16"),
    ),
    PendingPod(
        pod("cpu-best", requests={"cpu": "5500m"}, nodeSelector={"pool": "general"}),
        "insufficient-resource",
        ("180 nodes match pool=general", "lack", "1.5 cpu"),
    ),
    PendingPod(
        pod("memory-best", requests={"memory": "30Gi"}, nodeSelector={"pool": "general"}),
        "insufficient-resource",
        ("180 nodes match pool=general", "6Gi memory"),
    ),
    PendingPod(
        pod(
            "gpu-best",
            requests={"nvidia.com/gpu": "4"},
            tolerations=TOLERATES_GPU,
        ),
        "insufficient-resource",
        ("2 nvidia.com/gpu", "20 nodes"),
    ),
    PendingPod(
        pod("gpu-untolerated", requests={"nvidia.com/gpu": "1"}),
        "untolerated-taint",
        ("20 nodes have nvidia.com/gpu", "taint nvidia.com/gpu=present:NoSchedule", "20 would fit"),
    ),
    PendingPod(
        pod(
            "sizes-apart",
            requests={"nvidia.com/gpu": "1", "cpu": "60"},
            tolerations=TOLERATES_GPU,
        ),
        "resources-apart",
        ("30 nodes with 60 cpu", "20 nodes with 1 nvidia.com/gpu", "no node with both"),
    ),
    PendingPod(
        pod("gpu-largest", requests={"nvidia.com/gpu": "16"}, tolerations=TOLERATES_GPU),
        "resource-exceeds-largest-node",
        ("asks for 16 nvidia.com/gpu", "8"),
    ),
    PendingPod(
        pod("resource-unknown", requests={"example.com/quantum": "1"}),
        "resource-unknown",
        ("No node has example.com/quantum",),
    ),
    PendingPod(
        pod("resource-typo", requests={"nvidia.com/gpus": "1"}),
        "resource-unknown",
        ("No node has nvidia.com/gpus (did you mean nvidia.com/gpu?)",),
    ),
    PendingPod(
        pod("label-key-typo", nodeSelector={"beta.kubernetes.io/hostnme": "a-0"}),
        "label-missing",
        ("beta.kubernetes.io/hostnme", "did you mean kubernetes.io/hostname?"),
    ),
    PendingPod(
        pod("label-value-typo", nodeSelector={"topology.kubernetes.io/region": "eu1"}),
        "label-value-missing",
        ("No node has topology.kubernetes.io/region=eu1 (did you mean eu-1?)",),
    ),
    PendingPod(
        pod("disk-largest", requests={"ephemeral-storage": "200Gi"}),
        "resource-exceeds-largest-node",
        ("asks for 200Gi ephemeral-storage", "100Gi"),
    ),
    PendingPod(
        pod("too-many-pods", nodeSelector={"pool": "tiny"}),
        "too-many-pods",
        ("15 nodes match pool=tiny", "2 pods"),
    ),
    PendingPod(
        pod("host-port", nodeSelector={"pool": "storage"}, ports=[9100]),
        "host-port-taken",
        ("30 nodes match pool=storage", "9100", "default/proxy-a-80"),
    ),
    PendingPod(
        pod("host-missing", nodeSelector={HOSTNAME: "d-01"}),
        "label-value-missing",
        ("No node has kubernetes.io/hostname=d-01",),
    ),
)

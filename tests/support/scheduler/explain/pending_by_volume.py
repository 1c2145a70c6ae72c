"""Pods that wait for volumes."""

from support.scheduler.explain.manifests import ZONE, claim, pod, volume
from support.scheduler.explain.pending_pod import PendingPod

_STORED = {"resourceVersion": "1"}
_GOING = {
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "finalizers": ["kubernetes.io/pvc-protection"],
}


BY_VOLUME = (
    PendingPod(
        pod("claim-missing", claims=["nowhere"]),
        "volume-claim-missing",
        ("PersistentVolumeClaim default/nowhere does not exist",),
    ),
    PendingPod(
        pod("claim-deleting", claims=["going"]),
        "volume-claim-deleting",
        ("default/going", "being deleted"),
        [claim("going", volume="going", metadata=_GOING), volume("going", bound_to="going")],
    ),
    PendingPod(
        pod("claim-lost", claims=["lost"]),
        "volume-missing",
        ("default/lost", "PersistentVolume gone", "does not exist"),
        [claim("lost", volume="gone", status={"phase": "Lost"})],
    ),
    PendingPod(
        pod("volume-gone", claims=["orphan"]),
        "volume-missing",
        ("default/orphan", "PersistentVolume gone-2", "does not exist"),
        [claim("orphan", volume="gone-2")],
    ),
    PendingPod(
        pod("claim-unbound", claims=["unbound"]),
        "volume-claim-unbound",
        ("default/unbound", "not bound"),
        [claim("unbound", "", metadata=_STORED)],
    ),
    PendingPod(
        pod("class-missing", claims=["classless"]),
        "storage-class-missing",
        ("StorageClass gold", "default/classless", "does not exist"),
        [claim("classless", "gold", metadata=_STORED)],
    ),
    PendingPod(
        pod("volume-elsewhere", claims=["pinned"], nodeSelector={"pool": "general"}),
        "volume-node-affinity",
        ("default/pinned", "PersistentVolume pinned", "a-85"),
        [
            claim("pinned", volume="pinned"),
            volume("pinned", bound_to="pinned", hosts=["a-85"], local={"path": "/data"}),
        ],
    ),
    PendingPod(
        pod("volume-zone", claims=["zonal"], nodeSelector={ZONE: "eu-1b"}),
        "volume-zone",
        ("PersistentVolume zonal", "eu-1a", "eu-1b"),
        [
            claim("zonal", volume="zonal"),
            volume(
                "zonal", bound_to="zonal", labels={ZONE: "eu-1a"}, nfs={"server": "s", "path": "/"}
            ),
        ],
    ),
    PendingPod(
        pod("no-local-volume", claims=["local-big"]),
        "no-volume-to-bind",
        ("default/local-big", "200Gi", "StorageClass local", "50Gi"),
        [claim("local-big", "local", size="200Gi")],
    ),
    PendingPod(
        pod("local-volume-elsewhere", claims=["local-small"], nodeSelector={"pool": "general"}),
        "no-volume-to-bind",
        ("default/local-small", "StorageClass local", "a-80"),
        [claim("local-small", "local", size="20Gi")],
    ),
    PendingPod(
        pod("local-volume-node-full", claims=["local-here"], requests={"cpu": "20"}),
        "no-volume-to-bind",
        ("default/local-here", "a-80"),
        [claim("local-here", "local", size="20Gi")],
    ),
    PendingPod(
        pod("class-faraway", claims=["faraway"]),
        "storage-class-topology",
        ("StorageClass faraway", "eu-1x"),
        [claim("faraway", "faraway")],
    ),
    PendingPod(
        pod("no-capacity", claims=["scarce"]),
        "storage-capacity",
        ("default/scarce", "500Gi", "StorageClass scarce", "20Gi"),
        [claim("scarce", "scarce", size="500Gi")],
    ),
    PendingPod(
        pod("volume-limit", claims=["third"], nodeSelector={"pool": "storage"}),
        "volume-limit",
        ("30 nodes match pool=storage", "disk.example.com", "2 of 2"),
        [claim("third", volume="third"), volume("third", bound_to="third")],
    ),
    PendingPod(
        pod("claim-in-use", claims=["exclusive"]),
        "volume-claim-in-use",
        ("default/exclusive", "ReadWriteOncePod", "default/owner-0", "b-30"),
    ),
    PendingPod(
        pod(
            "disk-in-use",
            nodeSelector={"pool": "big"},
            volumes=[{"name": "disk", "awsElasticBlockStore": {"volumeID": "vol-1"}}],
        ),
        "disk-in-use",
        ("30 nodes match pool=big", "vol-1", "default/reader-a-60"),
    ),
    PendingPod(
        pod(
            "ephemeral-foreign",
            volumes=[
                {
                    "name": "scratch",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "storageClassName": "fast",
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            ],
        ),
        "volume-claim-not-owned",
        ("default/ephemeral-foreign-scratch", "not made for this pod"),
        [claim("ephemeral-foreign-scratch", "fast")],
    ),
)

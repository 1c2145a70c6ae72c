"""Pods that wait for devices."""

from support.scheduler.explain.manifests import GPU_DRIVER, allocation, device_claim, pod
from support.scheduler.explain.pending_pod import PendingPod

_LARGE = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0'
_HELD = allocation(GPU_DRIVER, "a-69", "gpu-1", "a-69") | {
    "reservedFor": [{"resource": "pods", "name": "holder", "uid": "holder"}]
}

BY_DEVICE = (
    PendingPod(
        pod("device-claim-missing", devices=["no-such-claim"]),
        "resource-claim-missing",
        ("ResourceClaim default/no-such-claim does not exist",),
    ),
    PendingPod(
        pod("device-claim-deleting", devices=["leaving"]),
        "resource-claim-deleting",
        ("default/leaving", "being deleted"),
        [
            device_claim(
                "leaving",
                "gpu",
                metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x.io/y"]},
            )
        ],
    ),
    PendingPod(
        pod(
            "device-template-missing",
            resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "no-such-template"}],
        ),
        "resource-claim-not-created",
        ("ResourceClaimTemplate default/no-such-template",),
    ),
    PendingPod(
        pod("device-class-missing", devices=["tpu"]),
        "device-class-missing",
        ("DeviceClass tpu", "does not exist", "default/tpu"),
        [device_claim("tpu", "tpu")],
    ),
    PendingPod(
        pod("device-no-slices", devices=["ghost"]),
        "no-devices",
        ("DeviceClass ghost", "ghost.example.com", "default/ghost"),
        [device_claim("ghost", "ghost")],
    ),
    PendingPod(
        pod("device-selector", devices=["large-gpu"]),
        "device-selector",
        ("20 of 20", _LARGE, "default/large-gpu"),
        [device_claim("large-gpu", "gpu", expression=_LARGE)],
    ),
    PendingPod(
        pod("device-taken", devices=["free-nic"]),
        "devices-allocated",
        ("5", "default/held-60", "default/free-nic"),
        [device_claim("free-nic", "nic")],
    ),
    PendingPod(
        pod("device-node-full", devices=["one-gpu"], requests={"cpu": "30"}),
        "insufficient-resource",
        ("10 nodes", "devices for its ResourceClaims", "6 cpu"),
        [device_claim("one-gpu", "gpu")],
    ),
    PendingPod(
        pod("device-count", devices=["four-gpus"]),
        "too-few-devices",
        ("4 devices", "2", "default/four-gpus"),
        [device_claim("four-gpus", "gpu", count=4)],
    ),
    PendingPod(
        pod("device-tainted", devices=["fpga"]),
        "device-taint",
        ("gpu.example.com/broken", "default/fpga"),
        [device_claim("fpga", "fpga")],
    ),
    PendingPod(
        pod("device-elsewhere", devices=["held-gpu"], nodeSelector={"pool": "general"}),
        "resource-claim-elsewhere",
        ("default/held-gpu", "a-69"),
        [
            device_claim("held-gpu", "gpu", status=_HELD),
            pod("holder", metadata={"uid": "holder"}, node="a-69", devices=["held-gpu"]),
        ],
    ),
    PendingPod(
        pod("device-constraint", devices=["same-board"]),
        "device-constraint",
        ("gpu.example.com/board", "default/same-board"),
        [
            device_claim(
                "same-board",
                "gpu",
                count=2,
                constraints=[{"matchAttribute": "gpu.example.com/board"}],
            )
        ],
    ),
)

"""Volumes, devices, the claims on both and pods with claims, for machines that make a cluster live.

As in `pod_shapes.py` there is little of everything, so that pods want the same things.
"""

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace
from support.scheduler.engine.pod_shapes import MISCHIEF, NODE_NAMES, ZONE, pods
from support.scheduler.plugins.device_builders import alternative as or_else
from support.scheduler.plugins.device_builders import device, exactly, first_of, make_slice
from support.scheduler.plugins.device_builders import make_claim as make_device_claim
from support.scheduler.plugins.device_builders import make_class as make_device_class
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_capacity,
    make_claim,
    make_class,
    make_csi_node,
    make_driver,
    make_volume,
)

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod, PodResourceClaim
from podium.kubernetes.kinds.volumes import Volume
from podium.testing import make_pod

DRIVER = "csi.example.com"
STORAGE_CLASSES = ["now", "wait", "local"]
EXTENDED = "example.com/gpu"
CLAIMS = ["c0", "c1", "c2", "c3"]
VOLUMES = ["pv0", "pv1", "pv2", "pv3"]
DEVICE_CLAIMS = ["r0", "r1", "r2", "r3"]
DEVICE_CLASSES = ["gpu", "any"]
SLICES = [*(f"s-{name}" for name in NODE_NAMES), "everywhere"]
NAMES: dict[str, list[str]] = {
    "storage class": STORAGE_CLASSES,
    "claim": [f"default/{name}" for name in CLAIMS],
    "volume": VOLUMES,
    "CSI node": NODE_NAMES,
    "CSI driver": [DRIVER],
    "capacity": ["default/room-a", "default/room-b"],
    "device claim": [f"default/{name}" for name in DEVICE_CLAIMS],
    "device class": DEVICE_CLASSES,
    "slice": SLICES,
}
"""The kinds of objects, and the keys of those that there can be."""

sizes = st.sampled_from(["1Gi", "2Gi"])
modes = st.sampled_from([("ReadWriteOnce",), ("ReadWriteOnce",), ("ReadWriteOncePod",)])


@st.composite
def objects(draw: st.DrawFn, kind: str, key: str, number: int) -> KubeStruct:
    """An object of a kind; the number makes it another than its predecessors."""
    name = key.rpartition("/")[2]
    uid: dict[str, Any] = {"uid": f"{name}-{number}"}
    match kind:
        case "storage class":
            return draw(_storage_classes(name))
        case "claim":
            return make_claim(
                name,
                storage_class=draw(st.sampled_from(STORAGE_CLASSES)),
                request=draw(sizes),
                modes=draw(modes),
                metadata=uid,
            )
        case "volume":
            return draw(_volumes(name, uid))
        case "CSI node":
            return make_csi_node(name, {DRIVER: draw(st.sampled_from([1, 2, None]))})
        case "CSI driver":
            return make_driver(name, storageCapacity=draw(st.booleans()))
        case "capacity":
            room = draw(st.sampled_from(["1Gi", "10Gi"]))
            return make_capacity(name, "wait", topology={ZONE: name[-1]}, capacity=room)
        case "device claim":
            wanted = draw(st.lists(st.sampled_from(_REQUESTS), min_size=1, max_size=2))
            requests = [{**request, "name": f"q{n}"} for n, request in enumerate(wanted)]
            return make_device_claim(name, *requests, **uid)
        case "device class":
            selected = ("device.attributes['gpu.example.com'].fast",) if name == "gpu" else ()
            more = {"extendedResourceName": EXTENDED} if name == "any" else {}
            return make_device_class(name, *(selected if draw(st.booleans()) else ()), **more)
        case _:
            return draw(_slices(name, number))


@st.composite
def _storage_classes(draw: st.DrawFn, name: str) -> KubeStruct:
    if name == "local":
        return make_class(name, provisioner="kubernetes.io/no-provisioner")
    topologies = draw(st.sampled_from([None, None, [{ZONE: ["a"]}]])) if name == "wait" else None
    mode = "Immediate" if name == "now" else "WaitForFirstConsumer"
    return make_class(name, provisioner=DRIVER, mode=mode, topologies=topologies)


@st.composite
def _volumes(draw: st.DrawFn, name: str, uid: dict[str, Any]) -> KubeStruct:
    return make_volume(
        name,
        storage_class=draw(st.sampled_from([*STORAGE_CLASSES, "local"])),
        capacity=draw(sizes),
        modes=("ReadWriteOnce", "ReadWriteOncePod"),
        labels=draw(st.sampled_from([None, None, {ZONE: "a"}])),
        nodes=draw(st.none() | st.sets(st.sampled_from(NODE_NAMES), min_size=1).map(sorted)),
        csi=draw(st.sampled_from([None, (DRIVER, name)])),
        metadata=uid,
    )


_REQUESTS = [
    exactly("q"),
    exactly("q", 2),
    exactly("q", 1, class_="any"),
    exactly("q", 0, class_="any"),
    exactly("q", 1, adminAccess=True),
    first_of("q", or_else("two", 2), or_else("one", 1, class_="any")),
]


@st.composite
def _slices(draw: st.DrawFn, name: str, number: int) -> KubeStruct:
    devices = []
    for place in range(draw(st.integers(0, 3))):
        more: dict[str, Any] = {}
        if draw(st.integers(0, 4)) == 0:
            more["allowMultipleAllocations"] = True
        if draw(st.integers(0, 6)) == 0:
            more["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
        devices.append(device(f"d{place}", {"fast": draw(st.booleans())}, **more))
    if name == "everywhere":
        return make_slice(name, devices, generation=number, allNodes=True)
    return make_slice(name, devices, node=name.removeprefix("s-"), generation=number)


@st.composite
def _plain_pods(draw: st.DrawFn, name: str, uid: str, node: str) -> Pod:
    """Pods that fit nearly everywhere, if only they get what they claim."""
    requests: dict[str, Any] = {"cpu": "100m"}
    if draw(st.integers(0, 5)) == 0:
        requests[EXTENDED] = 1
    annotations = {}
    if not node and draw(st.integers(0, 3)) == 0:
        annotations["mischief"] = draw(st.sampled_from(MISCHIEF))
    return make_pod(
        name,
        node=node,
        requests=requests,
        priority=draw(st.sampled_from([None, 1, 5])),
        metadata={"uid": uid, "annotations": annotations},
    )


@st.composite
def claiming_pods(draw: st.DrawFn, name: str, uid: str, *, node: str = "") -> Pod:
    """A pod as in `pod_shapes.py`, most often with claims."""
    pod = draw(
        _plain_pods(name, uid, node) if draw(st.integers(0, 3)) else pods(name, uid, node=node)
    )
    volumes = [claim_volume(c) for c in draw(st.sets(st.sampled_from(CLAIMS), max_size=2))]
    if draw(st.integers(0, 7)) == 0:
        spec = make_claim("", storage_class=draw(st.sampled_from(STORAGE_CLASSES))).spec
        template = {"spec": msgspec.to_builtins(spec)}
        volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}})
    names = draw(st.sets(st.sampled_from(DEVICE_CLAIMS), max_size=2))
    claims = [PodResourceClaim(name=c, resource_claim_name=c) for c in sorted(names)]
    if draw(st.integers(0, 7)) == 0:
        claims.append(PodResourceClaim(name="own", resource_claim_template_name="template"))
    wants = draw(st.sampled_from(["volumes", "devices", "both"]))
    return replace(
        pod,
        spec=replace(
            pod.spec,
            volumes=msgspec.convert(volumes, tuple[Volume, ...])
            if wants in ("volumes", "both")
            else None,
            resource_claims=tuple(claims) if wants in ("devices", "both") else None,
        ),
    )

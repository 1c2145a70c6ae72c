"""The case of dynamic resource allocation: one device for each pod, from a claim template.

A controller makes a claim for each pod and writes its name into the pod's status; here the claims
come in just before their pods. Half of the devices are taken before the measurement starts.
"""

from collections.abc import Iterator

from msgspec import convert

from podium.bench.scene import Arrival, Plan, Scene
from podium.bench.templates import Raw, make_nodes, make_pod, node_name, on_node
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod

DRIVER = "test-driver.cdi.k8s.io"
CLASS = "test-class"
DEVICES_PER_NODE = 10


def claim_template(plan: Plan) -> Scene:
    def objects() -> Iterator[KubeStruct]:
        yield _device_class()
        for index in range(plan.nodes):
            yield _slice(node_name(index))
        for index in range(plan.init):
            yield _claim(f"init-{index}", _allocated(index, plan.nodes))

    return Scene(
        nodes=make_nodes(plan.nodes),
        objects=objects(),
        init=(_pod(f"init-{i}", on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=(
            Arrival(_pod(f"pod-{i}", {}), (_claim(f"pod-{i}", {}),)) for i in range(plan.pods)
        ),
    )


def _device_class() -> DeviceClass:
    selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
    return convert({"metadata": {"name": CLASS}, "spec": {"selectors": selectors}}, DeviceClass)


def _slice(node: str) -> ResourceSlice:
    devices = [
        {
            "name": f"instance-{i}",
            "attributes": {"model": {"string": "A100"}, "family": {"string": "GPU"}},
            "capacity": {"memory": {"value": "1Gi"}},
        }
        for i in range(DEVICES_PER_NODE)
    ]
    return convert(
        {
            "metadata": {"name": f"{node}-slice", "uid": f"{node}-slice"},
            "spec": {
                "driver": DRIVER,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        },
        ResourceSlice,
    )


def _allocated(index: int, nodes: int) -> Raw:
    """The status of a claim whose pod is on a node already."""
    node = node_name(index % nodes)
    result = {"request": "req-0", "driver": DRIVER, "pool": node}
    result |= {"device": f"instance-{index // nodes}"}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    name = f"init-{index}"
    return {
        "allocation": {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": terms},
        },
        "reservedFor": [{"resource": "pods", "name": name, "uid": f"default/{name}"}],
    }


def _claim(pod: str, status: Raw) -> ResourceClaim:
    exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": 1}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"default/{pod}"}
    return convert(
        {
            "metadata": {
                "name": f"claim-{pod}",
                "namespace": "default",
                "uid": f"claim-{pod}",
                "ownerReferences": [owner | {"controller": True}],
            },
            "spec": {"devices": {"requests": [{"name": "req-0", "exactly": exactly}]}},
            "status": status,
        },
        ResourceClaim,
    )


def _pod(name: str, placed: Raw) -> Pod:
    claims = [{"name": "resource", "resourceClaimTemplateName": "test-claim-template"}]
    told = [{"name": "resource", "resourceClaimName": f"claim-{name}"}]
    status = {"phase": "Pending"} | placed.get("status", {}) | {"resourceClaimStatuses": told}
    return make_pod(name, requests=None, resourceClaims=claims, **{**placed, "status": status})

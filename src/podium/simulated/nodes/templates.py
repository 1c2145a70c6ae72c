"""Nodes from templates: ordinary Node manifests that are made many times.

A template is what `kubectl get node -o yaml` prints, or less: what is missing is filled in, and
what belongs to one particular node (uid, addresses, conditions) is left out. In texts, `{index}`
stands for the node's number and `{name}` for its name. A name without `{index}` is that of the node
if only one is made of it; of several, each gets its number behind it.

Addresses are from 10.128.0.0/10: pods have 10.64.0.0/10, services 10.0.0.0/24.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from podium import __version__
from podium.golang.documents import SourceDocument, expand_lists, read_documents
from podium.golang.errors import InputError, ObjectError
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.quantity import QuantityError, nano
from podium.simulated.names import SIMULATED
from podium.simulated.nodes.heartbeats import HOSTNAME, missing_labels

ZONE: Final = "topology.kubernetes.io/zone"
_OWN_METADATA: Final = ("name", "labels", "annotations")
_OWN_STATUS: Final = ("capacity", "allocatable", "images", "nodeInfo", "declaredFeatures")
_FIRST_ADDRESS: Final = 10 << 24 | 128 << 16
_MOST: Final = 1 << 22
_MACHINES: Final = uuid.UUID("9d2f6c0e-6d2b-5d0a-8f52-0d1b0b1f7a11")


@dataclass(frozen=True, slots=True)
class NodeTemplate:
    """A Node manifest, checked."""

    manifest: JsonObject

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])


def default_template(*, cpu: str = "", memory: str = "", pods: int | None = None) -> NodeTemplate:
    """A node of 8 CPUs and 32 GiB, or of what is requested. Raises InputError."""
    written = files("podium.simulated.nodes").joinpath("default_node.yaml").read_bytes()
    (template,) = read_templates(written, "default_node.yaml")
    wanted = {"cpu": cpu, "memory": memory, "pods": "" if pods is None else str(pods)}
    for amounts in ("capacity", "allocatable"):
        for resource, amount in wanted.items():
            if amount:
                template.manifest["status"][amounts][resource] = _check_amount(resource, amount)
    return template


def _check_amount(resource: str, amount: str) -> str:
    try:
        if nano(amount) > 0:
            return amount
    except QuantityError:
        pass
    raise InputError(f'"{amount}" is no amount of {resource}', remedy="write it as 4, 500m or 32Gi")


def read_templates(written: bytes, source: str) -> list[NodeTemplate]:
    """Raises InputError."""
    documents = list(expand_lists(read_documents(written, source)))
    if not documents:
        raise InputError("holds no node", source=source)
    return [_template(document) for document in documents]


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _template(document: SourceDocument) -> NodeTemplate:
    value = _object(document.value)
    if value.get("kind") != "Node":
        raise document.error("is no Node", path="kind", remedy="a template is a Node manifest")
    try:
        convert_object(value, Node, strict=True)
    except ObjectError as problem:
        raise document.error(problem.problem, path=problem.path, remedy=problem.remedy) from None
    metadata = value["metadata"]
    status = value.get("status") or {}
    capacity = status.get("capacity") or status.get("allocatable")
    if not capacity:
        raise document.error(
            "is missing",
            path="status.capacity",
            remedy="say how much the node has: cpu, memory, pods",
        )
    kept = {name: status[name] for name in _OWN_STATUS if status.get(name)}
    return NodeTemplate(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {name: metadata[name] for name in _OWN_METADATA if metadata.get(name)},
            "spec": _spec(value.get("spec") or {}),
            "status": {"allocatable": dict(capacity), **kept, "capacity": dict(capacity)},
        }
    )


def _spec(written: JsonObject) -> JsonObject:
    """Taints and cordons of the template; those that controllers write are left to them."""
    spec = {name: written[name] for name in ("unschedulable",) if written.get(name)}
    taints = [
        taint
        for taint in written.get("taints") or ()
        if not str(taint.get("key", "")).startswith("node.kubernetes.io/")
    ]
    return {**spec, "taints": taints} if taints else spec


def nodes_from(
    templates: Sequence[NodeTemplate], count: int, zones: Sequence[str] = ()
) -> list[JsonObject]:
    """`count` nodes, taken from the templates in turn; zones are given out in turn as well."""
    if not 0 <= count <= _MOST:
        raise InputError(f"there cannot be {count} nodes", remedy=f"0 to {_MOST} can be simulated")
    made = []
    in_turn = [templates[place % len(templates)] for place in range(count)]
    totals = Counter(template.name for template in in_turn)
    numbers: Counter[str] = Counter()
    for place, template in enumerate(in_turn):
        base = template.name
        index = numbers[base]
        numbers[base] += 1
        if "{index}" in base:
            name = base.replace("{index}", str(index))
        else:
            name = base if totals[base] == 1 else f"{base}-{index}"
        zone = zones[place % len(zones)] if zones else ""
        made.append(_node(template, name, index, place, zone))
    return made


def _node(template: NodeTemplate, name: str, index: int, place: int, zone: str) -> JsonObject:
    node: JsonObject = _fill_placeholders(
        template.manifest, {"{index}": str(index), "{name}": name}
    )
    metadata, status = node["metadata"], node["status"]
    metadata["name"] = name
    labels = metadata.setdefault("labels", {})
    labels |= {HOSTNAME: name, SIMULATED: "true"}
    if zone:
        labels[ZONE] = zone
    labels |= missing_labels(name, labels)
    number = _FIRST_ADDRESS + place + 1
    address = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    status["addresses"] = [
        {"type": "InternalIP", "address": address},
        {"type": "Hostname", "address": name},
    ]
    status["nodeInfo"] = {**_node_info(name), **(status.get("nodeInfo") or {})}
    return node


def _node_info(name: str) -> JsonObject:
    machine = str(uuid.uuid5(_MACHINES, name))
    return {
        "machineID": machine,
        "systemUUID": machine,
        "bootID": machine,
        "kernelVersion": "simulated",
        "osImage": "Podium",
        "containerRuntimeVersion": f"podium://{__version__}",
        "kubeletVersion": f"v1.36.0+podium-{__version__}",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def _fill_placeholders(value: Any, texts: dict[str, str]) -> Any:
    """A copy with the placeholders in its texts replaced."""
    if isinstance(value, str):
        for placeholder, text in texts.items():
            value = value.replace(placeholder, text)
        return value
    if isinstance(value, dict):
        return {key: _fill_placeholders(inner, texts) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill_placeholders(inner, texts) for inner in value]
    return value

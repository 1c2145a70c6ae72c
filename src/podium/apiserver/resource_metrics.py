"""The resource metrics API, `metrics.k8s.io/v1beta1`, of a cluster whose nodes are simulated.

Nothing runs on such nodes that could be measured, so what pods use follows from what they request,
or from annotations. Nothing is stored either: each answer is worked out of nodes and pods as they
are. A server without simulated nodes does not serve the group.

What a simulated pod uses: what its annotations say, otherwise what its containers request.

    podium.dev/cpu-usage       annotation of a pod or node: cores, as a quantity
    podium.dev/memory-usage    annotation of a pod or node: bytes, as a quantity

A pod's annotation is about all of its containers together, which share it evenly; a node's is
about the whole node, in place of the sum of its pods. A container that requests nothing uses 10m
and 32Mi. Only running pods use anything.

Requests about `metrics.k8s.io/v1beta1`: usage of nodes and pods, one or a list, never a watch.
Selectors are those of the nodes and pods themselves. What a pod uses is kept while the pod does
not change, so that asking again costs little.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from podium.apiserver.http.messages import HttpRequest, Response, json_response
from podium.apiserver.http.paths import Target
from podium.apiserver.requests import query
from podium.apiserver.requests.registry import Registry
from podium.apiserver.selectors import selection_of
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.quantity import NANO_PER_UNIT, QuantityError, nano

CPU_USAGE: Final = "podium.dev/cpu-usage"
MEMORY_USAGE: Final = "podium.dev/memory-usage"
_IDLE_CPU_NANO: Final = 10_000_000
_IDLE_MEMORY_BYTES: Final = 32 << 20
_KIBI: Final = 1024


class MeasuredUsage(NamedTuple):
    cpu_nano: int
    memory_bytes: int

    def to_json(self) -> JsonObject:
        """As a metrics server writes it: nano-cores and whole KiB."""
        return {"cpu": f"{self.cpu_nano}n", "memory": f"{self.memory_bytes // _KIBI}Ki"}


class ContainerUsage(NamedTuple):
    name: str
    usage: MeasuredUsage


def container_usages(pod: JsonObject) -> list[ContainerUsage]:
    """Of each container of a running pod; of others there are none."""
    if pod.get("status", {}).get("phase") != "Running":
        return []
    containers: list[JsonObject] = pod.get("spec", {}).get("containers") or []
    annotations = annotations_of(pod)
    count = max(1, len(containers))
    cpu = _read_quantity(annotations, CPU_USAGE)
    memory = _read_quantity(annotations, MEMORY_USAGE)
    return [
        ContainerUsage(
            container.get("name", ""),
            MeasuredUsage(
                cpu // count if cpu is not None else _requested_cpu(container),
                memory // count // NANO_PER_UNIT
                if memory is not None
                else _requested_memory(container),
            ),
        )
        for container in containers
    ]


def node_usage(node: JsonObject, pods: Iterable[MeasuredUsage]) -> MeasuredUsage:
    """Of a node with the pods that are on it."""
    each = list(pods)
    annotations = annotations_of(node)
    cpu, memory = _read_quantity(annotations, CPU_USAGE), _read_quantity(annotations, MEMORY_USAGE)
    return MeasuredUsage(
        sum(usage.cpu_nano for usage in each) if cpu is None else cpu,
        sum(usage.memory_bytes for usage in each) if memory is None else memory // NANO_PER_UNIT,
    )


def annotations_of(obj: JsonObject) -> dict[str, str]:
    return obj.get("metadata", {}).get("annotations") or {}


def _requested_cpu(container: JsonObject) -> int:
    written = _requests(container).get("cpu")
    return _IDLE_CPU_NANO if written is None else nano(written)


def _requested_memory(container: JsonObject) -> int:
    written = _requests(container).get("memory")
    return _IDLE_MEMORY_BYTES if written is None else nano(written) // NANO_PER_UNIT


def _requests(container: JsonObject) -> dict[str, Any]:
    return (container.get("resources") or {}).get("requests") or {}


def _read_quantity(annotations: dict[str, str], key: str) -> int | None:
    """A quantity of an annotation in nano units; None if there is none that can be read."""
    written = annotations.get(key)
    if written is None:
        return None
    try:
        return max(0, nano(written))
    except QuantityError:
        return None


GROUP: Final = "metrics.k8s.io"
VERSION: Final = "v1beta1"
_API_VERSION: Final = f"{GROUP}/{VERSION}"
_WINDOW: Final = "15s"
_VERBS: Final = ("get", "list")
NODE_METRICS: Final = ApiResource(
    GROUP, VERSION, "NodeMetrics", "nodes", "", namespaced=False, verbs=_VERBS
)
POD_METRICS: Final = ApiResource(
    GROUP, VERSION, "PodMetrics", "pods", "", namespaced=True, verbs=_VERBS
)


class ResourceMetrics:
    resources: Final = (NODE_METRICS, POD_METRICS)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._nodes = registry.table.get_required("nodes")
        self._pods = registry.table.get_required("pods")
        self._known: dict[str, tuple[Stored, str, list[ContainerUsage]]] = {}

    def handle(self, request: HttpRequest, target: Target) -> Response:
        """Raises StatusError."""
        resource = next((each for each in self.resources if each.plural == target.plural), None)
        if resource is None or target.version != VERSION:
            raise status_errors.unknown_resource()
        if target.namespace and not resource.namespaced:
            raise status_errors.unknown_resource()
        watches = target.prefix or query.flag(request.parameters, "watch")
        if request.method not in ("GET", "HEAD") or target.subresource or watches:
            raise status_errors.method_not_allowed()
        if resource.namespaced and target.name and not target.namespace:
            raise status_errors.unknown_resource()
        if target.name:
            return json_response(self._one(resource, target))
        items = self._all(resource, target.namespace, request)
        listed = {"kind": resource.list_kind, "apiVersion": _API_VERSION, "metadata": {}}
        return json_response({**listed, "items": items})

    def _one(self, resource: ApiResource, target: Target) -> JsonObject:
        measured = self._pods if resource is POD_METRICS else self._nodes
        stored = self._registry.collection(measured).get(target.namespace, target.name)
        found = self._metrics(resource, [stored] if stored is not None else [])
        if not found:
            raise status_errors.not_found(resource, target.name)
        return found[0]

    def _all(self, resource: ApiResource, namespace: str, request: HttpRequest) -> list[JsonObject]:
        measured = self._pods if resource is POD_METRICS else self._nodes
        labels = query.text(request.parameters, "labelSelector")
        fields = query.text(request.parameters, "fieldSelector")
        selection = selection_of(measured, labels, fields)
        current = self._registry.collection(measured).current(namespace)
        return self._metrics(resource, [each for each in current if selection.matches(each)])

    def _metrics(self, resource: ApiResource, measured: list[Stored]) -> list[JsonObject]:
        if resource is POD_METRICS:
            shown = ((stored, self._containers(stored)) for stored in measured)
            return [self._pod_metrics(stored, each) for stored, each in shown if each]
        by_node = self._usage_by_node()
        return [self._node_metrics(stored, by_node) for stored in measured]

    def _node_metrics(self, stored: Stored, by_node: dict[str, list[MeasuredUsage]]) -> JsonObject:
        node = self._registry.read(self._nodes, stored)
        usage = node_usage(node, by_node.get(stored.name, ()))
        return {**self._head(NODE_METRICS, node), "usage": usage.to_json()}

    def _pod_metrics(self, stored: Stored, containers: list[ContainerUsage]) -> JsonObject:
        pod = self._registry.read(self._pods, stored)
        shown = [{"name": each.name, "usage": each.usage.to_json()} for each in containers]
        return {**self._head(POD_METRICS, pod), "containers": shown}

    def _head(self, resource: ApiResource, measured: JsonObject) -> JsonObject:
        now, metadata = self._registry.now(), measured["metadata"]
        about = {key: metadata[key] for key in ("name", "namespace", "labels") if metadata.get(key)}
        return {
            "kind": resource.kind,
            "apiVersion": _API_VERSION,
            "metadata": {**about, "creationTimestamp": now},
            "timestamp": now,
            "window": _WINDOW,
        }

    def _usage_by_node(self) -> dict[str, list[MeasuredUsage]]:
        found: dict[str, list[MeasuredUsage]] = defaultdict(list)
        there = self._registry.collection(self._pods).current("")
        for stored in there:
            for each in self._containers(stored):
                found[self._known[stored.key][1]].append(each.usage)
        if len(self._known) > 2 * len(there) + 1000:
            kept = {stored.key for stored in there}
            self._known = {key: known for key, known in self._known.items() if key in kept}
        return found

    def _containers(self, stored: Stored) -> list[ContainerUsage]:
        key = stored.key
        known = self._known.get(key)
        if known is None or known[0] is not stored:
            pod = self._registry.read(self._pods, stored)
            node = pod.get("spec", {}).get("nodeName", "")
            known = self._known[key] = (stored, node, container_usages(pod))
        return known[2]

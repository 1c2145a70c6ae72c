"""Requests about `metrics.k8s.io/v1beta1`: usage of nodes and pods, one or a list, never a watch.

Selectors are those of the nodes and pods themselves. What a pod uses is kept while the pod does not
change, so that asking again costs little.
"""

from collections import defaultdict
from typing import Final

from podium.apiserver.http.messages import Request, Response, json_response
from podium.apiserver.http.paths import Target
from podium.apiserver.requests import query
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resource_metrics.usage import (
    ContainerUsage,
    Usage,
    container_usages,
    node_usage,
)
from podium.apiserver.selectors.selection import selection_of
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource

GROUP: Final = "metrics.k8s.io"
VERSION: Final = "v1beta1"
_API_VERSION: Final = f"{GROUP}/{VERSION}"
_WINDOW: Final = "15s"
_VERBS: Final = ("get", "list")
NODE_METRICS: Final = Resource(
    GROUP, VERSION, "NodeMetrics", "nodes", "", namespaced=False, verbs=_VERBS
)
POD_METRICS: Final = Resource(
    GROUP, VERSION, "PodMetrics", "pods", "", namespaced=True, verbs=_VERBS
)


class ResourceMetrics:
    resources: Final = (NODE_METRICS, POD_METRICS)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._nodes = registry.table.named("nodes")
        self._pods = registry.table.named("pods")
        self._known: dict[str, tuple[Stored, str, list[ContainerUsage]]] = {}

    def handle(self, request: Request, target: Target) -> Response:
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

    def _one(self, resource: Resource, target: Target) -> JsonObject:
        measured = self._pods if resource is POD_METRICS else self._nodes
        stored = self._registry.collection(measured).get(target.namespace, target.name)
        found = self._metrics(resource, [stored] if stored is not None else [])
        if not found:
            raise status_errors.not_found(resource, target.name)
        return found[0]

    def _all(self, resource: Resource, namespace: str, request: Request) -> list[JsonObject]:
        measured = self._pods if resource is POD_METRICS else self._nodes
        labels = query.text(request.parameters, "labelSelector")
        fields = query.text(request.parameters, "fieldSelector")
        selection = selection_of(measured, labels, fields)
        current = self._registry.collection(measured).current(namespace)
        return self._metrics(resource, [each for each in current if selection.matches(each)])

    def _metrics(self, resource: Resource, measured: list[Stored]) -> list[JsonObject]:
        if resource is POD_METRICS:
            shown = ((stored, self._containers(stored)) for stored in measured)
            return [self._pod_metrics(stored, each) for stored, each in shown if each]
        by_node = self._usage_by_node()
        return [self._node_metrics(stored, by_node) for stored in measured]

    def _node_metrics(self, stored: Stored, by_node: dict[str, list[Usage]]) -> JsonObject:
        node = self._registry.read(self._nodes, stored)
        usage = node_usage(node, by_node.get(stored.name, ()))
        return {**self._head(NODE_METRICS, node), "usage": usage.written()}

    def _pod_metrics(self, stored: Stored, containers: list[ContainerUsage]) -> JsonObject:
        pod = self._registry.read(self._pods, stored)
        shown = [{"name": each.name, "usage": each.usage.written()} for each in containers]
        return {**self._head(POD_METRICS, pod), "containers": shown}

    def _head(self, resource: Resource, measured: JsonObject) -> JsonObject:
        now, metadata = self._registry.now(), measured["metadata"]
        about = {key: metadata[key] for key in ("name", "namespace", "labels") if metadata.get(key)}
        return {
            "kind": resource.kind,
            "apiVersion": _API_VERSION,
            "metadata": {**about, "creationTimestamp": now},
            "timestamp": now,
            "window": _WINDOW,
        }

    def _usage_by_node(self) -> dict[str, list[Usage]]:
        found: dict[str, list[Usage]] = defaultdict(list)
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

"""A server that has an object of every kind, for requests that nobody should send."""

from typing import Any

from support.apiserver.api_calls import Api, good
from support.apiserver.hostile_values import CUSTOM, QUEUE
from support.apiserver.smallest_objects import KINDS, smallest
from support.apiserver.written_objects import ALL_GATES

from podium.bench.hostile_bodies import QUEUE_DEFINITION
from podium.kubernetes.resources.resource import ApiResource


def populated() -> Api:
    """A server with an object `a` of every kind."""
    api = Api(gates=ALL_GATES)
    api.create("/api/v1/namespaces", {"metadata": {"name": "ns"}})
    api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", QUEUE_DEFINITION)
    named: dict[str, Any] = {"metadata": {"name": "a"}}
    for resource in (*KINDS, CUSTOM):
        if resource.kind == "Namespace" or resource.group == "events.k8s.io":
            continue  # there already, and the same as the events of the core
        written = {**named, **QUEUE} if resource is CUSTOM else smallest(resource)
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        good(api.ask("POST", collection(resource), {**kind, **written}))
    return api


def collection(resource: ApiResource) -> str:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else "/api/v1"
    place = "namespaces/ns/" if resource.namespaced else ""
    return f"{root}/{place}{resource.plural}"

"""Kubernetes' API from the client's side: verbs, watches, informers and work queues.

Everything that controllers are written with, under one name; what is listed stays where it is from
release to release (`tests/test_client_surface.py` pins it). How to write one: docs/informers.md.

    connect                                  a client, from a kubeconfig or inside a pod
    KubeClient, PatchType, DeleteOptions     the verbs; objects as bytes
    resources, ResourceType                  kinds by name; any other kind
    api_errors                               what a server's refusals mean
    Reflector, DeltaFIFO                     list and watch; what happened to each object
    SharedInformer, SharedInformerFactory    one copy of a collection for everybody
    Indexer, Lister                          reading it
    ResourceEventHandler(Funcs)              being told of changes
    RateLimitingQueue, ControlLoop           keys to look at, and looking at them

Scheduler, simulated cluster, extenders and `podium controller` are made of the same parts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from podium.client import api_errors, resources
    from podium.client.asgi_transport import AsgiTransport
    from podium.client.clock import Clock, LoopClock
    from podium.client.connection import connect
    from podium.client.event_handlers import (
        HandlerRegistration,
        ResourceEventHandler,
        ResourceEventHandlerFuncs,
    )
    from podium.client.http_transport import HttpTransport
    from podium.client.kube_client import DeleteOptions, KubeClient, Selection
    from podium.client.object_store import ObjectStore
    from podium.client.rate_limit import (
        BucketRateLimiter,
        ItemExponentialFailureRateLimiter,
        LimitedTransport,
        MaxOfRateLimiter,
        RateLimiter,
        TokenBucket,
        default_controller_rate_limiter,
    )
    from podium.client.reflector import Reflector, ReflectorStore
    from podium.client.resources import ResourceType
    from podium.client.shared_informer import (
        Delta,
        DeltaFIFO,
        DeltaType,
        Lister,
        PoppedDeltas,
        SharedInformer,
        SharedInformerFactory,
        new_indexer_informer,
    )
    from podium.client.transport import RequestFailed, Transport, Unreachable
    from podium.client.work_queue import ControlLoop, QueueShutDown, RateLimitingQueue
    from podium.kubernetes.controllers.indexer import (
        NAMESPACE_INDEX,
        DeletedFinalStateUnknown,
        Index,
        Indexer,
        IndexFunc,
        Key,
        last_state,
        meta_namespace_key,
        split_meta_namespace_key,
    )
    from podium.kubernetes.rules.merge_patch import PatchType

__all__ = [
    "NAMESPACE_INDEX",
    "AsgiTransport",
    "BucketRateLimiter",
    "Clock",
    "ControlLoop",
    "DeleteOptions",
    "DeletedFinalStateUnknown",
    "Delta",
    "DeltaFIFO",
    "DeltaType",
    "HandlerRegistration",
    "HttpTransport",
    "Index",
    "IndexFunc",
    "Indexer",
    "ItemExponentialFailureRateLimiter",
    "Key",
    "KubeClient",
    "LimitedTransport",
    "Lister",
    "LoopClock",
    "MaxOfRateLimiter",
    "ObjectStore",
    "PatchType",
    "PoppedDeltas",
    "QueueShutDown",
    "RateLimiter",
    "RateLimitingQueue",
    "Reflector",
    "ReflectorStore",
    "RequestFailed",
    "ResourceEventHandler",
    "ResourceEventHandlerFuncs",
    "ResourceType",
    "Selection",
    "SharedInformer",
    "SharedInformerFactory",
    "TokenBucket",
    "Transport",
    "Unreachable",
    "api_errors",
    "connect",
    "default_controller_rate_limiter",
    "last_state",
    "meta_namespace_key",
    "new_indexer_informer",
    "resources",
    "split_meta_namespace_key",
]

_MODULES: Final = {
    "podium.client.asgi_transport": ("AsgiTransport",),
    "podium.client.clock": (
        "Clock",
        "LoopClock",
    ),
    "podium.client.connection": ("connect",),
    "podium.client.event_handlers": (
        "HandlerRegistration",
        "ResourceEventHandler",
        "ResourceEventHandlerFuncs",
    ),
    "podium.client.http_transport": ("HttpTransport",),
    "podium.client.kube_client": (
        "DeleteOptions",
        "KubeClient",
        "Selection",
    ),
    "podium.client.object_store": ("ObjectStore",),
    "podium.client.rate_limit": (
        "BucketRateLimiter",
        "ItemExponentialFailureRateLimiter",
        "LimitedTransport",
        "MaxOfRateLimiter",
        "RateLimiter",
        "TokenBucket",
        "default_controller_rate_limiter",
    ),
    "podium.client.reflector": (
        "Reflector",
        "ReflectorStore",
    ),
    "podium.client.resources": ("ResourceType",),
    "podium.client.shared_informer": (
        "Delta",
        "DeltaFIFO",
        "DeltaType",
        "Lister",
        "PoppedDeltas",
        "SharedInformer",
        "SharedInformerFactory",
        "new_indexer_informer",
    ),
    "podium.client.transport": (
        "RequestFailed",
        "Transport",
        "Unreachable",
    ),
    "podium.client.work_queue": (
        "ControlLoop",
        "QueueShutDown",
        "RateLimitingQueue",
    ),
    "podium.kubernetes.controllers.indexer": (
        "DeletedFinalStateUnknown",
        "Index",
        "IndexFunc",
        "Indexer",
        "Key",
        "NAMESPACE_INDEX",
        "last_state",
        "meta_namespace_key",
        "split_meta_namespace_key",
    ),
    "podium.kubernetes.rules.merge_patch": ("PatchType",),
}
"""Where the names are. A module is loaded when one of its names is requested: who needs the types
of resources alone loads no HTTP client."""


def __getattr__(name: str) -> Any:
    if name in ("api_errors", "resources"):
        return import_module(f"{__name__}.{name}")
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""A thin asynchronous Kubernetes client: transports, verbs, errors, and stores of collections.

    connection.find_settings, transport_for      kubeconfig -> HttpTransport
    AsgiTransport                                the same without sockets
    KubeClient                                   the verbs; objects as bytes
    Reflector                                    an object store of a collection, kept true
    api_errors                                   what a server's refusals mean

Kept small on purpose: it decodes nothing but what every object has, so that the scheduler and the
simulated cluster each decode what they read and no more.
"""

from podium.client.asgi_transport import AsgiTransport
from podium.client.clock import Clock, LoopClock
from podium.client.http_transport import HttpTransport
from podium.client.kube_client import DeleteOptions, KubeClient, PatchType, Selection
from podium.client.object_store import Handler, ObjectStore
from podium.client.rate_limit import LimitedTransport, TokenBucket
from podium.client.reflector import Reflector
from podium.client.resources import ResourceType
from podium.client.transport import RequestFailed, Transport, Unreachable
from podium.client.watching import Key

__all__ = [
    "AsgiTransport",
    "Clock",
    "DeleteOptions",
    "Handler",
    "HttpTransport",
    "Key",
    "KubeClient",
    "LimitedTransport",
    "LoopClock",
    "ObjectStore",
    "PatchType",
    "Reflector",
    "RequestFailed",
    "ResourceType",
    "Selection",
    "TokenBucket",
    "Transport",
    "Unreachable",
]

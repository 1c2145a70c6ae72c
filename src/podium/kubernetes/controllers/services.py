"""Services as those see them who look after their endpoints and count what they take."""

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct

EXTERNAL_NAME = "ExternalName"
NO_ADDRESS = "None"
"""The cluster address of a service that wants none: a headless one."""


class ServicePort(KubeStruct, frozen=True):
    name: str = ""
    port: int = 0
    protocol: str = "TCP"
    app_protocol: str | None = None
    target_port: int | str | None = None
    node_port: int = 0


class ServiceSpec(read_by_engine.ServiceSpec, frozen=True):
    UNREAD = frozenset()

    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ip_families: tuple[str, ...] | None = None
    ports: tuple[ServicePort, ...] | None = None
    publish_not_ready_addresses: bool = False
    allocate_load_balancer_node_ports: bool | None = None


class Service(KubeObject, frozen=True):
    spec: ServiceSpec = ServiceSpec()

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip in ("", NO_ADDRESS)


class Endpoints(KubeObject, frozen=True):
    subsets: tuple[JsonObject, ...] | None = None


class EndpointSlice(KubeObject, frozen=True):
    address_type: str = ""
    endpoints: tuple[JsonObject, ...] | None = None
    ports: tuple[JsonObject, ...] | None = None

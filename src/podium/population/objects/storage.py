"""Volumes, claims and classes as the volume controller sees them."""

import msgspec

from podium.api.meta import LabelSelector, ResourceList
from podium.population.objects.meta import JsonObject, Meta, Part, Thing

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


class ClaimReference(Part, frozen=True):
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeSpec(Part, frozen=True):
    capacity: ResourceList | None = None
    access_modes: tuple[str, ...] | None = None
    claim_ref: ClaimReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    persistent_volume_reclaim_policy: str = ""


class VolumeStatus(Part, frozen=True):
    phase: str = ""


class Volume(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class ClaimResources(Part, frozen=True):
    requests: ResourceList | None = None


class ClaimSpec(Part, frozen=True):
    access_modes: tuple[str, ...] | None = None
    resources: ClaimResources = ClaimResources()
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""


class ClaimStatus(Part, frozen=True):
    phase: str = ""


class Claim(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class StorageClass(Thing, frozen=True):
    metadata: Meta = Meta()
    provisioner: str = ""
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
    mount_options: tuple[str, ...] | None = None

    @property
    def waits_for_consumer(self) -> bool:
        return self.volume_binding_mode == "WaitForFirstConsumer"


class Driver(Part, frozen=True):
    name: str = ""
    topology_keys: tuple[str, ...] | None = None


class CSINodeSpec(Part, frozen=True):
    drivers: tuple[Driver, ...] | None = None


class CSINode(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: CSINodeSpec = CSINodeSpec()


class ConsumerReference(Part, frozen=True):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class ResourceClaimStatus(Part, frozen=True):
    allocation: JsonObject | None = None
    reserved_for: tuple[ConsumerReference, ...] | None = None


class ResourceClaim(Thing, frozen=True):
    metadata: Meta = Meta()
    status: ResourceClaimStatus = ResourceClaimStatus()


class TemplateSpec(Part, frozen=True):
    metadata: JsonObject = msgspec.field(default_factory=dict)
    spec: JsonObject = msgspec.field(default_factory=dict)


class ResourceClaimTemplate(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: TemplateSpec = TemplateSpec()

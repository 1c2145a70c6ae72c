"""Which device class serves an extended resource.

A device class may stand in for an extended resource that no device plugin offers: under a name of
the administrator's choice, and always under a name made of its own. NodeResourcesFit leaves such
resources to DynamicResources on nodes that have none of their own; both ask here.

The map is worked out from the classes in the order in which they became known and again after any
change of them. Classes that claim one name: the newest has it, among equally old ones the first by
name. upstream: a class that comes too late to have its name gets none at all, not even its own.
"""

from podium.kubernetes.kinds.devices import DeviceClass
from podium.scheduler.cluster.catalog import Catalog

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"


class ExtendedResourceClasses:
    """Resource name -> DeviceClass, for all device classes of a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._version = -1
        self._classes: dict[str, DeviceClass] = {}

    def find(self, resource: str) -> DeviceClass | None:
        version = self._catalog.version(DeviceClass)
        if version != self._version:
            self._version = version
            self._classes = self._map_classes()
        return self._classes.get(resource)

    def _map_classes(self) -> dict[str, DeviceClass]:
        classes: dict[str, DeviceClass] = {}
        for candidate in self._catalog.all(DeviceClass):
            explicit = candidate.spec.extended_resource_name
            if explicit is not None:
                holder = classes.get(explicit)
                if holder is not None and not _precedes(candidate, holder):
                    continue
                classes[explicit] = candidate
            classes[implicit_name(candidate)] = candidate
        return classes


def implicit_name(device_class: DeviceClass) -> str:
    """The resource name that every class has without asking for it."""
    return IMPLICIT_PREFIX + device_class.metadata.name


def _precedes(candidate: DeviceClass, holder: DeviceClass) -> bool:
    created, held = (c.metadata.creation_timestamp or "" for c in (candidate, holder))
    # RFC 3339 in UTC and whole seconds, as the API server writes it, sorts as text.
    return created > held or (created == held and candidate.metadata.name < holder.metadata.name)

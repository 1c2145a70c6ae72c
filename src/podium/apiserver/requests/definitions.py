"""Custom resources: what a definition does to the server when it is written or goes.

A definition whose names are free is served at once, in all its versions, from one collection. When
it is deleted its objects go first; if finalizers hold some of them, the definition waits for them.
No definition takes the place of a resource that the server has by itself.

Custom objects are shown with the defaults of their definition as it is now. Upstream fills them
in whenever an object is read. Here objects are bytes that answers are made of, so they are
filled in once, when a definition changes. What was written is kept beside: a default that goes
leaves nothing behind in objects that nobody has written since.
"""

from typing import TYPE_CHECKING, Final

from podium.apiserver.store.collection import Collection
from podium.apiserver.store.stored import Stored, body_of
from podium.golang.json_values import JsonObject
from podium.kubernetes import crds
from podium.kubernetes.crds import CustomRules
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.status_errors import StatusError
from podium.kubernetes.tables import custom_printer

if TYPE_CHECKING:
    from podium.apiserver.requests.registry import Registry


class StoredDefaults:
    """Keeps the versions that were written of those objects that are shown filled in."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, str], tuple[Stored, Stored]] = {}
        """By collection and key: the version that is shown, and the one that was written."""

    def fill(self, resource: ApiResource, collection: Collection, rules: CustomRules) -> None:
        for key, shown in list(collection.items.items()):
            place = (collection.name, key)
            known, written = self._written.pop(place, (None, shown))
            if known is not shown:
                written = shown
            filled = _fill_version(resource, written, rules)
            collection.items[key] = filled
            if filled is not written:
                self._written[place] = (filled, written)

    def forget(self, collection: str) -> None:
        """Of a collection that is gone."""
        for place in [each for each in self._written if each[0] == collection]:
            del self._written[place]


def _fill_version(resource: ApiResource, version: Stored, rules: CustomRules) -> Stored:
    obj = version.decode(resource)
    try:
        rules.set_defaults(obj)
    except StatusError:
        return version
    body = body_of(obj)
    if body == version.body:
        return version
    return Stored(
        version.namespace, version.name, version.revision, body, version.labels, version.fields
    )


_GROUP: Final = "apiextensions.k8s.io"
CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"


class Definitions:
    """Keeps the table of resources in step with the stored definitions."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry
        self._served: dict[str, list[ApiResource]] = {}
        self._objects: dict[str, JsonObject] = {}
        self._defaults = StoredDefaults()

    # --- as hooks of definitions --------------------------------------------------------------

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """Accept changed names, unless another definition has them; new ones have to wait."""
        del dry_run
        if obj["metadata"]["name"] in self._objects:
            crds.accept_names(obj, self._objects.values(), now)
        else:
            crds.begin(obj)
        return []

    def establish(self, version: Stored, now: str) -> None:
        """Accept the names of a new definition, which from then on is served."""
        definitions = self._registry.table.get_required("customresourcedefinitions", _GROUP)
        definition = self._registry.read(definitions, version)
        crds.accept_names(definition, self._objects.values(), now)
        self._registry.replace(definitions, version, definition, dry_run=False)

    def after_write(self, obj: JsonObject) -> None:
        name = obj["metadata"]["name"]
        self._withdraw(name)
        known = self._objects.get(name)
        self._objects[name] = obj
        if not crds.is_established(obj):
            return
        served = [
            resource
            for resource in crds.resources_of_definition(obj)
            if not self._is_built_in(resource)
        ]
        is_changed = known is None or known["spec"] != obj["spec"]
        for resource in served:
            rules = crds.CustomRules(obj, resource)
            self._registry.serve(resource, rules, custom_printer(_columns(obj, resource)))
            if is_changed and crds.version_of(obj, resource.version).get("storage"):
                self._defaults.fill(resource, self._registry.collection(resource), rules)
        self._served[name] = served

    def after_delete(self, obj: JsonObject) -> None:
        name = obj["metadata"]["name"]
        for resource in self._withdraw(name):
            self._registry.store.drop_collection(resource.group_resource)
            self._defaults.forget(resource.group_resource)
        self._objects.pop(name, None)

    def _withdraw(self, name: str) -> list[ApiResource]:
        withdrawn = self._served.pop(name, [])
        for resource in withdrawn:
            self._registry.withdraw(resource)
        return withdrawn

    def _is_built_in(self, resource: ApiResource) -> bool:
        """Whether the server's own resources have these names.

        upstream: such a definition is established, and what it defines cannot be reached.
        """
        return any(
            resource.version == each.version or resource.plural == each.plural
            for each in self._registry.table
            if not each.is_custom and each.group == resource.group
        )

    def instance_removed(self, resource: ApiResource) -> None:
        """The last object of a definition that waits for it takes the definition with it."""
        registry = self._registry
        if len(registry.collection(resource)):
            return
        definitions = registry.table.get_required("customresourcedefinitions", _GROUP)
        before = registry.find(definitions, "", self.definition_of(resource))
        if before is None:
            return
        definition = registry.read(definitions, before)
        metadata = definition["metadata"]
        finalizers = metadata.get("finalizers") or []
        if "deletionTimestamp" not in metadata or CLEANUP not in finalizers:
            return
        metadata["finalizers"] = [each for each in finalizers if each != CLEANUP]
        marked = registry.replace(definitions, before, definition, dry_run=False)
        if not metadata["finalizers"]:
            registry.remove(definitions, marked)

    # --- for deletions and OpenAPI ------------------------------------------------------------

    def resources_of(self, name: str) -> list[ApiResource]:
        """The resources that a definition has brought, one for each version."""
        return self._served.get(name, [])

    def definition_of(self, resource: ApiResource) -> str:
        return f"{resource.plural}.{resource.group}"

    def schema_of(self, resource: ApiResource) -> JsonObject | None:
        """The openAPIV3Schema of a custom resource."""
        found = self._objects.get(self.definition_of(resource))
        return None if found is None else crds.schema_of_version(found, resource.version)


def _columns(definition: JsonObject, resource: ApiResource) -> list[JsonObject] | None:
    for version in definition["spec"]["versions"]:
        if version["name"] == resource.version:
            found: list[JsonObject] | None = version.get("additionalPrinterColumns")
            return found
    return None


def mark_terminating(definition: JsonObject, now: str) -> None:
    """Note in a definition that it waits for its objects to go."""
    metadata = definition["metadata"]
    if CLEANUP not in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), CLEANUP]
    conditions: list[JsonObject] = definition["status"].setdefault("conditions", [])
    if not any(each["type"] == "Terminating" for each in conditions):
        conditions.append(
            {
                "type": "Terminating",
                "status": "True",
                "lastTransitionTime": now,
                "reason": "InstanceDeletionPending",
                "message": "CustomResourceDefinition marked for deletion; CustomResource deletion"
                " will begin soon",
            }
        )

"""Resources that show the objects of another resource in a form of their own.

    has_own_form(resource) -> bool
    storage_name(resource) -> str       the collection in which its objects are kept
    ruling_version(resource) -> str     the version of its group whose rules hold for its objects
    stored_in(resource)                 the group and version of that form
    shown(resource, value)              a stored object in the form of a resource
    kept(resource, value)               an object of a resource in the form in which it is stored
    in_version(value, ...)              an object as another version of its kind shows it

Events of the two groups are one collection, stored in the core form; autoscalers of the two
versions are another, stored as v2 with its defaults. All other resources have one form. A value is
never changed; its `kind` and `apiVersion` stay as they are.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.catalogue import find_kind
from podium.kubernetes.resources.resource import ApiResource


def has_own_form(resource: ApiResource) -> bool:
    return resource.form is not None


def storage_name(resource: ApiResource) -> str:
    form = resource.form
    return resource.group_resource if form is None else form.storage_name


def ruling_version(resource: ApiResource) -> str:
    return resource.version if resource.is_custom else resource.record.version


def stored_in(resource: ApiResource) -> tuple[str, str]:
    """The group and version in whose form objects of a resource are stored."""
    if resource.storage_version:
        return resource.group, resource.storage_version
    return resource.record.stored_in or (resource.group, ruling_version(resource))


def to_served(resource: ApiResource, value: JsonObject) -> JsonObject:
    form = resource.form
    return value if form is None else form.show(value)


def to_stored(resource: ApiResource, value: JsonObject) -> JsonObject:
    form = resource.form
    return value if form is None else form.keep(value)


def in_version(value: JsonObject, group: str, kind: str, version: str) -> JsonObject | None:
    """An object of the other version as this one shows it; None if versions do not differ."""
    record = find_kind(group, kind)
    older = record.older_version
    if older is None or version not in (older.version, record.version):
        return None
    return older.show(value) if version == older.version else older.upgrade(value)

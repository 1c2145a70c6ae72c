"""What is served, told to clients: groups, versions, resources, and the server's own version.

What `/version` says: the Kubernetes whose behaviour this server has.

The discovery documents, one by one and all in one. Clients ask for them first and often. They
are made when asked for and kept until the table of resources changes.
"""

import base64
import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from podium.apiserver.aggregation import RemoteResources
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes.conversion import stored_in
from podium.kubernetes.kinds.record import Subresource
from podium.kubernetes.releases.release import release
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourceTable, builtin_resources


def version_info() -> JsonObject:
    known = release()
    minor = str(known.version.minor)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": "1",
        "minor": minor,
        "emulationMajor": "1",
        "emulationMinor": minor,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(known.version.before.minor),
        "gitVersion": f"{known.patch}+podium",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{machine}",
    }


_HASH_BYTES: Final = 8


class Registered(Protocol):
    """The group versions that are registered, by whomever they are served."""

    @property
    def changes(self) -> int: ...
    def group_versions(self) -> dict[str, list[str]]:
        """All groups but the core one, in order."""

    def in_order(self, group_versions: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """Group versions as clients get them."""

    def remote_resources(self) -> Mapping[tuple[str, str], RemoteResources]:
        """What services serve."""


class Discovery:
    """The documents of one table of resources, as bytes."""

    def __init__(self, table: ResourceTable, registered: Registered) -> None:
        self._table = table
        self._registered = registered
        self._beside = ResourceTable(())
        self._kept: dict[str, bytes | None] = {}
        self._changes = (table.changes, registered.changes)

    def serve_beside(self, *resources: ApiResource) -> None:
        """Tell of resources that are in no table, since nothing of them is stored."""
        self._beside = ResourceTable(resources)
        self._kept.clear()

    def versions(self, address: str) -> bytes:
        """`/api`: the versions of the core group."""
        return encode(
            {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [
                    {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
                ],
            }
        )

    def groups(self) -> bytes:
        """`/apis`: all groups but the core one."""

        def build() -> JsonObject:
            versions = self._registered.group_versions()
            groups = [_group(name, each) for name, each in versions.items()]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

        return self._once("groups", build) or b""

    def group(self, name: str) -> bytes | None:
        """`/apis/NAME`; None if no such group is served."""

        def build() -> JsonObject | None:
            versions = self._registered.group_versions().get(name)
            versions = versions or self._group_versions().get(name)
            if not name or versions is None:
                return None
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}

        return self._once(f"group {name}", build)

    def resources(self, group: str, version: str) -> bytes | None:
        """`/api/v1`, `/apis/GROUP/VERSION`; None if no such version is served."""

        def build() -> JsonObject | None:
            found = self._of_version(group, version)
            if not found:
                return None
            document: JsonObject = {"kind": "APIResourceList"}
            if group:
                document["apiVersion"] = "v1"
            document["groupVersion"] = f"{group}/{version}" if group else version
            document["resources"] = [entry for each in found for entry in _entries(each)]
            return document

        return self._once(f"resources {group}/{version}", build)

    def encode_aggregated(self, *, core: bool, form: str) -> bytes:
        """`/api` or `/apis` with everything below it; `form` is the version of the document."""

        def build() -> JsonObject:
            if core:
                items = [_aggregated_group("", [self._aggregated_version("", "v1")])]
            else:
                items = self._aggregated_groups()
            return {
                "kind": "APIGroupDiscoveryList",
                "apiVersion": f"apidiscovery.k8s.io/{form}",
                "metadata": {},
                "items": items,
            }

        return self._once(f"aggregated {core} {form}", build) or b""

    def _aggregated_groups(self) -> list[JsonObject]:
        served = (
            (group, each)
            for group, versions in self._group_versions().items()
            if group
            for each in versions
        )
        remote = self._registered.remote_resources()
        return [
            _aggregated_group(
                group, [self._aggregated_version(group, version) for version in versions]
            )
            for group, versions in self._registered.in_order((*served, *remote)).items()
        ]

    def _aggregated_version(self, group: str, version: str) -> JsonObject:
        remote = self._registered.remote_resources().get((group, version))
        if remote is not None:
            shown: JsonObject = {"version": version}
            if remote.resources:
                shown["resources"] = list(remote.resources)
            return {**shown, "freshness": "Current" if remote.is_current else "Stale"}
        resources = [_describe_resource(each) for each in self._of_version(group, version)]
        return {"version": version, "resources": resources, "freshness": "Current"}

    def has_group(self, name: str) -> bool:
        return name in self._group_versions()

    def has_version(self, group: str, version: str) -> bool:
        """Whether paths below a version are ours to refuse; a built-in group's always are."""
        if any(resource.group == group for resource in builtin_resources()):
            return True
        return version in self._group_versions().get(group, ())

    def _group_versions(self) -> dict[str, list[str]]:
        return {**self._table.group_versions(), **self._beside.group_versions()}

    def _of_version(self, group: str, version: str) -> list[ApiResource]:
        return self._table.of_version(group, version) or self._beside.of_version(group, version)

    def _once(self, name: str, build: Callable[[], JsonObject | None]) -> bytes | None:
        changes = (self._table.changes, self._registered.changes)
        if self._changes != changes:
            self._kept.clear()
            self._changes = changes
        if name not in self._kept:
            if len(self._kept) > 1000:
                self._kept.clear()
            document = build()
            self._kept[name] = None if document is None else encode(document)
        return self._kept[name]


def _group(name: str, versions: list[str]) -> JsonObject:
    shown = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": shown, "preferredVersion": shown[0]}


def _entries(resource: ApiResource) -> list[JsonObject]:
    """A resource and its subresources as flat entries."""
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.is_stored:
        entry["storageVersionHash"] = _storage_version_hash(resource)
    return [entry, *(_subentry(resource, each) for each in resource.subresources)]


def _storage_version_hash(resource: ApiResource) -> str:
    """Changes when objects are stored in another version, whatever versions there are."""
    group, version = stored_in(resource)
    digest = hashlib.sha256(f"{group}/{version}/{resource.kind}".encode()).digest()
    return base64.b64encode(digest[:_HASH_BYTES]).decode()


def _subentry(resource: ApiResource, subresource: Subresource) -> JsonObject:
    entry: JsonObject = {
        "name": f"{resource.plural}/{subresource.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
    }
    if subresource.version:
        entry["group"] = subresource.group
        entry["version"] = subresource.version
    entry["kind"] = subresource.kind
    entry["verbs"] = list(subresource.verbs)
    return entry


def _aggregated_group(name: str, versions: list[JsonObject]) -> JsonObject:
    return {"metadata": {"name": name} if name else {}, "versions": versions}


def _describe_resource(resource: ApiResource) -> JsonObject:
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": _own_kind(resource, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [
            {
                "subresource": each.name,
                "responseKind": _kind(each.group, each.version, each.kind)
                if each.version
                else _own_kind(resource, each.kind),
                "verbs": list(each.verbs),
            }
            for each in resource.subresources
        ]
    return entry


def _own_kind(resource: ApiResource, kind: str) -> JsonObject:
    # upstream: built-in kinds of a resource's own group and version leave both out.
    if resource.is_custom:
        return _kind(resource.group, resource.version, kind)
    return _kind("", "", kind)


def _kind(group: str, version: str, kind: str) -> JsonObject:
    return {"group": group, "version": version, "kind": kind}

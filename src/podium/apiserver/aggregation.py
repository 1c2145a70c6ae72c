"""The aggregation layer: APIServices say which group versions there are and who serves them.

What the server serves itself, custom resources included, is registered as Local. Requests for the
group version of any other APIService are passed on to its service, in `http/aggregation_proxy.py`.

The order in which clients get the groups that the server has by itself. upstream:
`DefaultGenericAPIServicePriorities`, and `apiVersionPriorities` of kube-apiserver.

What a service serves, as it tells itself, in the form in which clients get everything.

The stored APIServices, and those that the server registers by itself. One for each group
version that it serves: those of built-in groups at every start, those of custom resources
whenever a definition comes or goes, and again when somebody deletes or changes them. upstream:
one of a built-in group that somebody deletes is back at the next start.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.apiserver.bodies import Read
from podium.apiserver.requests import body_decoding, creating, deleting, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.query import DeleteOptions
from podium.apiserver.requests.registry import Registry, StorageHooks
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.table import maturity
from podium.kubernetes.rules.api_service_availability import (
    LOCAL,
    Availability,
    condition_of,
)
from podium.kubernetes.rules.field_errors import FieldError

_SERVICE_LABEL: Final = "kubernetes.io/service-name"


class ApiServicePriority(NamedTuple):
    """Larger ones come first: of the group among groups, then of the version in its group."""

    group: int
    version: int


OF_CUSTOM_RESOURCES: Final = ApiServicePriority(1000, 100)
OF_METRICS: Final = ApiServicePriority(100, 100)
"""upstream: as metrics-server registers itself."""

_GROUPS: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_MOST_VERSIONS: Final = 15
_VERSIONS: Final[Mapping[tuple[str, str], int]] = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1beta2"): 15,
    ("scheduling.k8s.io", "v1alpha2"): 2,
}


def built_in_priority(group: str, version: str) -> ApiServicePriority | None:
    """None: the server does not register the version, which is that of APIServices alone."""
    found = _GROUPS.get(group)
    if found is None:
        return None
    return ApiServicePriority(found, _VERSIONS.get((group, version), _MOST_VERSIONS))


class RemoteResources(NamedTuple):
    """Of one group version."""

    resources: Sequence[JsonObject] = ()
    """Entries of an APIGroupDiscovery."""
    is_current: bool = False
    """Whether the service has said so just now, and not before it went away."""


def read_resources(document: JsonObject, group: str, version: str) -> list[JsonObject]:
    """The entries of an APIResourceList; what is no such list has none."""
    found: dict[str, JsonObject] = {}
    below: list[JsonObject] = []
    for entry in document.get("resources") or ():
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            continue
        if "/" in entry["name"]:
            below.append(entry)
            continue
        shown: JsonObject = {
            "resource": entry["name"],
            "responseKind": _kind(entry, group, version),
            "scope": "Namespaced" if entry.get("namespaced") else "Cluster",
            "singularResource": entry.get("singularName") or "",
            "verbs": entry.get("verbs") or [],
        }
        for field in ("shortNames", "categories"):
            if entry.get(field):
                shown[field] = entry[field]
        found[entry["name"]] = shown
    for entry in below:
        resource, _, subresource = entry["name"].partition("/")
        if resource in found:
            found[resource].setdefault("subresources", []).append(
                {
                    "subresource": subresource,
                    "responseKind": _kind(entry, group, version),
                    "verbs": entry.get("verbs") or [],
                }
            )
    return list(found.values())


def _kind(entry: JsonObject, group: str, version: str) -> JsonObject:
    return {
        "group": entry.get("group") or group,
        "version": entry.get("version") or version,
        "kind": entry.get("kind") or "",
    }


GROUP: Final = "apiregistration.k8s.io"
_LABEL: Final = "kube-aggregator.kubernetes.io/automanaged"
_ON_START: Final = "onstart"
_ALWAYS: Final = "true"

GroupVersion = tuple[str, str]


class ApiServices:
    """Keeps them in step with what is served; they are hooks of their own objects."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.table.get_required("apiservices", GROUP)
        self._known: dict[str, JsonObject] = {}
        self._custom: set[GroupVersion] = set()
        self.remotes: dict[GroupVersion, JsonObject] = {}
        """Those that name a service."""
        self._resources: dict[GroupVersion, RemoteResources] = {}
        self.changes = 0
        for stored in registry.collection(self._resource).current():
            self._note(registry.read(self._resource, stored))
        registry.storage_hooks[self._resource] = self
        definitions = registry.table.get_required(
            "customresourcedefinitions", "apiextensions.k8s.io"
        )
        hooks = registry.storage_hooks[definitions]
        registry.storage_hooks[definitions] = _DefinitionHooks(hooks, self)

    # --- registering --------------------------------------------------------------------------

    def register_built_in(self, beside: Mapping[GroupVersion, ApiServicePriority]) -> None:
        """Register what the server has by itself, and `beside` that what it serves besides."""
        wanted = dict(beside)
        for resource in self._registry.table:
            priority = built_in_priority(resource.group, resource.version)
            if not resource.is_custom and priority is not None:
                wanted[resource.group, resource.version] = priority
        for group_version, priority in wanted.items():
            self._ensure(group_version, priority, _ON_START)
        self._forget(_ON_START, wanted)
        self.register_custom()

    def register_custom(self) -> None:
        self._custom = {
            (each.group, each.version) for each in self._registry.table if each.is_custom
        }
        for group_version in sorted(self._custom):
            self._ensure(group_version, OF_CUSTOM_RESOURCES, _ALWAYS)
        self._forget(_ALWAYS, self._custom)

    def _ensure(
        self, group_version: GroupVersion, priority: ApiServicePriority, managed: str
    ) -> None:
        """Create one, or bring one up to date that the server manages."""
        obj = _api_service(group_version, priority, managed)
        name = obj["metadata"]["name"]
        known = self._known.get(name)
        if known is None:
            creating.create(self._registry, self._resource, "", *self._take_in(obj))
        elif _read_automanaged_label(known) and known["spec"] != obj["spec"]:
            metadata = known["metadata"]
            obj = {**known, "spec": obj["spec"], "metadata": {**metadata}}
            updating.update(self._registry, self._resource, "", "", name, *self._take_in(obj))

    def _forget(self, managed: str, wanted: Iterable[GroupVersion]) -> None:
        """Delete those that the server manages for what it does not serve any more."""
        kept = {_name(group_version) for group_version in wanted}
        for name, obj in list(self._known.items()):
            if _read_automanaged_label(obj) == managed and name not in kept:
                call = Call(self._registry.now(), user_agent="podium-apiserver")
                options = DeleteOptions()
                deleting.delete(self._registry, self._resource, "", name, options, call)

    def _take_in(self, obj: JsonObject) -> tuple[JsonObject, Call]:
        call = Call(self._registry.now(), user_agent="podium-apiserver")
        return body_decoding.take(self._registry, self._resource, Read(obj, ()), call), call

    # --- as hooks of their objects ------------------------------------------------------------

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """Nothing: the strategy has said that local ones are available."""
        del obj, now, dry_run
        return []

    def after_write(self, obj: JsonObject) -> None:
        self._note(obj)
        spec = obj["spec"]
        group_version = (spec.get("group") or "", spec["version"])
        if _read_automanaged_label(obj) == _ALWAYS and group_version in self._custom:
            self._ensure(group_version, OF_CUSTOM_RESOURCES, _ALWAYS)
        self.check(obj["metadata"]["name"])

    def after_delete(self, obj: JsonObject) -> None:
        name, spec = obj["metadata"]["name"], obj["spec"]
        group_version = (spec.get("group") or "", spec["version"])
        self._known.pop(name, None)
        self.remotes.pop(group_version, None)
        self.changes += 1
        if group_version in self._custom:
            self._ensure(group_version, OF_CUSTOM_RESOURCES, _ALWAYS)

    def _note(self, obj: JsonObject) -> None:
        spec = obj["spec"]
        group_version = (spec.get("group") or "", spec["version"])
        self._known[obj["metadata"]["name"]] = obj
        self.remotes.pop(group_version, None)
        if spec.get("service") is not None:
            self.remotes[group_version] = obj
        self.changes += 1

    # --- availability -------------------------------------------------------------------------

    def check(self, name: str) -> bool:
        """Write down what stored objects say of one; says whether its service can be asked."""
        obj = self._known.get(name)
        if obj is None:
            return False
        reference = obj["spec"].get("service")
        found = LOCAL if reference is None else missing_service(self._registry.lookup, reference)
        if found is None:
            return True
        self.note_availability(name, found)
        return False

    def note_availability(self, name: str, found: Availability) -> None:
        obj = self._known.get(name)
        if obj is None:
            return
        before = condition_of(obj) or {}
        if Availability(*(before.get(key, "") for key in Availability._fields)) == found:
            return
        call = Call(self._registry.now(), user_agent="podium-apiserver")
        condition = found.condition(call.now)
        if before.get("status") == found.status:
            condition["lastTransitionTime"] = before["lastTransitionTime"]
        stored = self._registry.read(self._resource, self._registry.get(self._resource, "", name))
        stored["status"] = {"conditions": [condition]}
        updating.update(self._registry, self._resource, "status", "", name, stored, call)

    # --- for discovery ------------------------------------------------------------------------

    def group_versions(self) -> dict[str, list[str]]:
        """All groups but the core one, those that are told of first before the others."""
        return self.in_order(
            (spec["group"], spec["version"])
            for spec in (obj["spec"] for obj in self._known.values())
            if spec.get("group")
        )

    def remote_resources(self) -> Mapping[GroupVersion, RemoteResources]:
        """What services serve, as far as they were asked."""
        return {each: self._resources.get(each, RemoteResources()) for each in self.remotes}

    def note_resources(self, group_version: GroupVersion, found: RemoteResources) -> None:
        if self._resources.get(group_version) != found:
            self._resources[group_version] = found
            self.changes += 1

    def in_order(self, group_versions: Iterable[GroupVersion]) -> dict[str, list[str]]:
        """Group versions as clients get them."""
        found: dict[str, list[str]] = {GROUP: ["v1"]}
        for group, version in group_versions:
            found.setdefault(group, [])
            if version not in found[group]:
                found[group].append(version)
        ordered = sorted(
            found, key=lambda group: (group != GROUP, -self._group_priority(group, found), group)
        )
        return {group: sorted(found[group], key=self._version_order(group)) for group in ordered}

    def _group_priority(self, group: str, versions: Mapping[str, list[str]]) -> int:
        return max(self._priority((group, version)).group for version in versions[group])

    def _version_order(self, group: str) -> Callable[[str], tuple[object, ...]]:
        return lambda version: (-self._priority((group, version)).version, maturity(version))

    def _priority(self, group_version: GroupVersion) -> ApiServicePriority:
        known = self._known.get(_name(group_version))
        if known is not None:
            spec = known["spec"]
            return ApiServicePriority(spec["groupPriorityMinimum"], spec["versionPriority"])
        return built_in_priority(*group_version) or OF_CUSTOM_RESOURCES


class _DefinitionHooks:
    """The hooks of definitions, after which what they define is registered."""

    def __init__(self, hooks: StorageHooks, api_services: ApiServices) -> None:
        self._hooks = hooks
        self._api_services = api_services

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        return self._hooks.settle(obj, now, dry_run=dry_run)

    def after_write(self, obj: JsonObject) -> None:
        self._hooks.after_write(obj)
        self._api_services.register_custom()

    def after_delete(self, obj: JsonObject) -> None:
        self._hooks.after_delete(obj)
        self._api_services.register_custom()


def _name(group_version: GroupVersion) -> str:
    group, version = group_version
    return f"{version}.{group}"


def _read_automanaged_label(obj: JsonObject) -> str:
    return str((obj["metadata"].get("labels") or {}).get(_LABEL) or "")


def _api_service(
    group_version: GroupVersion, priority: ApiServicePriority, managed: str
) -> JsonObject:
    group, version = group_version
    spec: JsonObject = {"group": group} if group else {}
    spec |= {
        "version": version,
        "groupPriorityMinimum": priority.group,
        "versionPriority": priority.version,
    }
    return {"metadata": {"name": _name(group_version), "labels": {_LABEL: managed}}, "spec": spec}


def missing_service(lookup: Lookup, reference: JsonObject) -> Availability | None:
    """Why the service cannot be asked; None if it might."""
    namespace, name = reference["namespace"], reference["name"]
    told = f"service/{name} in {go_quote(namespace)}"
    service = lookup.find("", "services", namespace, name)
    if service is None:
        return Availability("False", "ServiceNotFound", f"{told} is not present")
    if service["spec"].get("type") != "ClusterIP":
        return None
    number = reference["port"]
    port = next(
        (each for each in service["spec"].get("ports") or () if each["port"] == number), None
    )
    if port is None:
        return Availability(
            "False", "ServicePortError", f"{told} is not listening on port {number}"
        )
    slices = lookup.summaries("discovery.k8s.io", "endpointslices", namespace, _read_slice)
    found = [each for _, each in slices if each.service == name]
    if not found:
        return Availability("False", "EndpointsNotFound", f"cannot find endpointslices for {told}")
    port_name = port.get("name") or ""
    if not any(each.is_ready and port_name in each.ports for each in found):
        return Availability(
            "False",
            "MissingEndpoints",
            f"endpointslices for {told} have no addresses with port name {go_quote(port_name)}",
        )
    return None


class _Slice(NamedTuple):
    service: str
    ports: frozenset[str]
    is_ready: bool


def _read_slice(obj: JsonObject) -> _Slice:
    labels = obj["metadata"].get("labels") or {}
    return _Slice(
        labels.get(_SERVICE_LABEL, ""),
        frozenset(
            each["name"] for each in obj.get("ports") or () if "name" in each and "port" in each
        ),
        any(
            (each.get("conditions") or {}).get("ready") is not False
            for each in obj.get("endpoints") or ()
        ),
    )

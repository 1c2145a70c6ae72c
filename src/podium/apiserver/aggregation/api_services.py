"""The stored APIServices, and those that the server registers by itself.

One for each group version that it serves: those of built-in groups at every start, those of custom
resources whenever a definition comes or goes, and again when somebody deletes or changes them.
upstream: one of a built-in group that somebody deletes is back at the next start.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from podium.apiserver.aggregation.priorities import (
    OF_CUSTOM_RESOURCES,
    Priority,
    built_in_priority,
)
from podium.apiserver.aggregation.remote_resources import RemoteResources
from podium.apiserver.bodies.reading import Read
from podium.apiserver.requests import body_decoding, creating, deleting, updating
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.delete_options import DeleteOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.requests.storage_hooks import StorageHooks
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.maturity import maturity
from podium.kubernetes.rules.api_service_availability import (
    LOCAL,
    Availability,
    condition_of,
    missing_service,
)
from podium.kubernetes.rules.field_errors import FieldError

GROUP: Final = "apiregistration.k8s.io"
_LABEL: Final = "kube-aggregator.kubernetes.io/automanaged"
_ON_START: Final = "onstart"
_ALWAYS: Final = "true"

GroupVersion = tuple[str, str]


class ApiServices:
    """Keeps them in step with what is served; they are hooks of their own objects."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.table.named("apiservices", GROUP)
        self._known: dict[str, JsonObject] = {}
        self._custom: set[GroupVersion] = set()
        self.remotes: dict[GroupVersion, JsonObject] = {}
        """Those that name a service."""
        self._resources: dict[GroupVersion, RemoteResources] = {}
        self.changes = 0
        for stored in registry.collection(self._resource).current():
            self._note(registry.read(self._resource, stored))
        registry.storage_hooks[self._resource] = self
        definitions = registry.table.named("customresourcedefinitions", "apiextensions.k8s.io")
        hooks = registry.storage_hooks[definitions]
        registry.storage_hooks[definitions] = _DefinitionHooks(hooks, self)

    # --- registering --------------------------------------------------------------------------

    def register_built_in(self, beside: Mapping[GroupVersion, Priority]) -> None:
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

    def _ensure(self, group_version: GroupVersion, priority: Priority, managed: str) -> None:
        """Create one, or bring one up to date that the server manages."""
        obj = _api_service(group_version, priority, managed)
        name = obj["metadata"]["name"]
        known = self._known.get(name)
        if known is None:
            creating.create(self._registry, self._resource, "", *self._taken(obj))
        elif _managed(known) and known["spec"] != obj["spec"]:
            metadata = known["metadata"]
            obj = {**known, "spec": obj["spec"], "metadata": {**metadata}}
            updating.update(self._registry, self._resource, "", "", name, *self._taken(obj))

    def _forget(self, managed: str, wanted: Iterable[GroupVersion]) -> None:
        """Delete those that the server manages for what it does not serve any more."""
        kept = {_name(group_version) for group_version in wanted}
        for name, obj in list(self._known.items()):
            if _managed(obj) == managed and name not in kept:
                call = Call(self._registry.now(), user_agent="podium-apiserver")
                options = DeleteOptions()
                deleting.delete(self._registry, self._resource, "", name, options, call)

    def _taken(self, obj: JsonObject) -> tuple[JsonObject, Call]:
        call = Call(self._registry.now(), user_agent="podium-apiserver")
        return body_decoding.take(self._registry, self._resource, Read(obj, ()), call), call

    # --- as hooks of their objects ------------------------------------------------------------

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """Nothing: the strategy has said that local ones are available."""
        del obj, now, dry_run
        return []

    def written(self, obj: JsonObject) -> None:
        self._note(obj)
        spec = obj["spec"]
        group_version = (spec.get("group") or "", spec["version"])
        if _managed(obj) == _ALWAYS and group_version in self._custom:
            self._ensure(group_version, OF_CUSTOM_RESOURCES, _ALWAYS)
        self.check(obj["metadata"]["name"])

    def removed(self, obj: JsonObject) -> None:
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
        """Group versions as clients are told of them."""
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

    def _priority(self, group_version: GroupVersion) -> Priority:
        known = self._known.get(_name(group_version))
        if known is not None:
            spec = known["spec"]
            return Priority(spec["groupPriorityMinimum"], spec["versionPriority"])
        return built_in_priority(*group_version) or OF_CUSTOM_RESOURCES


class _DefinitionHooks:
    """The hooks of definitions, after which what they define is registered."""

    def __init__(self, hooks: StorageHooks, api_services: ApiServices) -> None:
        self._hooks = hooks
        self._api_services = api_services

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        return self._hooks.settle(obj, now, dry_run=dry_run)

    def written(self, obj: JsonObject) -> None:
        self._hooks.written(obj)
        self._api_services.register_custom()

    def removed(self, obj: JsonObject) -> None:
        self._hooks.removed(obj)
        self._api_services.register_custom()


def _name(group_version: GroupVersion) -> str:
    group, version = group_version
    return f"{version}.{group}"


def _managed(obj: JsonObject) -> str:
    return str((obj["metadata"].get("labels") or {}).get(_LABEL) or "")


def _api_service(group_version: GroupVersion, priority: Priority, managed: str) -> JsonObject:
    group, version = group_version
    spec: JsonObject = {"group": group} if group else {}
    spec |= {
        "version": version,
        "groupPriorityMinimum": priority.group,
        "versionPriority": priority.version,
    }
    return {"metadata": {"name": _name(group_version), "labels": {_LABEL: managed}}, "spec": spec}

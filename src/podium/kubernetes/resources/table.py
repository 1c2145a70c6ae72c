"""The table of everything that is served, by group-version and plural name.

Built-in resources are there from the start; definitions of custom resources add and remove theirs.
`changes` counts up with every such change, so that discovery documents can be kept until then.
Resources that are switched off are known to the server and to nobody else.

Which of several versions of a group is the one to use: v2 before v1 before v1beta1.

The resources that every server has, and which of their group-versions are served. The flag
`--runtime-config` of kube-apiserver switches them:

    api/all=false, api/ga, api/beta, api/alpha     all versions, or those of one stage
    v1=true, apps/v1=false                         one group-version
    batch/v1/cronjobs=false                        one resource of it

The narrower setting wins, in whatever order they come (`MergeAPIResourceConfigs` in
`k8s.io/apiserver`). What is switched off is neither found under its path nor told by discovery; its
objects stay where they are, and the server itself goes on using them. Versions that this server
does not have and Kubernetes has or had cannot be switched on: that is a warning, so that command
lines of other servers work. Groups and versions that Kubernetes never had are mistakes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from podium.kubernetes.kinds.catalogue import all_kinds, kinds_of
from podium.kubernetes.kinds.record import STATUS_VERBS, Kind, Subresource
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import ApiResource


@cache
def builtin_resources() -> tuple[ApiResource, ...]:
    """Those that are served whatever the feature gates say; with the fields of all gates."""
    return tuple(each for kind in all_kinds() if not kind.gate for each in resources_of(kind))


def served_resources(gates: FeatureGates) -> tuple[ApiResource, ...]:
    """The resources of a server with these gates; fields whose gates are closed are not kept."""
    gated = [kind for kind in all_kinds() if kind.gate and gates[kind.gate]]
    found = (*builtin_resources(), *(each for kind in gated for each in resources_of(kind)))
    return tuple(_without_open_gates(each, gates) for each in found)


class ResourcesByGroup:
    """The resources of a server with these gates, a group loaded when it is first asked about: an
    input of nodes and pods is read without the rules of webhooks and policies."""

    def __init__(self, gates: FeatureGates) -> None:
        self._gates = gates
        self._groups: dict[str, tuple[ApiResource, ...]] = {}

    def find(self, group: str, version: str, plural: str) -> ApiResource | None:
        found = (each for each in self._of(group) if each.plural == plural)
        return next((each for each in found if each.version == version), None)

    def find_kind(self, group: str, version: str, kind: str) -> ApiResource | None:
        found = (each for each in self._of(group) if each.kind == kind)
        return next((each for each in found if each.version == version), None)

    def get_required(self, plural: str) -> ApiResource:
        """A resource of the core group, without which there is no server."""
        found = self.find("", "v1", plural)
        assert found is not None
        return found

    def _of(self, group: str) -> tuple[ApiResource, ...]:
        if group not in self._groups:
            served = (k for k in kinds_of(group) if not k.gate or self._gates[k.gate])
            found = (each for kind in served for each in resources_of(kind))
            self._groups[group] = tuple(_without_open_gates(each, self._gates) for each in found)
        return self._groups[group]


def resource_gates() -> set[str]:
    """The gates that bring resources."""
    return {kind.gate for kind in all_kinds() if kind.gate}


def resources_of(kind: Kind) -> list[ApiResource]:
    """A kind as the paths of its versions name it."""
    status = (Subresource("status", kind.kind, STATUS_VERBS),) if kind.has_status else ()
    older = kind.older_version
    versions = (kind.version,) if older is None else (kind.version, older.version)
    return [
        ApiResource(
            group=kind.group,
            version=version,
            kind=kind.kind,
            plural=kind.plural,
            singular=kind.kind.lower(),
            namespaced=kind.namespaced,
            short_names=kind.short_names,
            categories=kind.categories,
            subresources=(*kind.subresources, *status),
            verbs=kind.verbs,
            gated_fields=kind.gated_fields,
        )
        for version in versions
    ]


def _without_open_gates(resource: ApiResource, gates: FeatureGates) -> ApiResource:
    if not resource.gated_fields:
        return resource
    closed = tuple((gate, path) for gate, path in resource.gated_fields if not gates[gate])
    return replace(resource, gated_fields=closed)


_STAGE: Final = re.compile(r"v\d+(?P<stage>alpha|beta)?\d*")
_API_STAGES: Final = {"api/ga": "", "api/beta": "beta", "api/alpha": "alpha"}
_ALL: Final = "api/all"
_CORE: Final = "v1"
_PARTS: Final = (2, 3)
"""Of a key: group and version, and perhaps a resource."""
_UNSERVED_VERSIONS: Final[Mapping[str, str]] = {
    "admission.k8s.io": "v1 v1beta1",
    "admissionregistration.k8s.io": "v1alpha1 v1beta1",
    "apiextensions.k8s.io": "v1beta1",
    "apiregistration.k8s.io": "v1beta1",
    "apps": "v1beta1 v1beta2",
    "auditregistration.k8s.io": "v1alpha1",
    "authentication.k8s.io": "v1alpha1 v1beta1",
    "authorization.k8s.io": "v1beta1",
    "autoscaling": "v2alpha1 v2beta1 v2beta2",
    "batch": "v1beta1 v2alpha1",
    "certificates.k8s.io": "v1alpha1 v1beta1",
    "coordination.k8s.io": "v1alpha1 v1alpha2 v1beta1",
    "discovery.k8s.io": "v1alpha1 v1beta1",
    "events.k8s.io": "v1beta1",
    "extensions": "v1beta1",
    "flowcontrol.apiserver.k8s.io": "v1alpha1 v1beta1 v1beta2 v1beta3",
    "imagepolicy.k8s.io": "v1alpha1",
    "internal.apiserver.k8s.io": "v1alpha1",
    "networking.k8s.io": "v1alpha1 v1beta1",
    "node.k8s.io": "v1alpha1 v1beta1",
    "policy": "v1alpha1 v1beta1",
    "rbac.authorization.k8s.io": "v1alpha1 v1beta1",
    "resource.k8s.io": "v1alpha1 v1alpha2 v1alpha3 v1beta1",
    "scheduling.k8s.io": "v1alpha1 v1alpha3 v1beta1",
    "settings.k8s.io": "v1alpha1",
    "storage.k8s.io": "v1alpha1 v1beta1",
    "storagemigration.k8s.io": "v1 v1alpha1 v1beta1",
}
"""What kube-apiserver of some release has or had and this server has not."""


@dataclass(frozen=True, slots=True)
class RuntimeConfig:
    """What was said of group-versions, by the keys of the flag; by default all are served."""

    settings: Mapping[str, bool] = field(default_factory=dict)

    def serves(self, resource: ApiResource) -> bool:
        keys = (f"{resource.api_version}/{resource.plural}", resource.api_version)
        for key in (*keys, _stage_key(resource.version), _ALL):
            if key in self.settings:
                return self.settings[key]
        return True

    def find_mistakes(self) -> list[str]:
        """What nobody can mean, in kube-apiserver's words.

        Upstream: `Validate` of `pkg/server/options/api_enablement.go`, `ParseGroupVersions` and
        `MergeAPIResourceConfigs` of `pkg/server/resourceconfig/helpers.go` in `k8s.io/apiserver`.
        """
        if self.settings == {_ALL: False}:
            return [f"invalid runtime-config with only {_ALL}=false"]
        known = _known_versions()
        mistakes: list[str] = []
        unknown: set[str] = set()
        for key in self.settings:
            # upstream: help has the core group as `v1`, which is then refused; `/v1/pods` is taken.
            group, *rest = parts = f"/{key}".split("/") if _is_core(key) else key.split("/")
            if key in (_ALL, _CORE, *_API_STAGES):
                continue
            if len(parts) not in _PARTS:
                mistakes.append(f"runtime-config invalid key {key}")
            elif group not in known:
                unknown.add(f"{group}/{rest[0]}")
            elif rest[0] not in known[group]:
                mistakes.append(f"group version {group}/{rest[0]} that has not been registered")
            elif rest[1:] != [part.lower() for part in rest[1:]]:
                mistakes.append(
                    f"invalid key {key}: group/version/resource and resource is always lowercase"
                    f' plural, not "{rest[1]}"'
                )
        if unknown:
            mistakes.append(f"unknown api groups {','.join(sorted(unknown))}")
        return mistakes

    def find_warnings(self, gates: FeatureGates) -> list[str]:
        """Settings that change nothing, because there is nothing to switch."""
        served = _names(served_resources(gates))
        behind = {
            name: gate
            for gate in resource_gates()
            for name in _names(served_resources(gates.with_overrides({gate: True})))
        }
        found = []
        for key, on in self.settings.items():
            if key == _ALL or key in _API_STAGES or key in served:
                continue
            if key in behind:
                if on:
                    found.append(f"{key} is served with --feature-gates {behind[key]}=true only")
            elif on or key.partition("/")[0] not in {name.partition("/")[0] for name in served}:
                found.append(f"{key} is not served by this server")
        return found


EVERYTHING: Final = RuntimeConfig()


def _is_core(key: str) -> bool:
    return key.partition("/")[0] == _CORE


def _known_versions() -> dict[str, set[str]]:
    """The versions of each group that Kubernetes has or had."""
    known = {group: set(versions.split()) for group, versions in _UNSERVED_VERSIONS.items()}
    for kind in all_kinds():
        for each in resources_of(kind):
            known.setdefault(each.group, set()).add(each.version)
    return known


def _stage_key(version: str) -> str:
    found = _STAGE.fullmatch(version)
    stage = (found["stage"] if found else None) or ""
    return next(key for key, each in _API_STAGES.items() if each == stage)


def _names(resources: Iterable[ApiResource]) -> set[str]:
    """The keys by which resources can be named."""
    names: set[str] = set()
    for each in resources:
        names |= {each.api_version, f"{each.api_version}/{each.plural}"}
    return names


class ResourceTable:
    """Looks up resources as paths and objects name them."""

    def __init__(
        self,
        resources: Iterable[ApiResource] | None = None,
        runtime_config: RuntimeConfig = EVERYTHING,
    ) -> None:
        """With the built-in resources if none are given."""
        self._runtime_config = runtime_config
        self._by_path: dict[tuple[str, str, str], ApiResource] = {}
        self._by_kind: dict[tuple[str, str, str], ApiResource] = {}
        self.changes = 0
        for resource in builtin_resources() if resources is None else resources:
            self.add(resource)

    def add(self, resource: ApiResource) -> None:
        """Serve a resource, in place of an earlier one of the same names."""
        group_version = (resource.group, resource.version)
        self._by_path[(*group_version, resource.plural)] = resource
        self._by_kind[(*group_version, resource.kind)] = resource
        self.changes += 1

    def remove(self, resource: ApiResource) -> None:
        group_version = (resource.group, resource.version)
        self._by_path.pop((*group_version, resource.plural), None)
        self._by_kind.pop((*group_version, resource.kind), None)
        self.changes += 1

    def find(self, group: str, version: str, plural: str) -> ApiResource | None:
        return self._by_path.get((group, version, plural))

    def find_served(self, group: str, version: str, plural: str) -> ApiResource | None:
        """The resource for clients."""
        found = self.find(group, version, plural)
        return found if found is not None and self._serves(found) else None

    def _serves(self, resource: ApiResource) -> bool:
        return resource.is_custom or self._runtime_config.serves(resource)

    def find_kind(self, group: str, version: str, kind: str) -> ApiResource | None:
        return self._by_kind.get((group, version, kind))

    def get_required(self, plural: str, group: str = "", version: str = "v1") -> ApiResource:
        """A resource that the server itself cannot do without."""
        return self._by_path[(group, version, plural)]

    def __iter__(self) -> Iterator[ApiResource]:
        """Those that are served."""
        return filter(self._serves, self._by_path.values())

    def group_versions(self) -> dict[str, list[str]]:
        """The versions of each group, the most mature first: v2, v1, v1beta1, others by name."""
        versions: dict[str, list[str]] = {}
        for resource in self:
            known = versions.setdefault(resource.group, [])
            if resource.version not in known:
                known.append(resource.version)
        return {group: sorted(known, key=maturity) for group, known in versions.items()}

    def of_version(self, group: str, version: str) -> list[ApiResource]:
        """What a group-version serves, sorted by plural name as discovery lists it."""
        found = [each for each in self if (each.group, each.version) == (group, version)]
        return sorted(found, key=lambda each: each.plural)


_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES: Final = (None, "beta", "alpha")


def maturity(version: str) -> tuple[int, int, int, str]:
    """A key by which the most mature version comes first; odd names come last."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return len(_STAGES), 0, 0, version
    major, stage, minor = found.groups()
    return _STAGES.index(stage), -int(major), -int(minor or 0), ""

"""The resources that every server has: the built-in kinds in each of their versions."""

from dataclasses import replace
from functools import cache

from podium.kubernetes.kinds.catalogue import all_kinds, kinds_of
from podium.kubernetes.kinds.record import STATUS_VERBS, Kind, Subresource
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import Resource


@cache
def builtin_resources() -> tuple[Resource, ...]:
    """Those that are served whatever the feature gates say; with the fields of all gates."""
    return tuple(each for kind in all_kinds() if not kind.gate for each in resources_of(kind))


def served_resources(gates: FeatureGates) -> tuple[Resource, ...]:
    """The resources of a server with these gates; fields whose gates are closed are not kept."""
    gated = [kind for kind in all_kinds() if kind.gate and gates[kind.gate]]
    found = (*builtin_resources(), *(each for kind in gated for each in resources_of(kind)))
    return tuple(_without_open_gates(each, gates) for each in found)


class ResourcesByGroup:
    """The resources of a server with these gates, a group loaded when it is first asked about: an
    input of nodes and pods is read without the rules of webhooks and policies."""

    def __init__(self, gates: FeatureGates) -> None:
        self._gates = gates
        self._groups: dict[str, tuple[Resource, ...]] = {}

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        found = (each for each in self._of(group) if each.plural == plural)
        return next((each for each in found if each.version == version), None)

    def find_kind(self, group: str, version: str, kind: str) -> Resource | None:
        found = (each for each in self._of(group) if each.kind == kind)
        return next((each for each in found if each.version == version), None)

    def named(self, plural: str) -> Resource:
        """A resource of the core group, without which there is no server."""
        found = self.find("", "v1", plural)
        assert found is not None
        return found

    def _of(self, group: str) -> tuple[Resource, ...]:
        if group not in self._groups:
            served = (k for k in kinds_of(group) if not k.gate or self._gates[k.gate])
            found = (each for kind in served for each in resources_of(kind))
            self._groups[group] = tuple(_without_open_gates(each, self._gates) for each in found)
        return self._groups[group]


def resource_gates() -> set[str]:
    """The gates that bring resources."""
    return {kind.gate for kind in all_kinds() if kind.gate}


def resources_of(kind: Kind) -> list[Resource]:
    """A kind as the paths of its versions name it."""
    status = (Subresource("status", kind.kind, STATUS_VERBS),) if kind.has_status else ()
    older = kind.older_version
    versions = (kind.version,) if older is None else (kind.version, older.version)
    return [
        Resource(
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


def _without_open_gates(resource: Resource, gates: FeatureGates) -> Resource:
    if not resource.gated_fields:
        return resource
    closed = tuple((gate, path) for gate, path in resource.gated_fields if not gates[gate])
    return replace(resource, gated_fields=closed)

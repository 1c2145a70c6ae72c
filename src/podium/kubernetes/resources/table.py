"""The table of everything that is served, by group-version and plural name.

Built-in resources are there from the start; definitions of custom resources add and remove theirs.
`changes` counts up with every such change, so that discovery documents can be kept until then.
Resources that are switched off are known to the server and to nobody else.

Which of several versions of a group is the one to use: v2 before v1 before v1beta1.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from podium.kubernetes.resources.builtin import EVERYTHING, RuntimeConfig, builtin_resources
from podium.kubernetes.resources.resource import Resource


class ResourceTable:
    """Looks up resources as paths and objects name them."""

    def __init__(
        self,
        resources: Iterable[Resource] | None = None,
        runtime_config: RuntimeConfig = EVERYTHING,
    ) -> None:
        """With the built-in resources if none are given."""
        self._runtime_config = runtime_config
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_kind: dict[tuple[str, str, str], Resource] = {}
        self.changes = 0
        for resource in builtin_resources() if resources is None else resources:
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Serve a resource, in place of an earlier one of the same names."""
        group_version = (resource.group, resource.version)
        self._by_path[(*group_version, resource.plural)] = resource
        self._by_kind[(*group_version, resource.kind)] = resource
        self.changes += 1

    def remove(self, resource: Resource) -> None:
        group_version = (resource.group, resource.version)
        self._by_path.pop((*group_version, resource.plural), None)
        self._by_kind.pop((*group_version, resource.kind), None)
        self.changes += 1

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        return self._by_path.get((group, version, plural))

    def find_served(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource for clients."""
        found = self.find(group, version, plural)
        return found if found is not None and self._serves(found) else None

    def _serves(self, resource: Resource) -> bool:
        return resource.is_custom or self._runtime_config.serves(resource)

    def find_kind(self, group: str, version: str, kind: str) -> Resource | None:
        return self._by_kind.get((group, version, kind))

    def named(self, plural: str, group: str = "", version: str = "v1") -> Resource:
        """A resource that the server itself cannot do without."""
        return self._by_path[(group, version, plural)]

    def __iter__(self) -> Iterator[Resource]:
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

    def of_version(self, group: str, version: str) -> list[Resource]:
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

"""A write as admission sees it: who does what to which object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from podium.apiserver.access.users import User
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"


@dataclass(frozen=True, slots=True)
class AttemptedWrite:
    operation: str
    resource: Resource
    namespace: str
    """Of a namespace that exists: itself."""
    name: str
    obj: JsonObject | None
    """As it would be stored; None when it is deleted. With its kind and version."""
    old: JsonObject | None
    user: User
    subresource: str = ""
    dry_run: bool = False
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[str, str, str]:
        """Group, version and kind of the object, which a subresource may have of its own."""
        found = self.resource.subresource_by_name.get(self.subresource)
        if found is None:
            return self.resource.group, self.resource.version, self.resource.kind
        if not found.version:
            return self.resource.group, self.resource.version, found.kind
        return found.group, found.version, found.kind

    @property
    def is_of_namespace(self) -> bool:
        return (self.resource.group, self.resource.plural) == ("", "namespaces")

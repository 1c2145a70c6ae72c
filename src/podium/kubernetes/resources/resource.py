"""One served resource: its names, its scope, its verbs and its subresources.

Everything that differs between resources by name only reads it from here: paths, discovery, the
words in errors. What differs in behaviour (defaults, validation, columns) is in the record of the
kind. Resources are compared by identity: the table has one of each.
"""

from dataclasses import dataclass, field
from functools import cached_property

from podium.kubernetes.kinds.catalogue import CUSTOM, find_kind
from podium.kubernetes.kinds.record import ALL_VERBS, Kind, OwnForm, Subresource


@dataclass(frozen=True, eq=False)
class ApiResource:
    """A collection of objects of one kind, as a path names it."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    is_custom: bool = field(default=False, kw_only=True)
    """Defined by a CustomResourceDefinition."""
    list_kind_name: str = field(default="", kw_only=True)
    storage_version: str = field(default="", kw_only=True)
    """Of custom resources: the version in which objects are stored."""
    deprecation: str = field(default="", kw_only=True)
    """Of custom resources: what to tell everybody who uses this version."""
    selectable_fields: tuple[str, ...] = field(default=(), kw_only=True)
    """Of custom resources: paths such as `spec.queue`, without a leading dot."""

    gated_fields: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), kw_only=True)
    """Feature gates that are closed, each with the path of a field that is not kept for it; a path
    goes through the items of lists, and with ANY_KEY through the values of a map."""

    @cached_property
    def record(self) -> Kind:
        """What is special about the kind."""
        return CUSTOM if self.is_custom else find_kind(self.group, self.kind)

    @cached_property
    def form(self) -> OwnForm | None:
        """How objects are shown, if they are stored in another form."""
        return self.record.form_in(self.version)

    @cached_property
    def paths_by_gate(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """The paths of the gated fields, those of one gate together."""
        paths: dict[str, tuple[tuple[str, ...], ...]] = {}
        for gate, path in self.gated_fields:
            paths[gate] = (*paths.get(gate, ()), path)
        return tuple(paths.values())

    @cached_property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def group_resource(self) -> str:
        """The name in messages: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def list_kind(self) -> str:
        return self.list_kind_name or f"{self.kind}List"

    @cached_property
    def subresource_by_name(self) -> dict[str, Subresource]:
        return {each.name: each for each in self.subresources}

    @property
    def has_status(self) -> bool:
        return "status" in self.subresource_by_name

    @property
    def is_stored(self) -> bool:
        """Reviews and bindings are questions and acts: there is nothing to get."""
        return "get" in self.verbs

"""What a release's data file is made of, entry by entry.

Contract: a file has the names, numbers, types and defaults of one release and no texts, in
Kubernetes' own words (Go's types, struct tags, `+markers`), so that a line can be checked against
the sources at a glance. What an entry leaves out has the default given here.
`tools/release_data.py` writes the files.
"""

from typing import Any

import msgspec


class FieldEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A field of an API type; one with `inline` stands for all fields of its type."""

    name: str
    """In JSON; the type's name if `inline`."""
    type: str = ""
    """As in Go: `*int32`, `[]Container`, `map[string]string`. A name is looked for in the own
    section, then in core, then in meta; one of another section has that in front."""
    number: int = 0
    """In protobuf; 0: it has none."""
    inline: bool = False
    required: bool = False
    omit: str = "empty"
    """When Go leaves it out of JSON: `empty`, `zero`, `never`."""
    default: Any = None
    list_type: str = "atomic"
    """`atomic`, `set` or `map`."""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = "granular"
    struct_type: str = ""
    patch_strategy: str = ""
    patch_merge_key: str = ""


class TypeEntry(msgspec.Struct, frozen=True, rename="camel"):
    """An API type: a struct with fields, or a name for another type."""

    fields: tuple[FieldEntry, ...] = ()
    struct_type: str = "granular"
    type: str = ""
    """What the name stands for; "": it is a struct."""
    enum: tuple[str, ...] = ()

    @property
    def is_object(self) -> bool:
        """Has `kind` and `apiVersion`."""
        return bool(self.fields) and self.fields[0].inline and self.fields[0].name == "TypeMeta"


class GateEntry(msgspec.Struct, frozen=True, rename="camel"):
    """What changed about a feature gate in a release; before its first entry it does not exist."""

    since: str
    stage: str
    """`alpha`, `beta`, `ga`, `deprecated`."""
    default: bool = False
    locked: bool = False
    min_compatibility: str = ""
    """The oldest release that must be in the control plane for this entry to count."""


class PluginEntry(msgspec.Struct, frozen=True):
    """A default plugin of the scheduler; the order is that of `multiPoint`."""

    name: str
    weight: int = 0
    gate: str = ""
    """The gate that must be on for it; "": it is always there."""


class MetricEntry(msgspec.Struct, frozen=True):
    """A metric; `buckets` are a histogram's bounds, without the last one that is infinite."""

    name: str
    type: str
    stability: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


class FlagEntry(msgspec.Struct, frozen=True):
    """A flag of kube-scheduler."""

    name: str
    type: str
    """pflag's word: `string`, `duration`, `stringSlice`, ..."""
    default: str = ""
    """As a command line has it."""
    shorthand: str = ""

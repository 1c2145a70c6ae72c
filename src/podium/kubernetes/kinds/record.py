"""What can be special about a built-in kind, as one value: the record of the kind.

The server, the simulator and the scheduler know kinds by their records alone. A field with a
default says what holds for most kinds, so that the record of a plain kind is its names. Records
are written in `groups/`, one module for an API group, and looked up in `catalogue.py`.

Fields of pods that belong to feature gates which 1.36 leaves closed. A pod template is the same in
every workload, so the paths are written once, relative to the pod spec. What is listed here is not
kept while its gate is closed; fields of gates that are open by default, or locked, are ordinary
fields.

Readers of the fields by which objects are selected. Fields that are absent read as the text that
Go's zero value gives.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.rules.field_errors import FieldError

GatedField = tuple[str, tuple[str, ...]]
"""A feature gate and the path of a field."""

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_STATUSES: Final = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_PROJECTED: Final = ("volumes", "projected", "sources")


def gated_spec_fields(*spec: str) -> Iterator[GatedField]:
    """The fields of the pod spec at a path."""
    for containers in _CONTAINERS:
        yield "ContainerStopSignals", (*spec, containers, "lifecycle", "stopSignal")
    yield "ClusterTrustBundleProjection", (*spec, *_PROJECTED, "clusterTrustBundle")
    yield "PodCertificateRequest", (*spec, *_PROJECTED, "podCertificate")
    yield "GenericWorkload", (*spec, "schedulingGroup")


def gated_pod_fields() -> tuple[GatedField, ...]:
    """The fields of a pod, its status included."""
    return (
        *gated_spec_fields("spec"),
        *(
            ("ImageVolumeWithDigest", ("status", statuses, "volumeMounts", "volumeStatus"))
            for statuses in _STATUSES
        ),
        ("DRANodeAllocatableResources", ("status", "nodeAllocatableResourceClaimStatuses")),
    )


ALL_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
STATUS_VERBS: Final = ("get", "patch", "update")
ANY_KEY: Final = "*"
"""In the path of a field: all values of a map, or all items of a list."""

Path = tuple[str, ...]
Cells = list[JsonValue]
SetDefaults = Callable[[JsonObject], None]
ValidateCreate = Callable[[JsonObject], list[FieldError]]
ValidateUpdate = Callable[[JsonObject, JsonObject], list[FieldError]]
"""`(new, old)`."""
PrepareCreate = Callable[[JsonObject, str], None]
"""`(obj, now)`, in place."""
PrepareUpdate = Callable[[JsonObject, JsonObject, str], None]
"""`(new, old, now)`, in place on `new`."""
Convert = Callable[[JsonObject], JsonObject]
"""Makes a new object and leaves the old one as it is."""
ReadField = Callable[[JsonObject], str]


@dataclass(frozen=True, slots=True)
class Subresource:
    """A path below one object, such as `pods/binding`; its kind may be of another group.

    The last three are for subresources by which a part of the object itself is written.
    """

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""
    """Empty group and version: those of the resource."""
    prepare: PrepareUpdate | None = field(default=None, repr=False)
    """Keeps what a write cannot change; without it the status is kept."""
    validate: ValidateUpdate | None = field(default=None, repr=False)
    """Without it only the metadata is looked at."""
    owned: tuple[Path, ...] | None = None
    """The only fields that a writer can own by a write; None: all that it can change."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Which rules hold when an object is created, changed, and when its status changes.

    Without a rule only the metadata is looked at.
    """

    create: ValidateCreate | None = None
    update: ValidateUpdate | None = None
    status: ValidateUpdate | None = None


_SPEC: Final = (("spec",),)
_ALL_BUT_STATUS: Final = (("metadata",), ("spec",))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStrategy:
    """What the server writes into objects before they are validated."""

    empty_status: JsonObject | None = None
    """The status of a new object, where clients cannot set it."""
    counted: tuple[str, ...] | None = None
    """The parts whose changes count the generation up; None: it is not counted."""
    has_first_generation: bool = True
    """Whether a new object of a counted kind has generation 1, or none until it changes."""
    null_list: Path = ()
    """A list that is written even when it is empty, and then as null: storing drops empty ones."""
    keeps_metadata: bool = False
    """Whether the metadata stays as it is when the status is written."""
    reset_by_status: tuple[Path, ...] = ()
    """Fields that a write to the status resets and that nobody can own by it, where it is not the
    spec, or all but the status."""
    gates_each_field: bool = False
    """Whether an object that has one field of a closed gate may not use the gate's other ones."""
    create: PrepareCreate | None = None
    update: PrepareUpdate | None = None
    status: PrepareUpdate | None = None

    @property
    def reset_fields(self) -> tuple[Path, ...]:
        """The fields that nobody can own by a write to the status."""
        return self.reset_by_status or (_ALL_BUT_STATUS if self.keeps_metadata else _SPEC)


def _no_conditions(_obj: JsonObject) -> list[JsonObject]:
    return []


@dataclass(frozen=True, slots=True)
class Printer:
    """What `kubectl get` shows of the objects of one kind."""

    columns: list[JsonObject]
    cells: Callable[[JsonObject, float], Cells]
    """`(obj, now)`: one cell for each column, `now` in seconds since the epoch."""
    row_conditions: Callable[[JsonObject], list[JsonObject]] = _no_conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class Warnings:
    """What the writer of an object should know of; texts are made as they are requested."""

    create: Callable[[JsonObject], Iterator[str]] | None = None
    update: Callable[[JsonObject, JsonObject], Iterator[str]] | None = None
    """`(new, old)`."""
    always: Callable[[JsonObject], Iterator[str]] | None = None
    """At creation and at every update, after the other two."""
    use: str = ""
    """For every request about the kind."""
    orphans: str = ""
    """For a deletion that does not say what becomes of dependents."""


@dataclass(frozen=True, slots=True)
class OwnForm:
    """How a resource shows objects that are kept in another form, or in another's collection."""

    storage_name: str
    """The collection in which they are kept."""
    show: Convert
    """A stored object as the resource shows it."""
    keep: Convert
    """An object of the resource as it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderVersion:
    """A version of a kind beside the one whose rules hold for both and in which it is stored."""

    version: str
    show: Convert
    """An object of the newer version in the form of this one."""
    upgrade: Convert
    """An object of this version in the form of the newer one, without its defaults."""
    defaults: SetDefaults
    printer: Printer


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Everything that is special about one kind. Kinds are compared by identity."""

    group: str
    kind: str
    plural: str
    short_names: tuple[str, ...] = ()
    _: KW_ONLY
    description: str = ""
    """What `kubectl explain` says about it."""
    version: str = "v1"
    """The version whose rules hold."""
    older_version: OlderVersion | None = None
    form: OwnForm | None = None
    """Of a kind whose objects are stored as those of another."""
    stored_in: tuple[str, str] | None = None
    """The group and version of which clients are told that objects are stored in it, where it is
    not the kind's own."""
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    has_status: bool = False
    """Whether the status is a subresource."""
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    """Those beside the status."""
    gate: str = ""
    """The feature gate without which the kind is not served."""
    gated_fields: tuple[GatedField, ...] = ()
    defaults: SetDefaults | None = None
    validation: Validation = Validation()
    strategy: WriteStrategy = WriteStrategy()
    printer: Printer | None = None
    """None: name and creation are shown."""
    warnings: Warnings = Warnings()
    selectable_fields: Mapping[str, ReadField] = field(default_factory=dict)
    """By which objects can be selected, beside name and namespace; read once per write."""
    field_aliases: Mapping[str, str] | None = None
    """Other names of these, which then are the only ones."""
    selector_refusal: str = ""
    """The answer to a selector by another field, with `{field}` in it; empty: the usual one."""

    def defaults_in(self, version: str) -> SetDefaults | None:
        older = self._older(version)
        return self.defaults if older is None else older.defaults

    def printer_in(self, version: str) -> Printer | None:
        older = self._older(version)
        return self.printer if older is None else older.printer

    def form_in(self, version: str) -> OwnForm | None:
        older = self._older(version)
        if older is None:
            return self.form

        def keep(value: JsonObject) -> JsonObject:
            upgraded = older.upgrade(value)
            if self.defaults is not None:
                self.defaults(upgraded)
            return upgraded

        return OwnForm(f"{self.plural}.{self.group}", older.show, keep)

    def _older(self, version: str) -> OlderVersion | None:
        older = self.older_version
        return older if older is not None and older.version == version else None


SCALE: Final = Subresource("scale", "Scale", STATUS_VERBS, "autoscaling", "v1")


_EMPTY: Final[JsonObject] = {}


def read_text(path: str, absent: str = "") -> ReadField:
    """Reads the field at a path such as `spec.nodeName`."""
    *parents, last = path.split(".")

    def read(value: JsonObject) -> str:
        for name in parents:
            value = value.get(name) or _EMPTY
        found = value.get(last)
        if found is None:
            return absent
        if isinstance(found, str):
            return found
        if isinstance(found, bool):
            return "true" if found else "false"
        return str(found)

    return read


def read_texts(*paths: str) -> dict[str, ReadField]:
    return {path: read_text(path) for path in paths}


def _read_reporter(event: JsonObject) -> str:
    source = event.get("source") or _EMPTY
    component: str = source.get("component") or ""
    return component or event.get("reportingComponent") or ""


EVENT_FIELDS: Final = {
    **read_texts(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "type",
    ),
    "source": _read_reporter,
}
"""Of events of both groups, which are one collection."""

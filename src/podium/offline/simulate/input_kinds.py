"""What an input may hold beside the objects that scheduling reads.

Templates of pods and claims are read as what they will become. Controllers pass templates on as
they are written (`kubernetes.controllers.workloads`). What is wrong in a file's templates is
reported before pods are made of them, with the path from the top of the object.

Kinds that do not exist, told apart from those of somebody else. A `Podd` is refused, as kubectl
refuses it: somebody meant it to be placed, and a simulation without it would answer another
question. A custom resource whose definition is not in the input may be known to the cluster that
the files are for; it is passed over with a note.

Clusters as kube-scheduler-simulator exports them. Its `GET /api/v1/export` answers with one JSON
object that has a list for each kind and neither apiVersion nor kind; what the simulator found out
about pods is in their annotations (see `result_annotations`). Such a file is recognised by what is
in it and read like a list of objects.

upstream: kube-scheduler-simulator, simulator/snapshot (ResourcesForSnap).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from podium.golang.documents import SourceDocument, with_type
from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import JsonValue
from podium.golang.mistakes import ROOT, Path, join
from podium.golang.quoting import go_quote
from podium.kubernetes.kinds.catalogue import CUSTOM, GROUPS, all_kinds, find_kind
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.kinds.reading import read_raw
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates


class ReadPodTemplate(KubeStruct, frozen=True):
    """A template with the fields that scheduling reads."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


def find_wrong_in_templates(
    workload: Mapping[str, Any],
) -> tuple[list[ObjectError], list[ObjectError]]:
    """What is not of its type or does not fit it, and what fields do not exist."""
    wrong: list[ObjectError] = []
    unknown: list[ObjectError] = []
    for struct, written, path in _templates(workload):
        found = read_raw(written, struct, path)
        wrong += found.wrong
        unknown += found.unknown
    return wrong, unknown


def _templates(workload: Mapping[str, Any]) -> Iterator[tuple[type[KubeStruct], Any, Path]]:
    spec, path = workload.get("spec"), (ROOT, "spec")
    if not isinstance(spec, Mapping):
        return
    if spec.get("template") is not None:
        yield ReadPodTemplate, spec["template"], (path, "template")
    path = (path, "volumeClaimTemplates")
    claims = spec.get("volumeClaimTemplates")
    for index, template in enumerate(claims if isinstance(claims, list) else ()):
        yield PersistentVolumeClaim, _without_type(template or {}), (path, index)


def _without_type(template: Any) -> Any:
    """What a claim template says it is does not matter to anybody."""
    if not isinstance(template, Mapping):
        return template
    return {name: value for name, value in template.items() if name not in ("apiVersion", "kind")}


_CONFIGURATION_GROUP: Final = "kubescheduler.config.k8s.io"
_AS_CONFIGURATION: Final = "give this file with --config"
_GONE: Final = {
    ("extensions", "Ingress"): "networking.k8s.io/v1",
    ("extensions", "NetworkPolicy"): "networking.k8s.io/v1",
    ("extensions", "PodSecurityPolicy"): "",
    ("policy", "PodSecurityPolicy"): "",
}
"""Kinds that a group had once, and where they are today."""


def no_matches(api_version: str, kind: str) -> str:
    """What kubectl answers to an object of a kind that its server does not have."""
    return f"no matches for kind {go_quote(kind)} in version {go_quote(api_version)}"


def _unknown(api_version: str, kind: str, path: str, remedy: str) -> ObjectError:
    return ObjectError(path, no_matches(api_version, kind), remedy)


def unknown_kind(
    api_version: str, kind: str, read: Collection[tuple[str, str]], gates: FeatureGates
) -> ObjectError | None:
    """What is wrong with an object of a kind that no server has; None if the API group belongs to
    somebody else, whose definition may be in the cluster.

    `read` are the (apiVersion, kind) pairs that are read.
    """
    group = _group(api_version)
    if group == _CONFIGURATION_GROUP:
        raise ObjectError(
            "kind", f"{kind} is a configuration, not an object of a cluster", _AS_CONFIGURATION
        )
    is_own = is_of_kubernetes(api_version)
    if not is_own and (api_version, kind) in read:
        return None
    versions = {k: version for version, k in read if is_own or _group(version) == group}
    if is_own:
        versions = _built_in_versions() | versions
        record = find_kind(group, kind)
        if record.gate and not gates[record.gate]:
            remedy = f"it is served with --feature-gates {record.gate}=true"
            return _unknown(api_version, kind, "kind", remedy)
    if kind in versions:
        return _unknown(api_version, kind, "apiVersion", f"write it as {versions[kind]}")
    suggestion = closest(kind, sorted(versions), cutoff=0.7 if is_own else 0.85)
    if not is_own and not suggestion:
        return None
    remedy = did_you_mean(suggestion) or "check the spelling of kind and apiVersion"
    return _unknown(api_version, kind, "kind", remedy)


def old_version(api_version: str, kind: str, read: Iterable[str]) -> ObjectError | None:
    """An object that servers took once and that scheduling does not read, with what to write today;
    None for all others. `read` are the kinds that are read."""
    group = _group(api_version)
    today = _GONE.get((group, kind))
    if today is None:
        record = find_kind(group, kind)
        if record is CUSTOM or record.gate or kind in read:
            return None
        today = f"{group}/{record.version}" if group else record.version
    remedy = f"write {today}" if today else "leave it out; there is none any more"
    return _unknown(api_version, kind, "apiVersion", remedy)


def is_of_kubernetes(api_version: str) -> bool:
    """Whether the API group is Kubernetes' own: what it does not have, no definition brings."""
    group = _group(api_version)
    return group in GROUPS or "." not in group


def _built_in_versions() -> dict[str, str]:
    """The kinds that every server has, and in which version."""
    return {
        each.kind: f"{each.group}/{each.version}" if each.group else each.version
        for each in reversed(all_kinds())
        if not each.gate
    }


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


_KINDS: Final = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
"""In the order in which the simulator itself imports them."""
_CONFIGURATION: Final = "schedulerConfig"
_REQUIRED: Final = {"pods", "nodes"}


def is_export(value: JsonValue) -> bool:
    """Whether a document is an export of kube-scheduler-simulator."""
    if not isinstance(value, dict) or not value.keys() >= _REQUIRED:
        return False
    return value.keys() <= {*_KINDS, _CONFIGURATION} and all(
        value.get(name) is None or isinstance(value[name], list) for name in _KINDS
    )


def expand_export(document: SourceDocument) -> list[SourceDocument]:
    """The objects of an export as documents of their own."""
    value, found = document.value, []
    assert isinstance(value, dict)
    for name, (api_version, kind) in _KINDS.items():
        items = value.get(name)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            found.append(
                SourceDocument(
                    document.source,
                    document.index,
                    document.line,
                    with_type(item, kind, api_version),
                    join(document.item, f"{name}[{index}]"),
                    document.of,
                )
            )
    return found


def describe_configuration(document: SourceDocument) -> str:
    """What becomes of the scheduler's configuration in an export; nothing if there is none."""
    value = document.value
    if not isinstance(value, dict) or not value.get(_CONFIGURATION):
        return ""
    return (
        f"{document.source}: {_CONFIGURATION} is not used;"
        f" jq .{_CONFIGURATION} writes a file for --config"
    )

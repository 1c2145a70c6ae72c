"""What an input may hold beside the objects that scheduling reads.

Templates of pods and claims are read as what they will become. Controllers pass templates on as
they are written (`kubernetes.controllers.workloads`). What is wrong in a file's templates is
reported before pods are made of them, with the path from the top of the object.

Kinds that scheduling does not read, told apart from kinds that do not exist. A dump of a cluster is
full of ConfigMaps, Roles and custom resources; they are passed over with a note. A `Podd` is not:
somebody meant it to be placed, and a simulation without it would answer another question. So a kind
may be passed over only if Kubernetes has it, or if its API group belongs to somebody else.

Clusters as kube-scheduler-simulator exports them. Its `GET /api/v1/export` answers with one JSON
object that has a list for each kind and neither apiVersion nor kind; what the simulator found out
about pods is in their annotations (see `result_annotations`). Such a file is recognised by what is
in it and read like a list of objects.

upstream: kube-scheduler-simulator, simulator/snapshot (ResourcesForSnap).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from podium.golang.documents import Document, with_type
from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.golang.json_values import JsonValue
from podium.golang.mistakes import ROOT, Path, join
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import PodSpec
from podium.kubernetes.kinds.reading import read_raw
from podium.kubernetes.kinds.storage import PersistentVolumeClaim


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


# Groups without a domain are Kubernetes' own: what is neither read nor named here does not exist.
_UNREAD: dict[str, frozenset[str]] = {
    "": frozenset(
        {
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "PodTemplate",
            "Secret",
            "ServiceAccount",
        }
    ),
    "apps": frozenset({"ControllerRevision"}),
    "autoscaling": frozenset({"HorizontalPodAutoscaler", "Scale"}),
    "batch": frozenset({"CronJob"}),
    "policy": frozenset({"Eviction", "PodSecurityPolicy"}),
    "extensions": frozenset({"Ingress"}),
}
_CONFIGURATION_GROUP = "kubescheduler.config.k8s.io"


def refuse_mistake(api_version: str, kind: str, read: Iterable[tuple[str, str]]) -> None:
    """Raise if an object of a kind that is not read is a mistake rather than a foreign one.

    `read` are the (apiVersion, kind) pairs that are read.
    """
    group = _group(api_version)
    if group == _CONFIGURATION_GROUP:
        problem = f"{kind} is a configuration, not an object of a cluster"
        raise ObjectError("kind", problem, "give this file with --config")
    closed = group in _UNREAD
    if closed and kind in _UNREAD[group]:
        return
    versions = {k: version for version, k in read if closed or _group(version) == group}
    if kind in versions:
        problem = f"{kind} is not read in version {api_version}"
        raise ObjectError("apiVersion", problem, f"write it as {versions[kind]}")
    suggestion = closest(kind, sorted(versions), cutoff=0.7 if closed else 0.85)
    if closed or suggestion:
        remedy = did_you_mean(suggestion) or "check the spelling of kind and apiVersion"
        raise ObjectError("kind", f"Kubernetes has no kind {kind} in {api_version}", remedy)


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


def expand_export(document: Document) -> list[Document]:
    """The objects of an export as documents of their own."""
    value, found = document.value, []
    assert isinstance(value, dict)
    for name, (api_version, kind) in _KINDS.items():
        items = value.get(name)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            found.append(
                Document(
                    document.source,
                    document.index,
                    document.line,
                    with_type(item, kind, api_version),
                    join(document.item, f"{name}[{index}]"),
                    document.of,
                )
            )
    return found


def describe_configuration(document: Document) -> str:
    """What becomes of the scheduler's configuration in an export; nothing if there is none."""
    value = document.value
    if not isinstance(value, dict) or not value.get(_CONFIGURATION):
        return ""
    return (
        f"{document.source}: {_CONFIGURATION} is not used;"
        f" jq .{_CONFIGURATION} writes a file for --config"
    )

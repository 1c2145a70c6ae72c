"""Which warnings concern which kind."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.validation import network_policies
from podium.kubernetes.validation.addresses import range_of
from podium.kubernetes.validation.names import label_problems
from podium.kubernetes.warnings import node_labels
from podium.kubernetes.warnings.pods import about_claim_spec, about_pod

_Key = tuple[str, str]
_About = Callable[[JsonObject], Iterator[str]]

_TEMPLATES: Final[Mapping[_Key, tuple[str, ...]]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "Job"): ("spec", "template"),
}
_NAMES_PODS: Final = frozenset(
    {
        ("", "ReplicationController"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
    }
)
_SURPRISING: Final = "which can result in surprising behavior; a DNS label is recommended"
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_OLD_CLASS_TOLD: Final = 'deprecated since v1.8; use "storageClassName" attribute instead'
_OLD_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"
_VOLUME_PLUGINS: Final[Mapping[str, str]] = {
    "cephfs": "cephfs: deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "storageos": "storageOS: deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "rbd": "rbd: deprecated in v1.28, non-functional in v1.31+",
}
_ON_USE: Final[Mapping[_Key, list[str]]] = {
    ("", "Endpoints"): [
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    ]
}


def _about_node(node: JsonObject) -> Iterator[str]:
    if (node.get("spec") or {}).get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


def _about_volume(volume: JsonObject) -> Iterator[str]:
    annotations = volume["metadata"].get("annotations") or {}
    if _OLD_CLASS in annotations:
        yield f"metadata.annotations[{_OLD_CLASS}]: {_OLD_CLASS_TOLD}"
    if _OLD_OPTIONS in annotations:
        told = 'deprecated since v1.31; use "mountOptions" attribute instead'
        yield f"metadata.annotations[{_OLD_OPTIONS}]: {told}"
    spec: JsonObject = volume.get("spec") or {}
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
            " Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for number, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = f"spec.nodeAffinity.required.nodeSelectorTerms[{number}]"
        yield from node_labels.about_term(term, where)
    for field, told in _VOLUME_PLUGINS.items():
        if spec.get(field) is not None:
            yield f"spec.{told}"


def _about_claim(claim: JsonObject) -> Iterator[str]:
    if _OLD_CLASS in (claim["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{_OLD_CLASS}]: {_OLD_CLASS_TOLD}"
    yield from about_claim_spec(claim.get("spec") or {}, "spec")


def _about_service(service: JsonObject) -> Iterator[str]:
    spec: JsonObject = service.get("spec") or {}
    kind = spec.get("type")
    is_headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if is_headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if spec.get("externalIPs"):
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    if spec.get("externalIPs"):
        if kind == "ExternalName":
            yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
        elif not is_headless:
            yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _about_storage_class(storage_class: JsonObject) -> Iterator[str]:
    for number, topology in enumerate(storage_class.get("allowedTopologies") or ()):
        for place, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            better = node_labels.replacement_for(expression.get("key") or "")
            if better is not None:
                at = f"allowedTopologies[{number}].matchLabelExpressions[{place}].key"
                yield f"{at}: {better}"


def _about_capacity(capacity: JsonObject) -> Iterator[str]:
    return node_labels.about_selector(capacity.get("nodeTopology"), "nodeTopology")


def _about_runtime_class(runtime_class: JsonObject) -> Iterator[str]:
    for key in (runtime_class.get("scheduling") or {}).get("nodeSelector") or ():
        better = node_labels.replacement_for(key)
        if better is not None:
            yield f"scheduling.nodeSelector: {better}"


def _about_network_policy(policy: JsonObject) -> Iterator[str]:
    for at, block in network_policies.address_blocks(policy):
        yield from _about_range(block.get("cidr") or "", f"{at}.cidr")
        for index, text in enumerate(block.get("except") or ()):
            yield from _about_range(text, f"{at}.except[{index}]")


def _about_range(text: str, path: str) -> Iterator[str]:
    found = range_of(text)
    if found is not None and found.version == 6 and str(found) != text:
        yield (
            f'{path}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{found}")'
        )


_ALWAYS: Final[Mapping[_Key, _About]] = {
    ("", "Node"): _about_node,
    ("", "PersistentVolume"): _about_volume,
    ("", "PersistentVolumeClaim"): _about_claim,
    ("", "Service"): _about_service,
    ("networking.k8s.io", "NetworkPolicy"): _about_network_policy,
    ("node.k8s.io", "RuntimeClass"): _about_runtime_class,
    ("storage.k8s.io", "CSIStorageCapacity"): _about_capacity,
    ("storage.k8s.io", "StorageClass"): _about_storage_class,
}


_ADMISSION: Final = "admissionregistration.k8s.io"
_STATIC: Final = ".static.k8s.io"


def on_use(resource: Resource) -> list[str]:
    """What to tell everybody who asks for objects of a resource."""
    if resource.deprecation:
        return [resource.deprecation]
    return _ON_USE.get((resource.group, resource.kind), [])


def on_delete(resource: Resource, *, says_how: bool) -> list[str]:
    if (resource.group, resource.kind) != ("batch", "Job") or says_how:
        return []
    return [
        "child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
        " this warning"
    ]


def _about_static_name(resource: Resource, obj: JsonObject) -> Iterator[str]:
    name = obj["metadata"].get("name") or ""
    if resource.group == _ADMISSION and name.endswith(_STATIC):
        yield (
            f'metadata.name: names ending with "{_STATIC}" are reserved for static manifest-based'
            " configurations and cannot be managed via the API"
        )


def on_create(resource: Resource, obj: JsonObject) -> Iterator[str]:
    key = (resource.group, resource.kind)
    yield from _about_static_name(resource, obj)
    if key == ("", "Pod"):
        yield from _about_name(obj, "the Pod's hostname")
        yield from about_pod(obj["spec"], obj["metadata"])
        return
    if key in _NAMES_PODS:
        yield from _about_name(obj, "Pod names and hostnames")
    if key in _TEMPLATES:
        yield from _about_template(obj, _TEMPLATES[key])
    if key == ("apps", "StatefulSet"):
        yield from _about_stateful_set(obj, "")
    elif key == ("storage.k8s.io", "CSIDriver"):
        yield from _about_tokens(obj)
    elif key == ("discovery.k8s.io", "EndpointSlice") and obj.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    elif key == ("networking.k8s.io", "Ingress"):
        yield from _about_class_annotation(obj)
    if key in _ALWAYS:
        yield from _ALWAYS[key](obj)


def on_update(resource: Resource, new: JsonObject, old: JsonObject) -> Iterator[str]:
    key = (resource.group, resource.kind)
    yield from _about_static_name(resource, new)
    if key in _TEMPLATES and _counts(key, new) != _counts(key, old):
        yield from _about_template(new, _TEMPLATES[key])
    if key == ("apps", "StatefulSet"):
        yield from _about_stateful_set(new, ".Spec")
    elif key == ("storage.k8s.io", "CSIDriver") and _tokens(new) != _tokens(old):
        yield from _about_tokens(new)
    if key in _ALWAYS:
        yield from _ALWAYS[key](new)


def _about_class_annotation(ingress: JsonObject) -> Iterator[str]:
    annotations = ingress["metadata"].get("annotations") or {}
    named = (ingress.get("spec") or {}).get("ingressClassName")
    if _INGRESS_CLASS in annotations and named is None:
        yield (
            f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName'"
            " instead"
        )


_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"


def _counts(key: _Key, obj: JsonObject) -> object:
    """What changes with a template: the generation, of daemon sets that of the template alone."""
    metadata = obj["metadata"]
    if key == ("apps", "DaemonSet"):
        return (metadata.get("annotations") or {}).get(_TEMPLATE_GENERATION)
    return metadata.get("generation")


def _about_name(obj: JsonObject, use: str) -> Iterator[str]:
    problems = label_problems(obj["metadata"].get("name") or "")
    if problems:
        yield f"metadata.name: this is used in {use}, {_SURPRISING}: [{' '.join(problems)}]"


def _about_template(obj: JsonObject, path: tuple[str, ...]) -> Iterator[str]:
    template = obj
    for name in path:
        template = template.get(name) or {}
    at = ".".join(path)
    return about_pod(template.get("spec") or {}, template.get("metadata") or {}, f"{at}.")


def _about_stateful_set(stateful_set: JsonObject, suffix: str) -> Iterator[str]:
    spec: JsonObject = stateful_set.get("spec") or {}
    for number, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        at = f"spec.volumeClaimTemplates[{number}]{suffix}"
        yield from about_claim_spec(claim.get("spec") or {}, at)
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
            " a value >= 0 is recommended"
        )


def _tokens(driver: JsonObject) -> JsonValue:
    return (driver.get("spec") or {}).get("tokenRequests")


def _about_tokens(driver: JsonObject) -> Iterator[str]:
    spec: JsonObject = driver.get("spec") or {}
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to"
            " true to prevent possible logging of tokens in volume attributes"
        )

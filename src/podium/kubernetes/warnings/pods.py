"""What to tell about the pods of a new object: what will not work, or not as it seems to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted
from podium.kubernetes.rules.quantity import milli_value
from podium.kubernetes.warnings import container_ports, node_labels, volume_paths

_ANNOTATIONS: Final[Mapping[str, str]] = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_VOLUMES: Final[Mapping[str, str]] = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_SHOWN_VOLUMES: Final = {"storageos": "storageOS"}
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_USE_SECCOMP_FIELD: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NO_POD: Final = "a null labelSelector results in matching no pod"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_CHOICES: Final = frozenset({"affinity", "nodeSelector", "topologySpreadConstraints"})
_REPEATED: Final = frozenset({"hostAliases", "imagePullSecrets"})
_IN_BYTES: Final = ("memory", "ephemeral-storage")


def about_pod(spec: JsonObject, metadata: JsonObject, path: str = "") -> Iterator[str]:
    """About a pod, or the template of pods at a path such as `spec.template.`."""
    at = f"{path}spec"
    if not _CHOICES.isdisjoint(spec):
        yield from _about_node_choice(spec, at)
    annotations = metadata.get("annotations") or {}
    for key, told in _ANNOTATIONS.items() if annotations else ():
        if key in annotations:
            yield f"{path}metadata.annotations[{key}]: {told}"
    if spec.get("volumes"):
        yield from _about_volumes(spec["volumes"], f"{at}.volumes")
    if not _REPEATED.isdisjoint(spec):
        yield from _about_repetitions(spec, at)
    if spec.get("overhead"):
        yield from about_fractions(spec["overhead"], f"{at}.overhead")
    containers = list(_containers(spec, at))
    if annotations:
        yield from _about_seccomp(spec, annotations, containers, f"{path}metadata.annotations")
    for container, place in containers:
        if container.get("resources"):
            yield from _about_resources(container["resources"], f"{place}.resources")
        if container.get("env"):
            yield from _about_variables(container["env"], f"{place}.env")
    if any(container.get("ports") for container, _ in containers):
        yield from container_ports.about_ports(containers)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        told = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{at}.terminationGracePeriodSeconds: {told}"
    if spec.get("affinity"):
        yield from _about_pod_affinity(spec["affinity"], f"{at}.affinity")


def about_fractions(amounts: JsonObject | None, path: str) -> Iterator[str]:
    """About bytes that are no whole number."""
    for name in _IN_BYTES:
        amount = (amounts or {}).get(name)
        if amount is not None and milli_value(amount) % 1000:
            told = f"fractional byte value {quoted(amount)} is invalid, must be an integer"
            yield f"{path}[{name}]: {told}"


def _about_resources(resources: JsonObject, path: str) -> Iterator[str]:
    limits, requests = resources.get("limits"), resources.get("requests")
    if not limits and not requests:
        return
    for name in _IN_BYTES:
        for part, amounts in (("limits", limits), ("requests", requests)):
            if amounts and name in amounts:
                yield from about_fractions({name: amounts[name]}, f"{path}.{part}")


def _containers(spec: JsonObject, at: str) -> Iterator[tuple[JsonObject, str]]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for number, container in enumerate(spec.get(field) or ()):
            yield container, f"{at}.{field}[{number}]"


def _about_node_choice(spec: JsonObject, at: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        better = node_labels.replacement_for(key)
        if better is not None:
            yield f"{at}.nodeSelector[{key}]: {better}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    place = f"{at}.affinity.nodeAffinity"
    for number, term in enumerate(terms):
        where = f"{place}.{_REQUIRED}.nodeSelectorTerms[{number}]"
        yield from node_labels.about_term(term, where)
    for number, term in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{place}.{_PREFERRED}[{number}].preference"
        preference = term.get("preference") or {}
        yield from node_labels.about_term(preference, where, is_preference=True)
    for number, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        where = f"{at}.topologySpreadConstraints[{number}]"
        key = constraint.get("topologyKey") or ""
        better = node_labels.replacement_for(key)
        if better is not None:
            yield f"{where}.topologyKey: {key} is {better}"
        if constraint.get("labelSelector") is None:
            yield f"{where}.labelSelector: {_NO_POD}"


def _about_volumes(volumes: Sequence[JsonObject], path: str) -> Iterator[str]:
    for number, volume in enumerate(volumes):
        for field, told in _VOLUMES.items():
            if volume.get(field) is not None:
                yield f"{path}[{number}].{_SHOWN_VOLUMES.get(field, field)}: {told}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        if template:
            where = f"{path}[{number}].ephemeral.volumeClaimTemplate.spec"
            yield from about_claim_spec(template.get("spec") or {}, where)
    for volume in volumes:
        yield from volume_paths.about_files(volume)


def about_claim_spec(spec: JsonObject, path: str) -> Iterator[str]:
    """About the storage that a claim asks for."""
    resources = spec.get("resources") or {}
    for part in ("requests", "limits"):
        amount = (resources.get(part) or {}).get("storage")
        if amount is not None and milli_value(amount) % 1000:
            told = f"fractional byte value {quoted(amount)} is invalid, must be an integer"
            yield f"{path}.resources.{part}[storage]: {told}"


def _about_repetitions(spec: JsonObject, at: str) -> Iterator[str]:
    seen: set[str] = set()
    for number, alias in enumerate(spec.get("hostAliases") or ()):
        address = alias.get("ip") or ""
        if address in seen:
            yield f"{at}.hostAliases[{number}].ip: duplicate ip {quoted(address)}"
        seen.add(address)
    secrets = [each.get("name") or "" for each in spec.get("imagePullSecrets") or ()]
    seen.clear()
    for number, name in enumerate(secrets):
        if name in seen:
            yield f"{at}.imagePullSecrets[{number}].name: duplicate name {quoted(name)}"
        seen.add(name)
    for number, name in enumerate(secrets):
        if not name:
            yield f'{at}.imagePullSecrets[{number}].name: invalid empty name ""'


def _about_seccomp(
    spec: JsonObject,
    annotations: JsonObject,
    containers: list[tuple[JsonObject, str]],
    path: str,
) -> Iterator[str]:
    holders = [(_SECCOMP, spec)] + [
        (f"{_SECCOMP_OF_CONTAINER}{container.get('name') or ''}", container)
        for container, _ in containers
    ]
    for key, holder in holders:
        has_field = (holder.get("securityContext") or {}).get("seccompProfile") is not None
        if key in annotations and not has_field:
            yield f"{path}[{key}]: {_USE_SECCOMP_FIELD}"


def _about_variables(variables: Sequence[JsonObject], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for number, variable in enumerate(variables):
        name, value = variable.get("name") or "", variable.get("value") or ""
        own = f"$({name})"
        extends = variable.get("valueFrom") is None and value != own and own in value
        if name in seen and not extends:
            told = f"hides previous definition of {quoted(name)}"
            yield f"{path}[{number}]: {told}, which may be dropped when using apply"
        seen.add(name)


def _about_pod_affinity(affinity: JsonObject, path: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms: JsonObject = affinity.get(kind) or {}
        for number, term in enumerate(terms.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{kind}.{_REQUIRED}[{number}].labelSelector: {_NO_POD}"
        for number, weighted in enumerate(terms.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                where = f"{path}.{kind}.{_PREFERRED}[{number}].podAffinityTerm.labelSelector"
                yield f"{where}: {_NO_POD}"

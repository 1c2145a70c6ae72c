"""What to tell about the pods of a new object: what will not work, or not as it seems to.

Ports of a pod's containers that are defined twice, overlap or share a name. Each port is compared
with those before it that it can collide with, which are found by what they have in common:
thousands of ports that get on with each other cost no more than reading them.

Files of one volume that would overwrite each other, or whose path is another's directory. Paths are
sorted once, so that each finds the directories above it; comparing every two of them would take
minutes for the files that fit into one request.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.rules.quantity import milli_value
from podium.kubernetes.warnings import node_labels

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
        yield from about_ports(containers)
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
            told = f"fractional byte value {go_quote(amount)} is invalid, must be an integer"
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
        yield from about_files(volume)


def about_claim_spec(spec: JsonObject, path: str) -> Iterator[str]:
    """About the storage that a claim asks for."""
    resources = spec.get("resources") or {}
    for part in ("requests", "limits"):
        amount = (resources.get(part) or {}).get("storage")
        if amount is not None and milli_value(amount) % 1000:
            told = f"fractional byte value {go_quote(amount)} is invalid, must be an integer"
            yield f"{path}.resources.{part}[storage]: {told}"


def _about_repetitions(spec: JsonObject, at: str) -> Iterator[str]:
    seen: set[str] = set()
    for number, alias in enumerate(spec.get("hostAliases") or ()):
        address = alias.get("ip") or ""
        if address in seen:
            yield f"{at}.hostAliases[{number}].ip: duplicate ip {go_quote(address)}"
        seen.add(address)
    secrets = [each.get("name") or "" for each in spec.get("imagePullSecrets") or ()]
    seen.clear()
    for number, name in enumerate(secrets):
        if name in seen:
            yield f"{at}.imagePullSecrets[{number}].name: duplicate name {go_quote(name)}"
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
            told = f"hides previous definition of {go_quote(name)}"
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


_DUPLICATE: Final = "duplicate"
_OVERLAPPING: Final = "overlapping"
_AMBIGUOUS: Final = "dangerously ambiguous"


class _Port(NamedTuple):
    container_port: int
    protocol: str
    host_port: int
    host_ip: str


class _Before:
    """The ports of one number and protocol that were seen so far, each with its place."""

    def __init__(self) -> None:
        self._without_host_port: list[tuple[int, str]] = []
        self._with_host_port: list[tuple[int, str]] = []
        self._of_address: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
        self._of_all_addresses: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._of_some_address: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def collisions(self, port: _Port) -> Iterator[tuple[str, str]]:
        """Which ports a port collides with, in the order of the pod, and in which way."""
        same = self._of_address.get((port.host_port, port.host_ip), [])
        duplicates = ((number, place, _DUPLICATE) for number, place in same)
        known = {number for number, _ in same}
        overlapping = (
            (number, place, _OVERLAPPING)
            for number, place in (
                self._without_host_port
                if port.host_port
                else merge(self._without_host_port, self._with_host_port)
            )
            if number not in known
        )
        ambiguous: Iterator[tuple[int, str, str]] = iter(())
        if port.host_port:
            others = self._of_all_addresses if port.host_ip else self._of_some_address
            ambiguous = (
                (number, place, _AMBIGUOUS) for number, place in others.get(port.host_port, ())
            )
        for _, place, how in merge(duplicates, overlapping, ambiguous):
            yield how, place

    def add(self, number: int, port: _Port, place: str) -> None:
        self._of_address[port.host_port, port.host_ip].append((number, place))
        if not port.host_port:
            self._without_host_port.append((number, place))
            return
        self._with_host_port.append((number, place))
        kind = self._of_some_address if port.host_ip else self._of_all_addresses
        kind[port.host_port].append((number, place))


def about_ports(containers: list[tuple[JsonObject, str]]) -> Iterator[str]:
    """About the ports of containers, of which each comes with its path."""
    ports = [
        (port, f"{place}.ports[{number}]")
        for container, place in containers
        for number, port in enumerate(container.get("ports") or ())
    ]
    shared = Counter(map(_endpoint, (port for port, _ in ports)))
    before: dict[tuple[int, str], _Before] = defaultdict(_Before)
    for number, (written, place) in enumerate(ports):
        if written.get("hostIP") and not written.get("hostPort"):
            yield f"{place}: hostIP set without hostPort: {_go_port(written)}"
        endpoint = _endpoint(written)
        if shared[endpoint] == 1:
            continue
        port = _Port(*endpoint, written.get("hostPort") or 0, written.get("hostIP") or "")
        others = before[endpoint]
        for how, where in others.collisions(port):
            yield f"{place}: {how} port definition with {where}"
        others.add(number, port, place)
    yield from _about_names(ports)


def _endpoint(port: JsonObject) -> tuple[int, str]:
    return port.get("containerPort") or 0, port.get("protocol") or ""


def _about_names(ports: list[tuple[JsonObject, str]]) -> Iterator[str]:
    named: dict[str, str] = {}
    for port, place in ports:
        name = port.get("name")
        if name in named:
            told = f"duplicate port name {go_quote(name)} with {named[name]}"
            use = f"services and probes that select ports by name will use {named[name]}"
            yield f"{place}: {told}, {use}"
        elif name:
            named[name] = place


def _go_port(port: JsonObject) -> str:
    """A port as Go prints it with the names of its fields."""
    return (
        f"{{Name:{port.get('name') or ''} HostPort:{port.get('hostPort') or 0}"
        f" ContainerPort:{port.get('containerPort') or 0} Protocol:{port.get('protocol') or ''}"
        f" HostIP:{port.get('hostIP') or ''}}}"
    )


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        return f"{go_quote(self.path)} ({self.source})" if self.source else go_quote(self.path)


def about_files(volume: JsonObject) -> Iterator[str]:
    """About the files of a volume that is made from keys."""
    name = go_quote(volume.get("name") or "")
    for described, items in _mappings(volume):
        files = [_File(item.get("path") or "", "") for item in items]
        for overlap in _overlaps(files):
            yield f"volume {name} ({described}): overlapping paths: {overlap}"
    projected = volume.get("projected")
    if projected is None:
        return
    files = []
    for source in projected.get("sources") or ():
        if not source:
            yield f"volume {name} (Projected) has no sources provided"
        files += _files_of(source)
    for overlap in _overlaps(files):
        yield f"volume {name} (Projected): overlapping paths: {overlap}"


def _mappings(volume: JsonObject) -> Iterator[tuple[str, list[JsonObject]]]:
    config_map, secret = volume.get("configMap") or {}, volume.get("secret") or {}
    if config_map.get("items"):
        yield f"ConfigMap {go_quote(config_map.get('name') or '')}", config_map["items"]
    if secret.get("items"):
        yield f"Secret {go_quote(secret.get('secretName') or '')}", secret["items"]
    downward = volume.get("downwardAPI") or {}
    if downward.get("items"):
        yield "DownwardAPI", downward["items"]


def _files_of(source: JsonObject) -> list[_File]:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        found = source.get(field) or {}
        if found.get("items"):
            described = f"{kind} {go_quote(found.get('name') or '')}"
            return [_File(item.get("path") or "", described) for item in found["items"]]
    downward = source.get("downwardAPI") or {}
    if downward.get("items"):
        return [_File(item.get("path") or "", "DownwardAPI") for item in downward["items"]]
    if source.get("serviceAccountToken") is not None:
        return [_File(source["serviceAccountToken"].get("path") or "", "ServiceAccountToken")]
    bundle = source.get("clusterTrustBundle")
    if bundle is not None:
        name = bundle.get("name") or bundle.get("signerName") or ""
        return [_File(bundle.get("path") or "", f"ClusterTrustBundle {go_quote(name)}")]
    return []


def _overlaps(files: Iterable[_File]) -> Iterator[str]:
    """Each file with those before it that it collides with, in the order of the volume."""
    cleaned = [file._replace(path=file.path.rstrip("/")) for file in files]
    parents = _parents({file.path for file in cleaned if file.path})
    order: dict[_File, int] = {}
    at: dict[str, list[_File]] = defaultdict(list)
    below: dict[str, list[_File]] = defaultdict(list)
    for file in cleaned:
        if not file.path:
            continue
        above = list(_above(file.path, parents))
        others = [*below[file.path], *at[file.path]]
        others += [each for directory in above for each in at[directory]]
        for other in sorted(others, key=order.__getitem__):
            yield f"{file} with {other}"
        if file not in order:
            order[file] = len(order)
            at[file.path].append(file)
            for directory in above:
                below[directory].append(file)


def _parents(paths: set[str]) -> dict[str, str]:
    """The longest of the paths that is a directory on the way to a path, where there is one."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for path in sorted(f"{path}/" for path in paths):
        while above and not path.startswith(above[-1]):
            above.pop()
        if above:
            parents[path[:-1]] = above[-1][:-1]
        above.append(path)
    return parents


def _above(path: str, parents: dict[str, str]) -> Iterator[str]:
    while path in parents:
        path = parents[path]
        yield path

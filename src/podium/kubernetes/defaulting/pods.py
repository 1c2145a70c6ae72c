"""Defaults of pods and of the pod templates inside workloads.

`set_pod_spec_defaults` holds for every pod spec; `set_pod_defaults` adds what only real pods get:
requests from limits, pod-level requests, service links, host ports under host networking.

Defaults inside containers: where last words go, how probes probe, what ports speak. The same
function serves containers, init containers and ephemeral containers, of pods and of the templates
in workloads. It runs once per container of every pod that is created, so it looks into nested parts
only if they are there.

When an image is pulled, if nobody says so: it depends on the tag. An image without tag and digest
means `latest`, and `latest` may move, so it is always pulled; every other one is pulled if it is
not there. The grammar is that of image references (`name[:tag][@digest]`); a text outside of it
counts as an image with some fixed tag.

Defaults of volumes: file modes, in-tree drivers, claims made from templates. A volume of a pod and
the source of a PersistentVolume share most of their kinds of source, so `set_source_defaults`
serves both.
"""

import re
from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.pod_level_resources import set_pod_level_defaults
from podium.kubernetes.rules.quantity_spelling import rounded_to_milli

_STATUS_LISTS = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


def set_pod_defaults(pod: JsonObject) -> None:
    spec = pod.get("spec")
    if spec is None:
        spec = pod["spec"] = {}
    for container in spec.get("containers") or ():
        _request_what_is_limited(container)
    for container in spec.get("initContainers") or ():
        _request_what_is_limited(container)
    if spec.get("resources"):
        set_pod_level_defaults(spec)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        _expose_on_host(spec)
    set_pod_spec_defaults(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        # upstream: in pods, though not in templates, a negative period means the shortest one.
        spec["terminationGracePeriodSeconds"] = 1
    status = pod.get("status")
    if status is None:
        pod["status"] = {}
    elif status:
        _set_status(status)


def set_pod_spec_defaults(spec: JsonObject) -> None:
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        # The older of the two names of the account's field follows the newer one.
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        set_volume_defaults(volume)
    for container in spec.get("initContainers") or ():
        set_container_defaults(container)
    for container in spec.get("containers") or ():
        set_container_defaults(container)
    for container in spec.get("ephemeralContainers") or ():
        set_container_defaults(container)
    if spec.get("overhead"):
        round_amounts(spec["overhead"])
    if spec.get("resources"):
        round_resources(spec["resources"])


def set_template_defaults(template: JsonObject) -> None:
    """Defaults of a pod template; `metadata` and `spec` are always written."""
    if template.get("metadata") is None:
        template["metadata"] = {}
    if template.get("spec") is None:
        template["spec"] = {}
    set_pod_spec_defaults(template["spec"])


def _request_what_is_limited(container: JsonObject) -> None:
    resources: JsonObject = container.get("resources") or {}
    limits = resources.get("limits")
    if limits:
        requests = resources["requests"] = dict(resources.get("requests") or {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _expose_on_host(spec: JsonObject) -> None:
    for containers in ("containers", "initContainers"):
        for container in spec.get(containers) or ():
            for port in container.get("ports") or ():
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]


def _set_status(status: JsonObject) -> None:
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip") or ""
    for name in _STATUS_LISTS:
        for container in status.get(name) or ():
            if container.get("allocatedResources"):
                round_amounts(container["allocatedResources"])
            if container.get("resources"):
                round_resources(container["resources"])
    if status.get("allocatedResources"):
        round_amounts(status["allocatedResources"])
    if status.get("resources"):
        round_resources(status["resources"])


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("postStart", "preStop")


def set_container_defaults(container: JsonObject) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    resources = container.get("resources")
    if resources:
        round_resources(resources)
    elif resources is None:
        container["resources"] = {}
    for port in container.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for variable in container.get("env") or ():
        if variable.get("valueFrom"):
            _set_variable_source(variable["valueFrom"])
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            _set_probe(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        for name in _HANDLERS:
            handler = lifecycle.get(name)
            if handler and handler.get("httpGet") is not None:
                _set_http_get(handler["httpGet"])


def round_resources(resources: JsonObject) -> None:
    """Both lists of resource requirements in canonical form."""
    for name in ("limits", "requests"):
        amounts = resources.get(name)
        if amounts:
            round_amounts(amounts)


def round_amounts(amounts: JsonObject) -> None:
    """Resource lists are kept in thousandths at the finest."""
    for name, amount in amounts.items():
        amounts[name] = rounded_to_milli(amount)


def set_field_reference(reference: JsonObject) -> None:
    if not reference.get("apiVersion"):
        reference["apiVersion"] = "v1"


def _set_variable_source(source: JsonObject) -> None:
    if source.get("fieldRef") is not None:
        set_field_reference(source["fieldRef"])
    file_key = source.get("fileKeyRef")
    if file_key is not None and file_key.get("optional") is None:
        file_key["optional"] = False


def _set_probe(probe: JsonObject) -> None:
    if not probe.get("timeoutSeconds"):
        probe["timeoutSeconds"] = 1
    if not probe.get("periodSeconds"):
        probe["periodSeconds"] = 10
    if not probe.get("successThreshold"):
        probe["successThreshold"] = 1
    if not probe.get("failureThreshold"):
        probe["failureThreshold"] = 3
    if probe.get("httpGet") is not None:
        _set_http_get(probe["httpGet"])
    grpc = probe.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _set_http_get(action: JsonObject) -> None:
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"


# A hostile text has a million parts. Where a group is repeated, remembering how to give one back
# takes 200 bytes a part, and possessive groups go wrong before Python 3.11.5: so characters are
# repeated, and what may not be beside each other is refused beforehand.
_WRONG_SEPARATOR: Final = r"(?<![._/-])(?!(?:[./]|__?|-+)[a-z0-9])[._/-]"
_PATH: Final = re.compile(rf"(?!.*{_WRONG_SEPARATOR})[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?")
_DOMAIN: Final = re.compile(
    r"(?!.*(?:\.[.-]|-\.))"
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
)
_TAG: Final = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST: Final = re.compile(r"(?!.*[+._-](?![A-Za-z]))[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,}")


@cache_short_texts(4096)
def pull_policy(image: str) -> str:
    """The pull policy of a container that names none."""
    tagged, at, digest = image.partition("@")
    name, colon, tag = tagged.rpartition(":")
    if not colon or "/" in tag:  # it is that of a port, or of an address
        name, colon, tag = tagged, "", ""
    if (at and not _DIGEST.fullmatch(digest)) or (colon and not _TAG.fullmatch(tag)):
        return "IfNotPresent"
    if not _is_name(name):
        return "IfNotPresent"
    return "Always" if tag == "latest" or not (colon or at) else "IfNotPresent"


def _is_name(text: str) -> bool:
    domain, slash, path = text.partition("/")
    return bool(
        _PATH.fullmatch(text) or (slash and _DOMAIN.fullmatch(domain) and _PATH.fullmatch(path))
    )


_FILE_MODE: Final = 0o644
_TOKEN_LIFE_S: Final = 3600

_SOURCE_DEFAULTS: Final[Mapping[str, Mapping[str, JsonValue]]] = {
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def set_volume_defaults(volume: JsonObject) -> None:
    """A volume that names no source is an empty directory."""
    if all(value is None or name == "name" for name, value in volume.items()):
        volume["emptyDir"] = {}
        return
    for name in ("secret", "configMap"):
        source = volume.get(name)
        if source is not None:
            _set_mode(source)
    downward = volume.get("downwardAPI")
    if downward is not None:
        _set_mode(downward)
        _set_items(downward)
    if volume.get("projected") is not None:
        _set_projected(volume["projected"])
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference") or "")
    ephemeral = volume.get("ephemeral")
    if ephemeral is not None and ephemeral.get("volumeClaimTemplate") is not None:
        template = ephemeral["volumeClaimTemplate"]
        if template.get("metadata") is None:
            template["metadata"] = {}
        if template.get("spec") is None:
            template["spec"] = {}
        set_claim_spec_defaults(template["spec"])
    set_source_defaults(volume)


def set_source_defaults(sources: JsonObject) -> None:
    """Defaults of the kinds of source that pods' volumes and persistent volumes share."""
    host_path = sources.get("hostPath")
    if host_path is not None and host_path.get("type") is None:
        host_path["type"] = ""
    for name, defaults in _SOURCE_DEFAULTS.items():
        source = sources.get(name)
        if source is not None:
            for field, value in defaults.items():
                # `readOnly` is the one field that may be written as false on purpose.
                if source.get(field) in (None, ""):
                    source[field] = value


def set_claim_spec_defaults(spec: JsonObject) -> None:
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    if spec.get("resources") is None:
        spec["resources"] = {}
    round_resources(spec["resources"])


def _set_mode(source: JsonObject) -> None:
    if source.get("defaultMode") is None:
        source["defaultMode"] = _FILE_MODE


def _set_items(source: JsonObject) -> None:
    for item in source.get("items") or ():
        if item.get("fieldRef") is not None:
            set_field_reference(item["fieldRef"])


def _set_projected(projected: JsonObject) -> None:
    _set_mode(projected)
    for source in projected.get("sources") or ():
        if source.get("downwardAPI") is not None:
            _set_items(source["downwardAPI"])
        token = source.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = _TOKEN_LIFE_S

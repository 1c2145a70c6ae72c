"""Defaults of pods and of the pod templates inside workloads.

`set_pod_spec_defaults` holds for every pod spec; `set_pod_defaults` adds what only real pods get:
requests from limits, pod-level requests, service links, host ports under host networking.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting.containers import (
    round_amounts,
    round_resources,
    set_container_defaults,
)
from podium.kubernetes.defaulting.volumes import set_volume_defaults
from podium.kubernetes.rules.pod_level_resources import set_pod_level_defaults

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

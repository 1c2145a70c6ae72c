"""Defaults inside containers: where last words go, how probes probe, what ports speak.

The same function serves containers, init containers and ephemeral containers, of pods and of the
templates in workloads. It runs once per container of every pod that is created, so it looks into
nested parts only if they are there.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting.images import pull_policy
from podium.kubernetes.rules.quantity_spelling import rounded_to_milli

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

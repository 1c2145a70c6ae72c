"""Defaults of network policies and ingress classes."""

from podium.golang.json_values import JsonObject


def set_network_policy_defaults(policy: JsonObject) -> None:
    spec = policy.get("spec")
    if spec is None:
        spec = policy["spec"] = {}
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            if port.get("protocol") is None:
                port["protocol"] = "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def set_ingress_class_defaults(ingress_class: JsonObject) -> None:
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"

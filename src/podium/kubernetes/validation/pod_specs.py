"""The spec of a pod, in pods and in the templates of workloads.

`check_pod_spec` follows upstream's order, since several errors of one object are told in it. What
only real pods must keep to is in `pods`.

Pod templates inside workloads, and the selectors that must match them.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import LabelSelector, LabelSelectorRequirement
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.rules.labels import Selector, SelectorError, selector_of
from podium.kubernetes.rules.pod_level_resources import effective_amounts
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.validation.addresses import check_address
from podium.kubernetes.validation.containers import (
    Surroundings,
    check_containers,
    check_ephemeral_containers,
    check_init_containers,
)
from podium.kubernetes.validation.go_forms import go_form, go_map
from podium.kubernetes.validation.names import (
    in_range,
    label_problems,
    search_domain_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_annotations,
    check_each,
    check_label_key,
    check_labels,
)
from podium.kubernetes.validation.placement import (
    check_affinity,
    check_gates,
    check_spread,
    check_tolerations,
)
from podium.kubernetes.validation.resource_amounts import (
    ClaimNames,
    check_container_resources,
    check_pod_level_resources,
    is_huge_pages,
)
from podium.kubernetes.validation.security import check_host_users, check_pod_security
from podium.kubernetes.validation.volumes import check_volumes

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_SYSTEMS: Final = ("linux", "windows")
_MAX_INT32: Final = 2**31 - 1
_NO_CONTAINERS: Final[list[JsonObject]] = []
_MAX_NAMESERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCH_LIST: Final = 2048


def check_pod_spec(errors: Errors, spec: JsonObject, path: str, *, pod_name: str = "") -> None:
    """`pod_name`: the name of the pod, empty for templates."""
    volumes = spec.get("volumes")
    usable = check_volumes(errors, volumes, pod_name, f"{path}.volumes") if volumes else {}
    claims = spec.get("resourceClaims")
    claim_names = ClaimNames()
    if claims:
        claim_names = ClaimNames(claim["name"] for claim in claims if claim.get("name"))
        _check_claims(errors, claims, f"{path}.resourceClaims")
    restart_policy = spec.get("restartPolicy") or ""
    around = Surroundings(
        usable,
        claim_names,
        spec.get("terminationGracePeriodSeconds"),
        restart_policy,
        spec.get("hostUsers") is not False,
    )
    containers = spec.get("containers") or _NO_CONTAINERS
    first = spec.get("initContainers") or _NO_CONTAINERS
    check_containers(errors, containers, around, f"{path}.containers")
    if first:
        check_init_containers(errors, first, containers, around, f"{path}.initContainers")
    added = spec.get("ephemeralContainers")
    if added:
        at = f"{path}.ephemeralContainers"
        check_ephemeral_containers(errors, added, [*containers, *first], around, at)
    if spec.get("resources"):
        _check_pod_level(errors, spec, f"{path}.resources")
    if spec.get("hostNetwork"):
        _check_host_ports(errors, containers, f"{path}.containers", is_pod=bool(pod_name))
    _check_choice(errors, restart_policy, _RESTART_POLICIES, f"{path}.restartPolicy")
    _check_choice(errors, spec.get("dnsPolicy") or "", _DNS_POLICIES, f"{path}.dnsPolicy")
    if spec.get("nodeSelector"):
        check_labels(errors, spec["nodeSelector"], f"{path}.nodeSelector")
    if spec.get("securityContext") or spec.get("shareProcessNamespace"):
        check_pod_security(errors, spec, path)
    if spec.get("affinity"):
        check_affinity(errors, spec["affinity"], f"{path}.affinity")
    if spec.get("dnsConfig") is not None or spec.get("dnsPolicy") == "None":
        _check_dns(errors, spec, f"{path}.dnsConfig")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        at = f"{path}.readinessGates[{index}].conditionType"
        check_label_key(errors, gate.get("conditionType") or "", at)
    if spec.get("schedulingGates"):
        check_gates(errors, spec["schedulingGates"], f"{path}.schedulingGates")
    if spec.get("topologySpreadConstraints"):
        constraints = spec["topologySpreadConstraints"]
        check_spread(errors, constraints, f"{path}.topologySpreadConstraints")
    check_host_users(errors, spec, path)
    _check_host_name(errors, spec, path)
    _check_names(errors, spec, path)
    _check_rest(errors, spec, path)


def _check_choice(errors: Errors, found: str, choices: tuple[str, ...], path: str) -> None:
    if found not in choices:
        errors.append(not_supported(path, found, choices) if found else required(path))


def _check_names(errors: Errors, spec: JsonObject, path: str) -> None:
    for field in ("serviceAccountName", "nodeName"):
        name = spec.get(field)
        if name:
            check_each(errors, subdomain_problems(name), name, f"{path}.{field}")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_INT32:
        at = f"{path}.activeDeadlineSeconds"
        errors.append(invalid(at, deadline, in_range(1, _MAX_INT32)))
    for field in ("hostname", "subdomain"):
        name = spec.get(field)
        if name:
            check_each(errors, label_problems(name), name, f"{path}.{field}")


def _check_rest(errors: Errors, spec: JsonObject, path: str) -> None:
    if spec.get("tolerations"):
        check_tolerations(errors, spec["tolerations"], f"{path}.tolerations")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        at = f"{path}.hostAliases[{index}]"
        check_address(errors, alias.get("ip") or "", f"{at}.ip")
        for number, name in enumerate(alias.get("hostnames") or ()):
            check_each(errors, subdomain_problems(name), name, f"{at}.hostnames[{number}]")
    name = spec.get("priorityClassName")
    if name:
        check_each(errors, subdomain_problems(name), name, f"{path}.priorityClassName")
    name = spec.get("runtimeClassName")
    if name is not None:
        check_each(errors, subdomain_problems(name), name, f"{path}.runtimeClassName")
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        _check_choice(errors, policy, PREEMPTION_POLICIES, f"{path}.preemptionPolicy")
    if spec.get("overhead"):
        overhead = {"limits": spec["overhead"]}
        check_container_resources(errors, overhead, ClaimNames(), f"{path}.overhead")
    system = spec.get("os")
    if system is not None:
        name = system.get("name") or ""
        if not name:
            errors.append(required(f"{path}.os.name"))
        elif name not in _SYSTEMS:
            errors.append(not_supported(f"{path}.os", name, _SYSTEMS))
    group = spec.get("schedulingGroup")
    if group is not None:
        _check_group(errors, group, f"{path}.schedulingGroup")
    _check_file_keys(errors, spec, path)


def _check_group(errors: Errors, group: JsonObject, path: str) -> None:
    name = group.get("podGroupName")
    if name is None:
        detail = "must specify one of: `podGroupName`"
        errors.append(invalid(f"{path}.podGroupName", None, detail))
    else:
        check_each(errors, subdomain_problems(name), name, f"{path}.podGroupName")


def _check_claims(errors: Errors, claims: list[JsonObject], path: str) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        at, name = f"{path}[{index}]", claim.get("name") or ""
        if not name:
            errors.append(required(f"{at}.name"))
        elif name in seen:
            errors.append(duplicate(f"{at}.name", name))
        else:
            check_each(errors, label_problems(name), name, f"{at}.name")
            seen.add(name)
        direct, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        if direct is not None and template is not None:
            detail = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            )
            errors.append(invalid(at, go_form("core", "PodResourceClaim", claim), detail))
        if direct is None and template is None:
            detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.append(invalid(at, go_form("core", "PodResourceClaim", claim), detail))
        for field in ("resourceClaimName", "resourceClaimTemplateName"):
            if claim.get(field) is not None:
                named = claim[field]
                check_each(errors, subdomain_problems(named), named, f"{at}.{field}")


def _check_pod_level(errors: Errors, spec: JsonObject, path: str) -> None:
    resources = spec["resources"]
    if (spec.get("os") or {}).get("name") == "windows":
        errors.append(forbidden(path, "may not be set for a windows pod"))
        return
    check_pod_level_resources(errors, resources, path)
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, amount in sorted(effective_amounts(spec, "requests").items()):
        own = requests.get(name)
        if own is not None and nano(amount) > nano(own):
            detail = f"must be greater than or equal to aggregate container requests of {amount}"
            errors.append(invalid(f"{path}.requests[{name}]", own, detail))
    for name, amount in sorted(effective_amounts(spec, "limits").items()):
        own = limits.get(name)
        if is_huge_pages(name) and own is not None and nano(amount) > nano(own):
            detail = f"must be greater than or equal to aggregate container limits of {amount}"
            errors.append(invalid(f"{path}.limits[{name}]", own, detail))
    for index, container in enumerate(spec.get("containers") or ()):
        own_limits = (container.get("resources") or {}).get("limits") or {}
        for name, amount in sorted(own_limits.items()):
            whole = limits.get(name)
            if whole is not None and nano(amount) > nano(whole):
                detail = f"must be less than or equal to pod limits of {whole}"
                # upstream: the path of this one really is in this order.
                at = f"{path}.containers[{index}][{name}].limits"
                errors.append(invalid(at, amount, detail))


def _check_host_ports(
    errors: Errors, containers: list[JsonObject], path: str, *, is_pod: bool
) -> None:
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            on_host, inside = port.get("hostPort") or 0, port.get("containerPort") or 0
            if (is_pod or on_host) and on_host != inside:
                detail = "must match `containerPort` when `hostNetwork` is true"
                at = f"{path}[{index}].ports[{number}].hostPort"
                errors.append(invalid(at, on_host, detail))


def _check_dns(errors: Errors, spec: JsonObject, path: str) -> None:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            detail = "must provide `dnsConfig` when `dnsPolicy` is None"
            errors.append(required(path, detail))
            return
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.append(required(f"{path}.nameservers", detail))
            return
    config = config or {}
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MAX_NAMESERVERS:
        detail = f"must not have more than {_MAX_NAMESERVERS} nameservers"
        errors.append(invalid(f"{path}.nameservers", servers, detail))
    for index, server in enumerate(servers):
        check_address(errors, server, f"{path}.nameservers[{index}]")
    if len(searches) > _MAX_SEARCHES:
        detail = f"must not have more than {_MAX_SEARCHES} search paths"
        errors.append(invalid(f"{path}.searches", searches, detail))
    if len(" ".join(searches)) > _MAX_SEARCH_LIST:
        detail = (
            f"must not have more than {_MAX_SEARCH_LIST} characters (including spaces) "
            "in the search list"
        )
        errors.append(invalid(f"{path}.searches", searches, detail))
    for index, search in enumerate(searches):
        if search != ".":
            trimmed = search.removesuffix(".")
            at = f"{path}.searches[{index}]"
            check_each(errors, search_domain_problems(trimmed), trimmed, at)
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{index}]", "must not be empty"))


def _check_host_name(errors: Errors, spec: JsonObject, path: str) -> None:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    at = f"{path}.hostnameOverride"
    if spec.get("setHostnameAsFQDN"):
        errors.append(forbidden(at, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(forbidden(at, "may not be specified when hostNetwork is true"))
    if len(name) > 64:
        errors.append(too_long(at, 64))
    check_each(errors, subdomain_problems(name), name, at)


def _check_file_keys(errors: Errors, spec: JsonObject, path: str) -> None:
    """Variables read from files: the file must lie in an empty directory of the pod."""
    volumes = {volume.get("name"): volume for volume in spec.get("volumes") or ()}
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for number, variable in enumerate(container.get("env") or ()):
                reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
                if reference is None:
                    continue
                name = reference.get("volumeName") or ""
                at = f"{path}.{kind}[{index}].env[{number}].valueFrom.fileKeyRef.volumeName"
                if name not in volumes:
                    errors.append(not_found(at, name))
                elif volumes[name].get("emptyDir") is None:
                    detail = "referenced volume must be of type emptyDir"
                    errors.append(invalid(at, name, detail))


SELECTOR_MISMATCH: Final = "`selector` does not match template `labels`"


def check_template(errors: Errors, template: JsonObject, path: str) -> None:
    metadata: JsonObject = template.get("metadata") or {}
    if metadata.get("labels"):
        check_labels(errors, metadata["labels"], f"{path}.labels")
    if metadata.get("annotations"):
        check_annotations(errors, metadata["annotations"], f"{path}.annotations")
    spec: JsonObject = template.get("spec") or {}
    check_pod_spec(errors, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", detail))


def check_runs_forever(errors: Errors, template: JsonObject, kind: str, path: str) -> None:
    """The pods of a workload that keeps pods running are restarted, and have no deadline."""
    spec: JsonObject = template.get("spec") or {}
    policy = spec.get("restartPolicy") or ""
    if policy != "Always":
        errors.append(not_supported(f"{path}.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{path}.spec.activeDeadlineSeconds", detail))


def compile_selector(selector: JsonObject | None) -> Selector | None:
    """None: the selector cannot be parsed, which has been told already."""
    if selector is None:
        return selector_of(None)
    expressions = [
        LabelSelectorRequirement(
            key=expression.get("key") or "",
            operator=expression.get("operator") or "",
            values=tuple(expression.get("values") or ()),
        )
        for expression in selector.get("matchExpressions") or ()
    ]
    labels = dict(selector.get("matchLabels") or {})
    try:
        return selector_of(LabelSelector(match_labels=labels, match_expressions=tuple(expressions)))
    except SelectorError:
        return None


def check_matches(errors: Errors, selector: Selector, template: JsonObject, path: str) -> None:
    labels = (template.get("metadata") or {}).get("labels")
    if not selector.matches(labels or {}):
        errors.append(invalid(f"{path}.metadata.labels", go_map(labels), SELECTOR_MISMATCH))

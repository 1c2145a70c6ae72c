"""Kinds that scheduling does not read, told apart from kinds that do not exist.

A dump of a cluster is full of ConfigMaps, Roles and custom resources; they are passed over with a
note. A `Podd` is not: somebody meant it to be placed, and a simulation without it would answer
another question. So a kind may be passed over only if Kubernetes has it, or if its API group
belongs to somebody else.
"""

from collections.abc import Iterable

from podium.golang.errors import ObjectError, closest, did_you_mean

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

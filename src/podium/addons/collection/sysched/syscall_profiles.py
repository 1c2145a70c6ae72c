"""SeccompProfile, the custom resource of the security-profiles-operator, and what pods may call.

A pod names profiles in its security contexts and annotations, by the path that the operator
installs them under: the last two parts are namespace and name. One that names none that exists has
the default profile.
"""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import field

from podium.addons.collection.custom_kinds import TEXT, definition, list_schema, object_schema
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import SeccompProfile
from podium.plugin import KubeObject, Pod
from podium.scheduler.framework.events import WatchedKind

ANNOTATION: Final = "seccomp.security.alpha.kubernetes.io"

_ALLOWING: Final = ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG")

Reference = tuple[str, str]
"""(namespace, name) of a profile."""


class SyscallRule(KubeStruct, frozen=True):
    UNREAD = frozenset({"args", "errnoRet"})

    action: str = ""
    names: tuple[str, ...] | None = None


class SyscallProfileSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "architectures",
            "baseProfileName",
            "defaultAction",
            "disabled",
            "flags",
            "listenerMetadata",
            "listenerPath",
        }
    )

    syscalls: tuple[SyscallRule, ...] | None = None


class SyscallProfile(KubeObject, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["security-profiles-operator.x-k8s.io/v1beta1"] = (
        "security-profiles-operator.x-k8s.io/v1beta1"
    )
    kind: Literal["SeccompProfile"] = "SeccompProfile"
    spec: SyscallProfileSpec = field(default_factory=SyscallProfileSpec)


def allowed_syscalls(profile: SyscallProfile) -> frozenset[str]:
    rules = (rule for rule in profile.spec.syscalls or () if rule.action in _ALLOWING)
    return frozenset(name for rule in rules for name in rule.names or ())


def references_of(pod: Pod) -> tuple[Reference, ...]:
    """The profiles that a pod names, as far as their paths can be read."""
    found = (_parse(path) for path in _paths(pod))
    return tuple(reference for reference in found if reference is not None)


def _paths(pod: Pod) -> Iterator[str]:
    contexts = (pod.spec.security_context, *(c.security_context for c in pod.spec.containers or ()))
    for context in contexts:
        if context is not None:
            yield from _local(context.seccomp_profile)
    annotations = pod.metadata.annotations or {}
    # upstream: any one of several annotations counts; here the first by name
    key = min((key for key in annotations if ANNOTATION in key), default=None)
    if key is not None:
        yield annotations[key]


def _local(profile: SeccompProfile | None) -> Iterator[str]:
    if profile is not None and profile.type == "Localhost":
        yield profile.localhost_profile


def _parse(path: str) -> Reference | None:
    *_, namespace, file = ("", "", *path.split("/"))
    name = file.rpartition(".")[0] or file
    return (namespace, name) if namespace and name else None


def _definition() -> JsonObject:
    rule = object_schema(action=TEXT, names=list_schema(TEXT))
    return definition(
        SyscallProfile,
        "seccompprofiles",
        short_names=("sp",),
        properties={"spec": object_schema(defaultAction=TEXT, syscalls=list_schema(rule))},
    )


PROFILES: Final = WatchedKind(
    SyscallProfile, "seccompprofiles", definition=_definition, optional=True
)

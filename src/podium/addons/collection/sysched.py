"""SySched: the score, the system calls of each node's pods, and the profiles they come from.

The fewer system calls pods on a node can reach beyond those they need themselves, the better. With
a pod P beside residents R that may call H together, that is |H - P| for the pod and |(H + P) - R|
for each resident; since every R is part of H, the residents' part is their number times |H + P|
less the sizes of all R (`pkg/sysched` of the collection).

Example: two residents may call {a, b} and {a}, a pod {b, c}. Then H is {a, b}: 1 for the pod, and
2 x 3 - 3 for the residents, together 4.

What the pods of each node may call together, as columns. Sets of system calls are whole numbers,
one bit a call. For a node three things are kept: the set of its pods together, the number of its
pods, and the sizes of their sets added up. That is enough for the score.

SeccompProfile, the custom resource of the security-profiles-operator, and what pods may call. A pod
names profiles in its security contexts and annotations, by the path that the operator installs them
under: the last two parts are namespace and name. One that names none that exists has the default
profile.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Final, Literal

import msgspec
import numpy as np
from msgspec import field

from podium.addons.collection.custom_kinds import TEXT, definition, list_schema, object_schema
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import SeccompProfile
from podium.plugin import (
    Arguments,
    Cycle,
    Handle,
    Interner,
    Ints,
    KubeObject,
    Pod,
    PreScorePlugin,
    Registration,
    Rows,
    ScorePlugin,
    Usage,
    WatchedKind,
    default_normalize,
    indices,
)

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


class SySched(PreScorePlugin, ScorePlugin):
    name = "SySched"
    builds_on = MappingProxyType({"score": "preScore"})
    watched_kinds = (PROFILES,)
    in_range = True

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        default_profile_namespace: str = "default"
        default_profile_name: str = "all-syscalls"

    args: Args

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        default = (args.default_profile_namespace, args.default_profile_name)
        self._hosts = HostSyscalls(handle, default)

    def events(self) -> Sequence[Registration]:
        return ()

    def pre_score(self, cycle: Cycle, rows: Rows) -> None:  # noqa: ARG002
        self._hosts.follow()
        cycle.write(self.name, self._hosts.syscalls_of(cycle.pod.pod))

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        calls = cycle.read(self.name, int)
        host, count, size = self._columns(cycle, rows)
        if not calls:
            return np.zeros(len(host), dtype=np.int64)
        sets = self._hosts.hosts
        beyond = np.array([(sets[n] & ~calls).bit_count() for n in range(len(sets))])[host]
        return np.where(count > 0, beyond + count * (calls.bit_count() + beyond) - size, 0)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return default_normalize(scores, reverse=True)

    def _columns(self, cycle: Cycle, rows: Rows) -> tuple[Ints, Ints, Ints]:
        hosts = self._hosts
        if cycle.usage is self.handle.cluster.usage:
            return hosts.host[rows], hosts.count[rows], hosts.size[rows]
        found = [hosts.sum_up(cycle.usage, int(row)) for row in indices(rows)]
        table = np.array(found, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]


class HostSyscalls:
    """`default` is the profile of pods that name none that exists."""

    def __init__(self, handle: Handle, default: Reference) -> None:
        self._handle = handle
        self._default = default
        self._bits: Interner[str] = Interner()
        self._sets: dict[Reference, int] = {}
        self._profiles_version = -1
        self._generation = -1
        self.hosts: Interner[int] = Interner(0)
        """The sets of nodes, each once."""
        self.host: Ints = np.zeros(0, dtype=np.int64)
        self.count: Ints = np.zeros(0, dtype=np.int64)
        self.size: Ints = np.zeros(0, dtype=np.int64)

    def follow(self) -> None:
        """Catch up with profiles and with pods on nodes."""
        cluster = self._handle.cluster
        version = cluster.catalog.version(SyscallProfile)
        changed = cluster.usage.log.since(self._generation)
        if version != self._profiles_version or len(self.host) < cluster.nodes.size:
            self._profiles_version = version
            self._sets.clear()
            changed = None
        if changed is None:
            self.hosts = Interner(0)
            self.host, self.count, self.size = (
                np.zeros(cluster.nodes.size, dtype=np.int64) for _ in range(3)
            )
            changed = list(range(cluster.nodes.size))
        for row in set(changed):
            self.host[row], self.count[row], self.size[row] = self.sum_up(cluster.usage, row)
        self._generation = cluster.usage.log.generation

    def sum_up(self, usage: Usage, row: int) -> tuple[int, int, int]:
        """(number of the host's set, number of pods, their sets' sizes added up) for a row."""
        host = total = 0
        pods = usage.pods(row)
        for pod in pods:
            calls = self.syscalls_of(pod.pod)
            host |= calls
            total += calls.bit_count()
        return self.hosts.id(host), len(pods), total

    def syscalls_of(self, pod: Pod) -> int:
        return self._union(references_of(pod)) or self._union((self._default,))

    def _union(self, references: Iterable[Reference]) -> int:
        calls = 0
        for reference in references:
            if reference not in self._sets:
                self._sets[reference] = self._read(reference)
            calls |= self._sets[reference]
        return calls

    def _read(self, reference: Reference) -> int:
        namespace, name = reference
        profile = self._handle.get(SyscallProfile, name, namespace)
        names = allowed_syscalls(profile) if profile is not None else ()
        return sum(1 << self._bits.id(call) for call in names)

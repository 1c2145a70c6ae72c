"""What the pods of each node may call together, as columns.

Sets of system calls are whole numbers, one bit a call. For a node three things are kept: the set of
its pods together, the number of its pods, and the sizes of their sets added up. That is enough for
the score (`plugin.py`).
"""

from collections.abc import Iterable

import numpy as np

from podium.addons.collection.sysched.syscall_profiles import (
    Reference,
    SyscallProfile,
    allowed_syscalls,
    references_of,
)
from podium.plugin import Handle, Pod
from podium.scheduler.cluster.growth import Interner, Ints
from podium.scheduler.cluster.usage import Usage


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

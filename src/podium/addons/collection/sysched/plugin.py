"""SySched: the score.

The fewer system calls pods on a node can reach beyond those they need themselves, the better. With
a pod P beside residents R that may call H together, that is |H - P| for the pod and |(H + P) - R|
for each resident; since every R is part of H, the residents' part is their number times |H + P|
less the sizes of all R (`pkg/sysched` of the collection).

Example: two residents may call {a, b} and {a}, a pod {b, c}. Then H is {a, b}: 1 for the pod, and
2 x 3 - 3 for the residents, together 4.
"""

from collections.abc import Sequence
from types import MappingProxyType

import msgspec
import numpy as np

from podium.addons.collection.sysched.host_syscalls import HostSyscalls
from podium.addons.collection.sysched.syscall_profiles import PROFILES
from podium.plugin import Cycle, Handle, Ints, PreScorePlugin, Registration, Rows, ScorePlugin
from podium.scheduler.cluster.growth import indices
from podium.scheduler.framework.points import Arguments
from podium.scheduler.framework.scoring import default_normalize


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

"""A cluster in virtual time with more gangs than fit, and with everything that goes wrong.

Members come one by one in any order, bindings fail, members are deleted or fail and come back
under another name, nodes go and return, and a gang that has had all its members on nodes for its
time is through. After each step the rules of gangs are looked at:

- a member is let go to its node only while as many members as the gang asks for have one;
- nobody waits for its gang longer than the gang's time;
- nobody has more than one node, and no node holds more than it has.
"""

import heapq
from collections.abc import Callable
from functools import partial
from random import Random

from support.addons.collection.gang_cluster import GangCluster, group, member, node

from podium.plugin import error

WAIT_S = 60.0
_MAX_S = 6 * 3600.0


class World:
    def __init__(
        self, seed: int, *, gangs: int = 50, size: int = 8, room: int = 20, validate: bool = False
    ) -> None:
        self._random = Random(seed)
        self._size = size
        self.cluster = GangCluster(
            *(node(f"node-{n}", size) for n in range(room)), validate=validate
        )
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._incarnation: dict[str, int] = {}
        self.done: dict[str, float] = {}
        self._complete_since: dict[str, float] = {}
        self._lasts_s = {f"gang-{n}": self._random.uniform(20, 120) for n in range(gangs)}
        self.released = 0
        for name in self._lasts_s:
            arrival = self._random.uniform(0, 200)
            self._at(arrival, partial(self.cluster.put, group(name, size)))
            for number in range(size):
                late = arrival + self._random.choice([0, 0, 0, self._random.uniform(0, 30)])
                self._at(late, partial(self._add, name, number))
        for _ in range(gangs):
            self._at(self._random.uniform(0, 900), self._mischief)

    # --- time ---------------------------------------------------------------------------------

    def _at(self, seconds: float, what: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (seconds, self._count, what))

    @property
    def now(self) -> float:
        return self.cluster.clock() - self._start

    def run(self) -> None:
        """Until every gang is through."""
        self._start = self.cluster.clock()
        while len(self.done) < len(self._lasts_s):
            self._work()
            self._advance()
            assert self.now < _MAX_S, f"starved: {sorted(set(self._lasts_s) - set(self.done))}"

    def _advance(self) -> None:
        engine = self.cluster.engine
        times = [waiting.deadline for waiting in engine.state.waiting]
        times += [t for t in (engine.queue.next_wake(), engine.queue.next_flush()) if t is not None]
        if self._agenda:
            times.append(self._agenda[0][0] + self._start)
        times += [
            since + self._lasts_s[gang] + self._start
            for gang, since in self._complete_since.items()
        ]
        assert times, "everybody waits for nothing"
        self.cluster.wait(max(0.001, min(times) - self.cluster.clock()))
        while self._agenda and self._agenda[0][0] <= self.now:
            heapq.heappop(self._agenda)[2]()
        for gang, since in list(self._complete_since.items()):
            if self.now >= since + self._lasts_s[gang]:
                self._finish(gang)

    # --- the scheduler at work ----------------------------------------------------------------

    def _work(self) -> None:
        cluster = self.cluster
        for _ in range(20_000):
            attempt = cluster.attempt()
            self._check_released()
            self._bind_all()
            self._check_waits()
            if attempt is None:
                return
        raise AssertionError("the scheduler goes in circles")

    def _check_released(self) -> None:
        """Bindings that have just been asked for belong to gangs that have their quorum."""
        for name in self.cluster.bindings:
            gang = name.rpartition(".")[0].rpartition(".")[0]
            assert self._placed(gang) >= self._size, f"{name} was let go without its gang"
            self.released += 1

    def _placed(self, gang: str) -> int:
        found = [
            held.info.pod
            for held in self.cluster.engine.cluster.placements.values()
            if held.info.pod.metadata.name.startswith(f"{gang}.")
        ]
        return len(found)

    def _bind_all(self) -> None:
        for name in list(self.cluster.bindings):
            if self._random.random() < 0.01:
                self.cluster.finish(name, error("the API server is away"))
            else:
                self.cluster.bound(name)
        for gang in self._lasts_s:
            if gang not in self.done and gang not in self._complete_since and self._bound(gang):
                self._complete_since[gang] = self.now

    def _bound(self, gang: str) -> bool:
        pods = self._pods(gang)
        return len(pods) == self._size and all(map(self.cluster.pod_is_bound, pods))

    def _pods(self, gang: str) -> list[str]:
        keys = self.cluster.engine.state.pods
        return [key.partition("/")[2] for key in keys if key.startswith(f"default/{gang}.")]

    def _check_waits(self) -> None:
        now = self.cluster.clock()
        for waiting in self.cluster.engine.state.waiting:
            assert now - waiting.since <= WAIT_S + 1e-6, f"{waiting.info.key} waits for ever"

    # --- what happens to gangs ----------------------------------------------------------------

    def _add(self, gang: str, number: int) -> None:
        """A member, under a name that no member has had."""
        slot = f"{gang}.{number}"
        self._incarnation[slot] = self._incarnation.get(slot, 0) + 1
        self.cluster.put(member(f"{slot}.{self._incarnation[slot]}", gang))

    def _lose(self, name: str) -> None:
        """A member is gone; its controller makes another one."""
        slot = name.rpartition(".")[0]
        gang, _, number = slot.rpartition(".")
        self._complete_since.pop(gang, None)
        if name in self.cluster.bindings:
            return  # on its way; it will be lost another time
        self.cluster.delete(name)
        self._at(self.now + self._random.uniform(0, 5), lambda: self._add(gang, int(number)))

    def _mischief(self) -> None:
        pods = [
            name for gang in self._lasts_s if gang not in self.done for name in self._pods(gang)
        ]
        if pods and self._random.random() < 0.8:
            self._lose(self._random.choice(pods))
        else:
            self._lose_node()

    def _lose_node(self) -> None:
        table = self.cluster.engine.cluster
        names = [table.nodes.names[row] for row in table.node_order().tolist()]
        name = self._random.choice(names)
        row = table.nodes.row(name)
        lost = [info.pod.metadata.name for info in table.usage.pods(row)]
        self.cluster.engine.intake.node_deleted(name)
        for pod in lost:
            if f"default/{pod}" in self.cluster.engine.state.pods:
                self._lose(pod)
        self._at(self.now + 20, lambda: self.cluster.put(node(name, self._size)))

    def _finish(self, gang: str) -> None:
        """All members succeed."""
        del self._complete_since[gang]
        self.done[gang] = self.now
        for name in self._pods(gang):
            self.cluster.change(name, phase="Succeeded")

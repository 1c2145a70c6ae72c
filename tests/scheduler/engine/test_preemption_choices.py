"""Preemption held against a brute-force form of its rules.

Only cpu and pod counts matter in these clusters, so the rules fit on a page: for every node take
the weaker pods away, give back whom there is room for, then rank. A sequence of questions on one
engine, with changes in between, shows that answers which are kept stay right.
"""

import math
from dataclasses import dataclass, field

import msgspec
from hypothesis import strategies as st
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PodDisruptionBudgetStatus
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

NODES = ("a", "b", "c")
CPU, PODS = 4, 5


@dataclass(frozen=True)
class Guest:
    """A pod on a node, or one that is nominated there."""

    name: str
    node: str
    priority: int
    cpu: int
    start: int | None = None
    app: str = ""

    def pod(self, *, nominated: bool = False) -> Pod:
        started = self.start is not None and not nominated
        return make_pod(
            self.name,
            node="" if nominated else self.node,
            priority=self.priority,
            requests={"cpu": self.cpu},
            labels={"app": self.app} if self.app else {},
            status={"startTime": f"2026-01-01T00:00:{self.start:02}Z"} if started else {},
        )

    @property
    def importance(self) -> tuple[int, float]:
        return (-self.priority, math.inf if self.start is None else self.start)


@dataclass
class Model:
    guests: dict[str, list[Guest]] = field(default_factory=lambda: {n: [] for n in NODES})
    nominated: dict[str, Guest] = field(default_factory=dict)
    allowed: dict[str, int] = field(default_factory=dict)

    def problems(self, node: str, guests: list[Guest], priority: int, cpu: int) -> list[str]:
        """Why a pod does not fit beside some guests; nominated pods keep their room."""
        rivals = [n for n in self.nominated.values() if n.node == node and n.priority >= priority]
        together = [*guests, *rivals]
        found = ["Too many pods"] if len(together) + 1 > PODS else []
        if cpu > CPU - sum(g.cpu for g in together):
            found.append("Insufficient cpu")
        return found

    def victims(self, node: str, priority: int, cpu: int) -> tuple[list[Guest], int] | list[str]:
        """(victims, broken budgets), or the reasons why there is no use."""
        weaker = [g for g in self.guests[node] if g.priority < priority]
        if not weaker:
            return ["No preemption victims found for incoming pod"]
        kept = [g for g in self.guests[node] if g not in weaker]
        problems = self.problems(node, kept, priority, cpu)
        if problems:
            return problems
        weaker.sort(key=lambda g: g.importance)
        left = dict(self.allowed)
        protected: list[Guest] = []
        for guest in weaker:
            if guest.app in left:
                left[guest.app] -= 1
                if left[guest.app] < 0:
                    protected.append(guest)
        found: list[Guest] = []
        broken = 0
        for guest in (*protected, *(g for g in weaker if g not in protected)):
            if self.problems(node, [*kept, guest], priority, cpu):
                found.append(guest)
                broken += guest in protected
            else:
                kept.append(guest)
        found.sort(key=lambda g: g.importance)
        return found, broken

    def expected(self, priority: int, cpu: int) -> tuple[str, list[str]] | str:
        """(node, victims), or the text of the failure."""
        best: tuple[tuple[float, ...], str, list[str]] | None = None
        reasons: dict[str, int] = {}
        for node in NODES:
            answer = (
                self.victims(node, priority, cpu)
                if cpu <= CPU
                else ["Preemption is not helpful for scheduling"]
            )
            if isinstance(answer, list):
                for reason in answer:
                    reasons[reason] = reasons.get(reason, 0) + 1
                continue
            found, broken = answer
            highest = found[0].priority
            rank = (
                broken,
                highest,
                sum(g.priority + 2**31 for g in found),
                len(found),
                -min(g.importance[1] for g in found if g.priority == highest),
            )
            if best is None or rank < best[0]:
                best = (rank, node, [g.name for g in found])
        if best is not None:
            return best[1], best[2]
        lines = sorted(f"{n} {reason}" for reason, n in reasons.items())
        return f"preemption: 0/{len(NODES)} nodes are available: {', '.join(lines)}."


class World:
    """An engine and the model of it, changed together."""

    def __init__(self) -> None:
        self.engine = Engine(
            load_configuration(None, gates=FeatureGates()),
            in_tree_registry(),
            choice=FirstByName(),
            gates=FeatureGates(),
        )
        self.model = Model()
        self.count = 0
        for name in NODES:
            self.engine.cluster.put_node(
                make_node(name, allocatable={"cpu": CPU, "memory": "8Gi", "pods": PODS})
            )

    def arrive(self, guest: Guest) -> None:
        model = self.model.guests[guest.node]
        if sum(g.cpu for g in model) + guest.cpu <= CPU and len(model) < PODS:
            self.engine.cluster.add_pod(guest.pod())
            model.append(guest)

    def leave(self, node: str) -> None:
        model = self.model.guests[node]
        if model:
            self.engine.cluster.remove_pod(f"uid-default-{model[0].name}")
            last = model.pop()
            if model:
                model[0] = last

    def nominate(self, guest: Guest) -> None:
        info = self.engine.cluster.infos.of(guest.pod(nominated=True))
        if guest.name in self.model.nominated:
            del self.model.nominated[guest.name]
            self.engine.cluster.nominator.drop(info.uid)
        else:
            self.model.nominated[guest.name] = guest
            self.engine.cluster.nominator.nominate(info, guest.node)

    def protect(self, app: str, allowed: int) -> None:
        self.model.allowed[app] = allowed
        raw = {
            "metadata": {"name": f"pdb-{app}", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
        }
        pdb = msgspec.convert(raw, PodDisruptionBudget)
        status = PodDisruptionBudgetStatus(disruptions_allowed=allowed)
        self.engine.cluster.catalog.put(msgspec.structs.replace(pdb, status=status))

    def ask(self, priority: int, cpu: int) -> None:
        self.count += 1
        pod = make_pod(f"pending-{self.count}", priority=priority, requests={"cpu": cpu})
        attempt = self.engine.schedule(self.engine.cluster.infos.of(pod))
        fitting = {
            n for n in NODES if not self.model.problems(n, self.model.guests[n], priority, cpu)
        }
        if fitting:
            assert attempt.decision.bound in fitting
            assert attempt.binding is not None
            assert self.engine.undo(attempt.binding) == []
            return
        outcome = attempt.decision.post_filter
        assert outcome is not None
        expected = self.model.expected(priority, cpu)
        if isinstance(expected, str):
            assert (outcome.code, outcome.nominated_node) == (Code.UNSCHEDULABLE, "")
            assert outcome.message == f"no new claims to deallocate, {expected}"
        else:
            names = [victim.pod.metadata.name for victim in outcome.victims]
            assert (outcome.code, outcome.nominated_node, names) == (Code.SUCCESS, *expected)


guests = st.builds(
    Guest,
    st.integers(0, 10**6).map(lambda n: f"guest-{n}"),
    st.sampled_from(NODES),
    st.integers(-1, 3),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
    st.sampled_from(("", "x", "y")),
)
rivals = st.builds(
    Guest,
    st.sampled_from(("rival-1", "rival-2")),
    st.sampled_from(NODES),
    st.integers(0, 5),
    st.integers(0, 2),
)
asks = st.sampled_from(((4, CPU), (4, CPU), (2, CPU), (2, 2), (0, 1), (4, CPU + 1)))
steps = st.one_of(
    st.tuples(st.just("arrive"), guests),
    st.tuples(st.just("leave"), st.sampled_from(NODES)),
    st.tuples(st.just("nominate"), rivals),
    st.tuples(st.just("protect"), st.tuples(st.sampled_from("xy"), st.integers(-1, 2))),
    st.tuples(st.just("ask"), asks),
)


@given_examples(
    30,
    150,
    first=st.lists(guests, min_size=3, max_size=14, unique_by=lambda g: g.name),
    steps=st.lists(steps, min_size=1, max_size=15),
)
def test_victims_and_nodes_are_those_of_the_plain_rules(
    first: list[Guest], steps: list[tuple[str, object]]
) -> None:
    world = World()
    for guest in first:
        world.arrive(guest)
    for what, detail in steps:
        if isinstance(detail, Guest) and what == "arrive":
            if f"uid-default-{detail.name}" not in world.engine.cluster.placements:
                world.arrive(detail)
        elif isinstance(detail, Guest):
            world.nominate(detail)
        elif isinstance(detail, str):
            world.leave(detail)
        elif what == "protect":
            world.protect(*detail)  # type: ignore[misc]
        else:
            world.ask(*detail)  # type: ignore[misc]
    for priority in (4, 2):
        world.ask(priority, CPU)

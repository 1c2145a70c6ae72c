"""The same life with extenders: cycles wait, and the cluster goes on meanwhile.

Extenders agree, take nodes away, return nodes in full, fail, or answer garbage; the driver lets
events in while a cycle waits, or gives the cycle up. At rest they agree with everything, so pods
are where an engine without extenders would have them, or wait for the same reasons.
"""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule
from support.scheduler.engine.living_cluster import (
    FEW_LIVES,
    LONG,
    LivingCluster,
    live,
    make_engine,
)
from support.scheduler.engine.scripted_extenders import Script, clears, extender, fails, leaves
from support.scheduler.engine.small_world import ApiError, SmallWorld

from podium.scheduler.engine.scheduler import Attempt, Engine
from podium.scheduler.framework.asking import (
    Answers,
    BindAnswer,
    BindCall,
    CallFailed,
    Calls,
    FilterAnswer,
    FilterCall,
)

MOODS = ("agrees", "takes away", "returns in full", "fails", "talks nonsense", "gives up")

ALL_VERBS = {
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "weight": 1,
}
EXTENDERS = [
    extender("http://binds", bindVerb="bind", **ALL_VERBS),
    extender("http://lax", ignorable=True, **ALL_VERBS),
]


class BindingWorld(SmallWorld):
    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        try:
            await self.bind(self.engine.cluster.infos.of(call.pod), call.node_name)
        except ApiError as problem:
            return CallFailed(str(problem))
        return BindAnswer()


class LivingExtenders(LivingCluster):
    steps = 0
    mood = "agrees"
    heard_meanwhile = 0

    def _new_engine(self) -> Engine:
        return make_engine(self.clock, validate=True, extenders=EXTENDERS)

    def _new_world(self) -> SmallWorld:
        return BindingWorld(self.engine, self.clock)

    @rule(mood=st.sampled_from(MOODS), heard=st.integers(0, 3))
    def mood_changes(self, mood: str, heard: int) -> None:
        self.mood, self.heard_meanwhile = mood, heard

    def _try_next(self) -> Attempt | None:
        cycle = self.engine.schedule_in_steps()
        calls: Calls | None = None
        try:
            calls = next(cycle)
            while True:
                self._go_on_meanwhile()
                if self.mood == "gives up" and not self.mischief.calm:
                    cycle.close()
                    return None
                calls = cycle.send(self._answers(calls))
        except StopIteration as end:
            attempt: Attempt | None = end.value
            return attempt

    def _has_room(self, attempt: Attempt) -> None:
        """A pod is placed by what was so when its cycle began; a node may have shrunk since."""
        if self.mischief.calm or not self.heard_meanwhile:
            super()._has_room(attempt)

    def _go_on_meanwhile(self) -> None:
        if self.mischief.calm:
            return
        if self.heard_meanwhile:
            self.world.deliver(self.heard_meanwhile)
            self.engine.tick()
        if self.heard_meanwhile > 1 and self.world.bindings:
            self.world.finish_binding(0)

    def _answers(self, calls: Calls) -> Answers:
        if self.mischief.calm:
            return Script()(calls)
        match self.mood:
            case "takes away":
                return Script(filter=_but_the_first)(calls)
            case "returns in full":
                return Script(filter=self._in_full)(calls)
            case "fails":
                failing = fails("not today")
                return Script(filter=failing, prioritize=failing, preempt=failing)(calls)
            case "talks nonsense":
                return Script(filter=leaves("nowhere"), preempt=clears(nowhere=()))(calls)
        return Script()(calls)

    def _in_full(self, call: FilterCall) -> FilterAnswer:
        """Objects are taken from one that was asked for names, too."""
        nodes = self.engine.cluster.nodes
        return FilterAnswer(nodes=tuple(nodes.node(nodes.row(name)) for name in call.nodes))


def _but_the_first(call: FilterCall) -> FilterAnswer:
    first, *others = call.nodes
    return FilterAnswer(tuple(others), failed={first: "taken away"})


def test_a_few_clusters_survive_extenders_and_what_happens_while_they_are_asked() -> None:
    live(LivingExtenders, lives=FEW_LIVES, long_lives=FEW_LIVES)


@pytest.mark.slow
def test_a_cluster_survives_extenders_and_what_happens_while_they_are_asked() -> None:
    steps = live(LivingExtenders, lives=30, long_lives=300)
    assert not LONG or steps >= 20_000

"""The engine: profiles over one cluster, deciding pod after pod.

It does no I/O and owns no clock. Drivers feed it events (through `cluster`) and pods, and carry out
what comes back: a decision, and for a pod that found a node a `Binding` to run against an API.
"""

from collections.abc import Callable
from dataclasses import dataclass

from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import Cluster
from podium.config.feature_gates import FeatureGates
from podium.config.types import Configuration
from podium.engine.attempt import Attempts
from podium.engine.binding import Binding
from podium.engine.choice import Choice, Seeded
from podium.engine.decision import Decision
from podium.framework.profile import Profile, build_profiles
from podium.framework.registry import Registry
from podium.framework.status import Status
from podium.framework.waiting import WaitingPods


class UnknownProfileError(LookupError):
    """No profile serves the pod's scheduler name."""


@dataclass(slots=True)
class Attempt:
    """The outcome of one attempt; `binding` is there when a node is held."""

    decision: Decision
    binding: Binding | None = None


class Engine:
    def __init__(
        self,
        configuration: Configuration,
        registry: Registry,
        *,
        gates: FeatureGates | None = None,
        choice: Choice | None = None,
        clock: Callable[[], float] = lambda: 0.0,
        percentage: int | None = None,
    ) -> None:
        """`percentage` overrides the configured percentageOfNodesToScore."""
        self.configuration = configuration
        self.gates = gates or FeatureGates()
        self.cluster = Cluster()
        self.waiting = WaitingPods()
        self.clock = clock
        self.profiles = build_profiles(
            configuration, registry, self.cluster, self.gates, self.waiting
        )
        self._attempts = Attempts(
            self.cluster,
            choice or Seeded(),
            configuration.percentage_of_nodes_to_score if percentage is None else percentage,
            clock,
        )

    @property
    def first_profile(self) -> Profile:
        """The profile whose queue sort orders the queue."""
        return next(iter(self.profiles.values()))

    def profile_of(self, pod: Pod) -> Profile:
        found = self.profiles.get(pod.spec.scheduler_name)
        if found is None:
            known = ", ".join(self.profiles)
            raise UnknownProfileError(
                f"no profile is named {pod.spec.scheduler_name!r} (profiles: {known})"
            )
        return found

    def pre_enqueue(self, info: PodInfo) -> Status | None:
        """Why a pod may not be queued yet; None if it may."""
        for plugin in self.profile_of(info.pod).pre_enqueue:
            answer = plugin.pre_enqueue(info)
            if answer is not None:
                return answer.by(plugin.name)
        return None

    def gated(self, info: PodInfo, status: Status) -> Decision:
        """The record of a pod that was held back before any attempt."""
        return Decision(info, info.pod.spec.scheduler_name, (), attempt=0, pre_enqueue=status)

    def schedule(self, info: PodInfo) -> Attempt:
        """One attempt. On success the pod is assumed on its node until bound or undone."""
        profile = self.profile_of(info.pod)
        decision, cycle = self._attempts.run(info, profile)
        if decision.bound is None:
            return Attempt(decision)
        return Attempt(decision, Binding(cycle, profile, decision.bound))

    def undo(self, binding: Binding) -> None:
        """Take back a held node after its binding failed."""
        self._attempts.undo(binding.cycle, binding.profile, binding.node_name)

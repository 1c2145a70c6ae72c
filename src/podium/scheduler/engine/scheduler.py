"""The engine: events and time in, decisions and requests out.

It does no I/O and owns no clock. A driver feeds it what the API server says (`intake`), lets it
work (`schedule_next`, `tick`), carries out its `requests` and reports back how bindings and
evictions ended. The live scheduler, the simulator, the benchmark and the replay of recorded cases
are such drivers; all of them run the same cycle. Where extenders are configured, it stops to have
them asked (`schedule_in_steps`).

Other weights for the score plugins of a scheduler at work: the one way to change its profiles.
Plugins, queue and records stay as they are; the next scheduling cycle weighs otherwise, and
`configuration` says so. What was remembered of weighted scores is forgotten.
"""

import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import IndexedPods
from podium.scheduler.cluster.pod_info import PodInfo, request_rules
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.merge import PointLists, expand_profiles, with_score_weights
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.intake import Intake
from podium.scheduler.engine.interests import SourceIntake, interests_of
from podium.scheduler.engine.observer import Observers, PodLog
from podium.scheduler.engine.post_filter import Preemptions
from podium.scheduler.engine.queue import SchedulingQueue
from podium.scheduler.engine.queue.backoff import MAX_UNSCHEDULABLE_S, RETRY_TIME, Backoff
from podium.scheduler.engine.requests import Request
from podium.scheduler.engine.reservations import Bindings, Reservations
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle
from podium.scheduler.engine.search import Choice, Seeded
from podium.scheduler.engine.state import EngineState, transition
from podium.scheduler.framework.asking import Asker, Asking, drive, in_calling_order
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.faults import describe, status_or_none
from podium.scheduler.framework.handle import PluginMetrics, Preempting
from podium.scheduler.framework.log import SILENT, Log
from podium.scheduler.framework.profile import Profile, build_profiles
from podium.scheduler.framework.queued import QueuedPod, WaitingPods
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.framework.sources import Sources
from podium.scheduler.framework.status import Code, Status, error

if TYPE_CHECKING:
    from podium.scheduler.config.flags.client_settings import ClientSettings
    from podium.scheduler.engine.pod_groups import PodGroups


CRASHED = "Podium failed while it looked for a node: "


class UnknownProfileError(LookupError):
    """No profile serves the pod's scheduler name."""


class Attempt(Struct):
    """The outcome of one attempt; `binding` is there when a node is held, `crash` is the traceback
    of what only a bug can cause. `others` are the attempts of members of the same pod group,
    `writes` what plugins want to be written after a failure."""

    decision: Decision
    binding: Binding | None = None
    crash: str = ""
    others: tuple["Attempt", ...] = ()
    writes: list[object] = field(default_factory=list)


class Engine:
    def __init__(
        self,
        configuration: Configuration,
        registry: PluginRegistry,
        *,
        gates: FeatureGates,
        choice: Choice | None = None,
        clock: Callable[[], float] = lambda: 0.0,
        percentage: int | None = None,
        validate: bool = False,
        pod_log: PodLog | None = None,
        client_settings: "ClientSettings | None" = None,
        max_unschedulable_s: float = MAX_UNSCHEDULABLE_S,
        log: Log = SILENT,
    ) -> None:
        """`percentage` overrides the configured percentageOfNodesToScore; `validate` re-checks
        every invariant after every transition, which is slow and meant for tests and for doubt;
        `pod_log` is one of other size than usual; `client_settings` are there for plugins that
        want to reach the API server themselves; a pod that has waited `max_unschedulable_s` for an
        event that helps it is tried again without one; `log` is where plugins say what they do."""
        self.configuration = configuration
        self.registry = registry
        self.gates = gates
        self.cluster = Cluster(request_rules(self.gates))
        self.cluster.pod_groups.enabled = self.gates["GenericWorkload"]
        self.clock = clock
        choice = choice or Seeded()
        waiting, preempting = WaitingPods(), Preempting()
        pods = IndexedPods()
        sources = Sources(self.cluster.nodes, clock)
        self.log = log
        self.plugin_metrics = PluginMetrics()
        self.profiles = build_profiles(
            configuration,
            registry,
            self.cluster,
            self.gates,
            waiting,
            preempting,
            clock,
            sources=sources,
            pods=pods,
            client_settings=client_settings,
            log=log,
            metrics=self.plugin_metrics,
        )
        self.observers = Observers()
        self.queue = self._build_queue(max_unschedulable_s)
        self.state = EngineState(
            self.cluster,
            self.profiles,
            self.queue,
            waiting,
            preempting,
            self.gates,
            clock,
            pod_log or PodLog(),
            in_calling_order(configuration.extenders),
            self.observers,
            pods=pods,
        )
        self.transitions = self.state.transitions
        if validate:
            from podium.scheduler.engine.validation import StateValidator

            self.transitions.validate(StateValidator(self.state))
        if percentage is None:
            percentage = configuration.percentage_of_nodes_to_score
        self._reservations = Reservations(self.cluster)
        self._cycle = SchedulingCycle(
            self.cluster,
            choice,
            percentage,
            clock,
            self._reservations,
            configuration.extenders,
            self.observers,
        )
        self.intake = Intake(self.state)
        self.sources = SourceIntake(self.state, sources)
        self.failures = Failures(self.state)
        self.bindings = Bindings(self.state, self._reservations, self.failures)
        self.preemptions = Preemptions(self.state)
        self._pod_groups = self._build_pod_groups(choice) if self.gates["GenericWorkload"] else None
        self._validate = validate

    def _build_queue(self, max_unschedulable_s: float) -> SchedulingQueue:
        configuration = self.configuration
        pop_early = self.gates["SchedulerPopFromBackoffQ"]
        return SchedulingQueue(
            clock=self.clock,
            sort_key=self.first_profile.queue_sort.sort_key,
            gate=self._gate,
            interests=interests_of(
                self.profiles.values(),
                pod_groups=self.gates["GenericWorkload"],
                extenders=bool(configuration.extenders),
                hints=self.gates["SchedulerQueueingHints"],
            ),
            nominator=self.cluster.nominator,
            backoff=Backoff(
                configuration.pod_initial_backoff_seconds,
                configuration.pod_max_backoff_seconds,
                pop_early,
            ),
            pop_from_backoff=pop_early,
            pod_groups=self.gates["GenericWorkload"],
            hints=self.gates["SchedulerQueueingHints"],
            max_unschedulable_s=max_unschedulable_s,
            observer=self.observers,
        )

    def _build_pod_groups(self, choice: Choice) -> "PodGroups":
        from podium.scheduler.engine.pod_groups import PodGroups

        return PodGroups(
            self.state,
            self._cycle,
            self._reservations,
            self.failures,
            self.bindings,
            self.preemptions,
            choice,
            self._skips,
            self._broke,
        )

    # work

    def schedule_next(self, ask: Asker | None = None) -> Attempt | None:
        """Pop a pod and try it; None when nothing is ready. `ask` speaks with extenders, if the
        configuration has any."""
        return drive(self.schedule_in_steps(), ask)

    def schedule_in_steps(self) -> Asking[Attempt | None]:
        """`schedule_next` for drivers that have other things to do while extenders are asked.

        There is one cycle at a time. What the engine is told while it waits takes effect when it
        is over; a cycle that is closed before that puts its pod back into the queue.
        """
        return self._begin(self.queue.pop)

    def schedule_pod(self, info: PodInfo, ask: Asker | None = None) -> Attempt | None:
        """Take a pod out of the queue out of turn and try it; None if it is not there or is held
        back."""
        return drive(self._begin(lambda: self.queue.pop_specific(info)), ask)

    def _begin(self, pop: Callable[[], QueuedPod | None]) -> Asking[Attempt | None]:
        cycle = self._next(pop)
        self.transitions.begin_cycle(cycle)
        return cycle

    def _next(self, pop: Callable[[], QueuedPod | None]) -> Asking[Attempt | None]:
        attempt: Attempt | None = None
        try:
            self.bindings.look_at_waiting()
            while attempt is None and (queued := pop()) is not None:
                info = queued.info
                self.observers.pod_popped(queued)
                if self._pod_groups is not None and info.pod.spec.scheduling_group is not None:
                    attempt = yield from self._try_group(self._pod_groups, queued)
                elif self._skips(info):
                    self.queue.done(info.uid)
                else:
                    attempt = yield from self._try(queued)
                self.bindings.look_at_waiting()
        finally:
            self.transitions.end_cycle()
        if self._validate:
            self.transitions.check("Engine.schedule_next", attempt)
        return attempt

    @transition
    def tick(self) -> None:
        """Let time have its effect: backoffs end, waits expire, long sleepers are woken."""
        for queued in self.queue.flush_backoff():
            self.state.note(queued.info.key, "woken", "BackoffComplete")
        for queued in self.queue.flush_retries():
            self.state.note(queued.info.key, "woken", RETRY_TIME.label)
        for queued in self.queue.flush_unschedulable():
            self.state.note(queued.info.key, "woken", "UnschedulableTimeout")
        self.bindings.look_at_waiting()

    def take_requests(self) -> list[Request]:
        """Requests since the last call, oldest first."""
        taken, self.state.requests = self.state.requests, []
        return taken

    def _try(self, queued: QueuedPod) -> Asking[Attempt]:
        """An attempt that breaks is that pod's failure: it is retried and stops nobody else."""
        info = queued.info
        try:
            profile = self.profile_of(info.pod)
            decision, cycle = yield from self._cycle.find_node(info, profile)
            attempt = self._hold_node(profile, decision, cycle)
            if cycle.retry_at is not None or cycle.waits_out_backoff:
                queued.heed(cycle.retry_at, waits_out_backoff=cycle.waits_out_backoff)
        except GeneratorExit:  # given up: the pod is retried without a word
            self.failures.handle(queued, rejected=False, message="", nominated_node=None)
            raise
        except Exception as problem:
            attempt = self._record_crash(info, problem)
        return self._conclude(queued, attempt)

    def _conclude(self, queued: QueuedPod, attempt: Attempt) -> Attempt:
        """What follows an attempt: the way to the node, or back into the queue."""
        info, state = queued.info, self.state
        decision = attempt.decision
        decision.attempt = queued.attempts
        state.note_attempt(decision)
        if attempt.binding is not None:
            cycle = attempt.binding.cycle
            if cycle.to_activate:
                state.activate(cycle.to_activate.values())
                cycle.to_activate.clear()
            self.bindings.start(queued, attempt.binding, decision.waits_s)
            return attempt
        state.ask_writes(info, attempt.writes)
        outcome = decision.post_filter
        if outcome is not None and outcome.code is Code.SUCCESS and outcome.victims:
            self.preemptions.carry_out(info, outcome)
        self.failures.handle_decision(queued, decision)
        return attempt

    def _try_group(self, groups: "PodGroups", queued: QueuedPod) -> Asking[Attempt | None]:
        """A member of a pod group is tried together with all others; its own attempt comes first
        and has theirs with it."""
        submitted = yield from groups.schedule_group(queued)
        attempts = [Attempt(decision, binding, groups.crash) for decision, binding in submitted]
        attempts.sort(key=lambda attempt: attempt.decision.pod.uid != queued.info.uid)
        if not attempts:
            return None
        attempts[0].others = tuple(attempts[1:])
        return attempts[0]

    def _skips(self, info: PodInfo) -> bool:
        """Whether a pod is not to be tried at all.

        upstream: pkg/scheduler/schedule_one.go, skipPodSchedule.
        """
        if not self.state.responsible(info.pod):
            return True
        if info.terminating:
            note = f"skip schedule deleting pod: {info.key}"
            self.state.tell(info, "Warning", "FailedScheduling", "Scheduling", note)
            self.observers.pod_skipped(info)
            self.cluster.nominator.strip(info)
            return True
        return self.cluster.is_assumed(info.uid)

    def _record_crash(self, info: PodInfo, problem: Exception) -> Attempt:
        problem.add_note(f"while pod {info.key} was tried")
        message = self._broke(problem)
        if self.cluster.is_assumed(info.uid):
            self.cluster.forget(info)
        decision = Decision(
            info,
            info.pod.spec.scheduler_name,
            (),
            message=message,
            is_error=True,
            nominated_node="",
        )
        return Attempt(decision, crash=traceback.format_exc())

    def _broke(self, problem: Exception) -> str:
        """What is said of an attempt that broke, as only a bug can make it."""
        if self._validate:
            raise problem
        return f"{CRASHED}{describe(problem)}"

    # single steps, for drivers that keep no queue

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
        return self._gate(QueuedPod(info, self.clock()))

    def _gate(self, queued: QueuedPod) -> Status | None:
        """Run PreEnqueue plugins, the one that holds the pod back already first."""
        plugins = self.profile_of(queued.info.pod).pre_enqueue
        if queued.gating_plugin:
            plugins = sorted(plugins, key=lambda p: p.name != queued.gating_plugin)
        for plugin in plugins:
            try:
                answer = plugin.pre_enqueue(queued.info)
                if answer is not None:
                    answer = status_or_none("pre_enqueue", answer)
            except Exception as problem:
                answer = error(describe(problem))
            if answer is not None and answer.code is not Code.SUCCESS:
                return answer.by(plugin.name)
        return None

    def record_gated(self, info: PodInfo, status: Status) -> Decision:
        """The record of a pod that was held back before any attempt."""
        return Decision(info, info.pod.spec.scheduler_name, (), attempt=0, pre_enqueue=status)

    def schedule(self, info: PodInfo, ask: Asker | None = None) -> Attempt:
        """One attempt. On success the pod is assumed on its node until bound or undone."""
        profile = self.profile_of(info.pod)
        decision, cycle = drive(self._cycle.find_node(info, profile), ask)
        return self._hold_node(profile, decision, cycle)

    def _hold_node(self, profile: Profile, decision: Decision, cycle: Cycle) -> Attempt:
        self._cycle.hold_node(decision, cycle, profile)
        if decision.bound is None:
            return Attempt(decision, writes=cycle.writes)
        return Attempt(decision, self.state.new_binding(cycle, profile, decision.bound))

    def undo(self, binding: Binding) -> list[str]:
        """Take back a held node after its binding failed; returns what went wrong with that."""
        return self._reservations.unreserve_and_forget(
            binding.cycle, binding.profile, binding.node_name
        )


def set_score_weights(
    engine: Engine, before: Configuration, scheduler_name: str, weights: Mapping[str, int]
) -> None:
    """Put weights by plugin in force for one profile, beside what `before` says; 0 switches a
    plugin off. During a cycle this waits for its end. Raises PluginListError."""
    changed = with_score_weights(before, scheduler_name, weights)
    registry = engine.registry
    lists = expand_profiles(changed, registry.implements, registry.__contains__)
    _put_in_force(engine, changed, lists)


@transition
def _put_in_force(
    engine: Engine, configuration: Configuration, lists: Mapping[str, PointLists]
) -> None:
    engine.configuration = configuration
    for name, profile in engine.profiles.items():
        profile.set_weights(lists[name])

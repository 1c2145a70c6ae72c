"""The plugin: a queue that keeps groups together, and a Permit that holds members for each other.

A gang is let go when as many of its members as it asks for have a node, and not before. It holds
nothing for ever: whoever waits does so for a limited time, and as soon as one member fails, or one
of those that wait gives up, all that wait give their nodes back.

Two things differ from upstream on purpose. A group that has failed is not tried again while its
quorum could not fit by resources, so it does not take room from others in rounds, nor are victims
chosen that would not make room for all of it. And pods that were turned away for some time only are
tried as soon as it is over.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from podium.addons.collection.coscheduling import messages
from podium.addons.collection.coscheduling.explanations import explain, propose
from podium.addons.collection.coscheduling.gangs import (
    OLDER_POD_GROUPS,
    POD_GROUPS,
    CoschedulingArgs,
    CountedResources,
    Gang,
    Gangs,
    GroupKey,
    GroupMemory,
    group_key,
    has_room,
    resource_gap,
    written_gap,
)
from podium.golang.durations import Duration
from podium.kubernetes.kinds.scheduler_plugins import CoschedulingPodGroup
from podium.plugin import (
    Action,
    ApiHandle,
    Code,
    Cycle,
    Diagnosis,
    Handle,
    Node,
    PermitPlugin,
    PermitResult,
    Pod,
    PodInfo,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    ProposedChange,
    QueuedPod,
    QueueSortPlugin,
    RefusalCause,
    Registration,
    ReservePlugin,
    Resource,
    Status,
    WaitingPod,
    unresolvable,
    unschedulable,
)
from podium.plugin.preemption import DefaultPreemption

NOT_FOUND = PermitResult(unschedulable(messages.GROUP_NOT_FOUND))
NO_GROUP = PostFilterResult(Code.UNSCHEDULABLE, (messages.NO_GROUP,))
LEFT_ALONE = PostFilterResult(Code.UNSCHEDULABLE)
WAIT = Status(Code.WAIT)
_SHORTEST_CHECK_S = 3.0
_BRING_AGAIN_S = 1.0


class Coscheduling(
    QueueSortPlugin,
    PreFilterPlugin,
    PostFilterPlugin,
    PermitPlugin,
    ReservePlugin,
    PostBindPlugin,
):
    name = "Coscheduling"
    Args = CoschedulingArgs
    watched_kinds = (POD_GROUPS, OLDER_POD_GROUPS)
    stays_whatever_watched = True  # it promises for pods without a group alone

    args: CoschedulingArgs

    def __init__(self, args: CoschedulingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._gangs = Gangs(handle)
        self._counted = CountedResources(handle)
        self._memory = GroupMemory(handle.clock, self._gangs.is_known)

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        kept, self._memory = self._memory, self._memory.after_a_while()
        try:
            yield
        finally:
            self._memory = kept

    # --- the queue ----------------------------------------------------------------------------

    def sort_key(self, queued: QueuedPod) -> tuple[int, float, str]:
        """By priority, then by the time of the group or else of the first attempt, then by name."""
        at = queued.initial_attempt_timestamp
        if at is None:
            at = queued.timestamp
        info = queued.info
        key = group_key(info.pod)
        if key is not None:
            at = self._group_time(key, info.pod, at)
        return -info.priority, at, info.key

    def _group_time(self, key: GroupKey, pod: Pod, otherwise: float) -> float:
        failed = self._memory.last_failure.get(key)
        if failed is not None:
            return failed
        gang = self._gangs.find(pod)
        if gang is None:
            return otherwise
        if gang.created_at is not None:
            return gang.created_at
        # A group from a file, or one of labels alone: as old as its first pod.
        if key not in self._memory.first_seen:
            self._memory.first_seen.set(key)
        return self._memory.first_seen.get(key) or otherwise

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.UNSCHEDULABLE_POD, Action.ADD, _is_sibling),
            Registration(Resource.ASSIGNED_POD, Action.ADD, _is_sibling),
            Registration(POD_GROUPS.event_resource, Action.ADD | Action.UPDATE, _is_its_group),
            Registration(
                OLDER_POD_GROUPS.event_resource, Action.ADD | Action.UPDATE, _is_its_group
            ),
            Registration(Resource.ASSIGNED_POD, Action.DELETE, self._makes_room),
            Registration(
                Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._brings_room
            ),
        )

    def _makes_room(self, pod: PodInfo, old: Pod | None, new: Pod | None) -> bool:
        """A pod of another group is gone; own members give back only what the group had."""
        left = old if old is not None else new
        return left is not None and group_key(left) != group_key(pod.pod) and self._lacks_room(pod)

    def _brings_room(self, pod: PodInfo, old: Node | None, new: Node | None) -> bool:  # noqa: ARG002
        return self._lacks_room(pod)

    def _lacks_room(self, pod: PodInfo) -> bool:
        gang = self._gangs.find(pod.pod)
        return gang is not None and (
            gang.min_resources is not None or gang.key in self._memory.last_failure
        )

    # --- filtering ----------------------------------------------------------------------------

    def pre_filter(self, cycle: Cycle) -> Status | None:
        gang = self._gangs.find(cycle.pod.pod)
        if gang is None:
            return None
        return self._recent_failure(cycle, gang) or self._check_members(cycle.pod, gang)

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return group_key(cycle.pod.pod) is None

    def _recent_failure(self, cycle: Cycle, gang: Gang) -> Status | None:
        """A group that failed a moment ago is tried when its time is over, whatever happens."""
        until = self._memory.denied.until(gang.key)
        if until is not None:
            cycle.retry_at = until
            time_s = Duration.of_seconds(self.args.denied_pg_expiration_time_seconds or 0)
            return unresolvable(messages.DENIED.format(gang.full_name, time_s))
        until = self._memory.backed_off.until(gang.key)
        if until is not None:
            cycle.retry_at = until
            return unresolvable(messages.FAILED_RECENTLY.format(gang.full_name))
        return None

    def _check_members(self, pod: PodInfo, gang: Gang) -> Status | None:
        name = pod.pod.metadata.name
        members = self._gangs.members(gang)
        there = len(members) + gang.succeeded
        if there < gang.min_member:
            return unresolvable(messages.TOO_FEW_MEMBERS.format(name, there, gang.min_member))
        gated = sum(1 for member in members if member.spec.scheduling_gates)
        if there - gated < gang.min_member:
            return unresolvable(messages.GATED_MEMBERS.format(name))
        return self._resource_gap(gang) or self._too_little_room(pod, gang)

    def _resource_gap(self, gang: Gang) -> Status | None:
        if gang.min_resources is None or gang.key in self._memory.permitted:
            return None
        gap = resource_gap(self.handle.cluster, gang, self._gangs.find_placed_members(gang))
        if gap:
            self._deny(gang)
            return unresolvable(messages.RESOURCE_GAP.format(written_gap(gap)))
        seconds = float(self.args.permit_waiting_time_seconds) or _SHORTEST_CHECK_S
        self._memory.permitted.add(gang.key, seconds)
        return None

    def _too_little_room(self, pod: PodInfo, gang: Gang) -> Status | None:
        """Whether the rest of the quorum cannot fit, even without pods that may be preempted.

        A group that has not failed and has nobody to preempt is let through: it gives back what
        it took as soon as one of it fails.
        """
        missing = gang.min_member - self._gangs.quorum_reached(gang)
        unplaced = self._gangs.find_unplaced_members(gang)
        cluster = self.handle.cluster
        if missing < 1 or len(unplaced) < missing:
            return None
        if has_room(cluster, unplaced, missing, self._counted.__contains__):
            return None
        weaker = self._preemptable_for(unplaced[:missing])
        if weaker and has_room(cluster, unplaced, missing, self._counted.__contains__, weaker):
            return None
        tried_before = gang.key in self._memory.last_failure
        if not weaker and not tried_before and not self._preemptable_for([pod]):
            return None
        return unresolvable(messages.NO_ROOM.format(_pods(missing), gang.full_name))

    def _preemptable_for(self, pods: Sequence[PodInfo]) -> list[PodInfo]:
        """Pods that could be preempted for these, whoever does that in the profile."""
        if any(pod.pod.spec.preemption_policy == "Never" for pod in pods):
            return []
        for plugin in self.handle.profile.post_filter:
            if isinstance(plugin, DefaultPreemption):
                return plugin.preemptable_for(pods)
        return []

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:  # noqa: ARG002
        gang = self._gangs.find(cycle.pod.pod)
        if gang is None:
            return NO_GROUP
        missing = gang.min_member - self._gangs.quorum_reached(gang)
        # A gang that has its quorum is not hurt by one more, and a small gap may still be filled.
        if missing <= 0 or missing * 100 <= gang.min_member * self.args.pod_group_reject_percentage:
            return LEFT_ALONE
        # Whom siblings wake by leaving waits out its backoff, or the two would go in circles.
        cycle.waits_out_backoff = True
        self._turn_away(gang, messages.OPTIMISTIC_REJECTION)
        if len(self._gangs.members(gang)) + gang.succeeded >= gang.min_member:
            self._memory.backed_off.add(gang.key, self.args.pod_group_backoff_seconds)
        name = cycle.pod.pod.metadata.name
        return PostFilterResult(
            Code.UNSCHEDULABLE, (messages.REJECTED.format(gang.full_name, name),)
        )

    # --- binding ------------------------------------------------------------------------------

    def reserve(self, cycle: Cycle, node_name: str) -> None:  # noqa: ARG002
        """Nothing: the cluster counts the pod as placed already."""
        return

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:  # noqa: ARG002
        pod = cycle.pod.pod
        if group_key(pod) is None:
            return None
        gang = self._gangs.find(pod)
        if gang is None:
            return NOT_FOUND
        waiting = self._find_waiting_members(gang)
        if self._gangs.quorum_reached(gang) >= gang.min_member:
            self._memory.last_failure.forget(gang.key)
            for wait in waiting:
                wait.allow(self.name)
            return None
        memory = self._memory
        if not waiting and not (gang.key in memory.brought and gang.key in memory.last_failure):
            # The first of a round brings the others, wherever they are in the queue. After a
            # failure that takes a while: members that bring each other would go in circles.
            memory.brought.add(gang.key, _BRING_AGAIN_S)
            siblings = self._gangs.find_unplaced_members(gang)
            cycle.to_activate.update((info.key, info) for info in siblings)
        return PermitResult(WAIT, gang.timeout_s or self.args.wait_s)

    def unreserve(self, cycle: Cycle, node_name: str) -> None:  # noqa: ARG002
        gang = self._gangs.find(cycle.pod.pod)
        if gang is not None:
            self._turn_away(gang, messages.REJECTION_IN_UNRESERVE)
            cycle.retry_at = self._memory.denied.until(gang.key)
            cycle.waits_out_backoff = True

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        """Nothing; older releases kept the group's status here, which is the controller's now."""

    def _turn_away(self, gang: Gang, reason: str) -> None:
        """Let all that wait go: the group has failed."""
        for wait in self._find_waiting_members(gang):
            wait.reject(self.name, reason)
        self._memory.permitted.forget(gang.key)
        self._memory.last_failure.set(gang.key)
        self._deny(gang)

    def _deny(self, gang: Gang) -> None:
        self._memory.denied.add(gang.key, self.args.denied_pg_expiration_time_seconds or 0)

    def _find_waiting_members(self, gang: Gang) -> list[WaitingPod]:
        """Members that wait for the others."""
        waits = (
            self.handle.waiting.get(info.uid) for info in self._gangs.find_placed_members(gang)
        )
        return [wait for wait in waits if wait is not None and wait.outcome is None]

    # --- explaining ---------------------------------------------------------------------------

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:
        return explain(pod, status.message, self._gangs)

    def propose_changes(self, pod: PodInfo, status: Status) -> Iterator[ProposedChange]:  # noqa: ARG002
        return propose(pod.pod, self.handle)


def _is_sibling(pod: PodInfo, _old: Pod | None, added: Pod) -> bool:
    key = group_key(pod.pod)
    return key is not None and key == group_key(added)


def _is_its_group(
    pod: PodInfo, old: CoschedulingPodGroup | None, new: CoschedulingPodGroup
) -> bool:
    if group_key(pod.pod) != new.metadata.key:
        return False
    return old is None or old.spec != new.spec or old.status.succeeded != new.status.succeeded


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"

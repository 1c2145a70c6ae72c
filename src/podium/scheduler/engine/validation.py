"""`--validate`: after every transition, look at the whole state and see whether it can be.

Between two transitions (`state.py`) everything has to add up: the table is what its pods make
it, no pod is lost or in two places, nothing is held for a pod that is gone. The check is a pure
function of the state; a `StateValidator` runs it where transitions end and names the one that broke
it.
"""

from collections import Counter
from collections.abc import Iterator

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.audit import Audit
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo, uid_of
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.queue.queue import SchedulingQueue
from podium.scheduler.engine.state import EngineState


class InvariantBroken(AssertionError):
    """The state cannot be: a bug. `transition` is the call that led there, `pod` whom it served."""

    def __init__(self, transition: str, pod: str, broken: list[str]) -> None:
        self.transition = transition
        self.pod = pod
        self.broken = broken
        whose = f" of {pod}" if pod else ""
        super().__init__(f"after {transition}{whose}: {'; '.join(broken)}")


def check(state: EngineState, audit: Audit | None = None) -> list[str]:
    """Broken invariants, one sentence each; an empty list when all is well."""
    audit = audit or Audit(state.cluster)
    return [
        *audit.find_violations(),
        *_queue(state.queue),
        *_queued_pods(state),
        *_pending_pods(state),
        *_placed_pods(state),
        *_flights(state),
        *_nominations(state),
    ]


class StateValidator:
    """Checks one engine's state, and remembers of the cluster what that takes."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._audit = Audit(state.cluster)

    def check(self, transition: str, *about: object) -> None:
        """Raises InvariantBroken."""
        broken = check(self._state, self._audit)
        if broken:
            raise InvariantBroken(transition, _whose(*about), broken)


def _whose(*things: object) -> str:
    """The key of the first pod that a call was about."""
    for thing in things:
        match thing:
            case Pod():
                return object_key(thing.metadata)
            case PodInfo():
                return thing.key
            case Binding():
                return thing.cycle.pod.key
        decision = getattr(thing, "decision", None)
        if decision is not None:
            return str(decision.pod.key)
    return ""


# the queue


def _queue(queue: SchedulingQueue) -> Iterator[str]:
    """Each pod in one part, and each part with the pods that belong there."""
    parts = queue.parts()
    backing_off = [*parts.backoff, *parts.error_backoff]
    everyone = [*parts.active, *backing_off, *parts.unschedulable, *parts.gated]
    for key, count in Counter(queued.info.key for queued in everyone).items():
        if count > 1:
            yield f"pod {key} is in {count} parts of the queue"
    for queued in everyone:
        if queue.get(queued.info.key) is not queued:
            yield f"pod {queued.info.key} is queued under another key"
    for queued in (*parts.active, *backing_off):
        if queued.gating_plugin:
            yield f"pod {queued.info.key} may run although {queued.gating_plugin} holds it back"
    for queued in (*parts.backoff, *parts.unschedulable):
        if not (queued.rejectors or queued.pending):
            yield f"pod {queued.info.key} waits as if a plugin had rejected it"
    for queued in parts.error_backoff:
        if queued.rejectors or queued.pending:
            yield f"pod {queued.info.key} waits as if no plugin had rejected it"
    if not queue.pods_in_flight() and queue.events_in_flight:
        yield f"{queue.events_in_flight} events are kept for nobody in flight"


def _queued_pods(state: EngineState) -> Iterator[str]:
    """Who is queued is pending, ours, and nowhere else."""
    for queued in state.queue:
        info = queued.info
        current = state.pods.get(info.key)
        if current is None:
            yield f"pod {info.key} is queued and does not exist"
        elif current is not info.pod:
            yield f"pod {info.key} is queued with an object that is not the current one"
        elif current.spec.node_name:
            yield f"pod {info.key} is queued and on a node"
        elif not state.responsible(current):
            yield f"pod {info.key} is queued and not ours"
        if info.uid in state.cluster.placements:
            yield f"pod {info.key} is queued and holds a node"
        if state.queue.in_flight(info.uid):
            yield f"pod {info.key} is queued and in flight"


def _pending_pods(state: EngineState) -> Iterator[str]:
    """Nobody is lost: a pending pod of ours is queued, in flight, or has a node."""
    for key, pod in state.pods.items():
        if object_key(pod.metadata) != key:
            yield f"pod {object_key(pod.metadata)} is known as {key}"
        if pod.spec.node_name or not state.responsible(pod):
            continue
        if _is_going(pod):
            continue  # skipped for good once it was popped
        uid = uid_of(pod)
        if key not in state.queue and uid not in state.cluster.placements:
            yield f"pod {key} is lost"


def _is_going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


# nodes held


def _placed_pods(state: EngineState) -> Iterator[str]:
    """Pods in the table against the objects: confirmed ones are there, assumed ones pending."""
    names = state.cluster.nodes.names
    placements = state.cluster.placements
    for key, pod in state.pods.items():
        held = placements.get(uid_of(pod))
        if pod.spec.node_name and (held is None or held.assumed or held.info.pod is not pod):
            yield f"pod {key} is on node {pod.spec.node_name} and not in the table"
    for uid, held in placements.items():
        key, node_name = held.info.key, names[held.row]
        current = state.pods.get(key)
        if held.assumed:
            waiting = state.waiting.get(uid)
            ending = waiting is not None and waiting.outcome is not None
            pending = current is not None and uid_of(current) == uid
            if not pending and not ending:
                yield f"pod {key} is assumed on {node_name} and gone"
        elif current is None or current.spec.node_name != node_name:
            yield f"pod {key} is in the table on {node_name}, where it is not"


def _flights(state: EngineState) -> Iterator[str]:
    """Bindings under way, those that wait at Permit, and the queue's list of pods in flight."""
    for uid, flight in state.flights.items():
        info = flight.binding.cycle.pod
        if info.uid != uid or flight.queued.info.uid != uid:
            yield f"the binding of {info.key} is kept under the UID {uid}"
        current = state.pods.get(info.key)
        stays = current is not None and info.is_about(current) and not _is_going(current)
        if stays and uid not in state.cluster.placements:
            yield f"pod {info.key} is being bound and holds no node"
        if flight.started and state.waiting.get(uid) is not None:
            yield f"pod {info.key} waits at Permit and is being bound"
        if not flight.started and state.waiting.get(uid) is None:
            yield f"pod {info.key} holds a node and neither waits nor is being bound"
    for waiting in state.waiting:
        if waiting.info.uid not in state.flights:
            yield f"pod {waiting.info.key} waits at Permit without a binding"
    not_done = {uid for uid, flight in state.flights.items() if not flight.started}
    in_flight = set(state.queue.pods_in_flight())
    if in_flight != not_done:
        yield f"in flight are {in_flight}, but being tried are {not_done}"


def _nominations(state: EngineState) -> Iterator[str]:
    """Who is nominated is pending: queued with the same object, or on the way out."""
    for info, node_name in state.cluster.nominator:
        current = state.pods.get(info.key)
        if current is None or not info.is_about(current) or current.spec.node_name:
            yield f"pod {info.key} is nominated to {node_name} and not pending"
            continue
        queued = state.queue.get(info.key)
        if info.uid in state.cluster.placements:
            yield f"pod {info.key} is nominated to {node_name} and holds a node"
        elif not _is_going(current) and (queued is None or queued.info.pod is not info.pod):
            yield f"pod {info.key} is nominated to {node_name} with an object nobody has queued"

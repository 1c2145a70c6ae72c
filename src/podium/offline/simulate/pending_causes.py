"""Why pods have no node at the end of a run, worked out when somebody reads it.

A run may end with thousands of pods without a node. Those of one template have one cause, so the
filters are asked once for each shape of pod, on the cluster as the run left it; of the attempts
themselves only what no filter can say again is kept.
"""

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodShape
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes import find_causes, find_filter_causes, find_waiting_cause
from podium.scheduler.framework.explanations.filter_examination import examine_filters


class PendingCauses:
    """The causes of pods without a node, by key of the pod."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._attempts: dict[str, Decision] = {}
        self._by_shape: dict[PodShape, tuple[Cause, ...]] = {}

    def note_attempt(self, decision: Decision) -> None:
        """Keep what the last attempt for a pod ended with, without its arrays."""
        if decision.bound is not None:
            self._attempts.pop(decision.pod.key, None)
            return
        self._attempts[decision.pod.key] = Decision(
            decision.pod,
            decision.profile,
            (),
            message=decision.message,
            is_error=decision.is_error,
            refused_by=decision.refused_by,
            chosen=decision.chosen,
            dropped=decision.dropped,
        )

    def forget_attempt(self, key: str) -> None:
        """A pod is gone."""
        self._attempts.pop(key, None)

    def forget(self) -> None:
        """Look again at what was found, since the cluster has changed."""
        self._by_shape.clear()

    def of(self, pod: Pod, key: str) -> tuple[Cause, ...]:
        """Why a pod has no node, the cause that matters most first."""
        decision = self._attempts.get(key)
        if decision is None:
            waiting = find_waiting_cause(self._engine, pod)
            return (waiting,) if waiting is not None else ()
        if decision.refused_by is None and not decision.is_error and not decision.dropped:
            causes = self._of_shape(pod)
            if causes:
                return causes
        return find_causes(self._engine, decision)

    def _of_shape(self, pod: Pod) -> tuple[Cause, ...]:
        # A nomination is the pod's own and would be looked at before anything else.
        info = self._engine.cluster.infos.of(
            replace(pod, status=replace(pod.status, nominated_node_name=""))
        )
        if info.shape not in self._by_shape:
            profile = self._engine.profile_of(pod)
            examination = examine_filters(profile, self._engine.cluster, info)
            self._by_shape[info.shape] = find_filter_causes(self._engine, info, examination)
        return self._by_shape[info.shape]

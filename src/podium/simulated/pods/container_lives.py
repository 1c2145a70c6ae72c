"""The life of one container, and what each of its runs does.

The first restart comes at once, the next after 10 seconds, and each pause is twice as long as the
one before, up to five minutes; a container that has run for ten minutes begins anew
(`pkg/kubelet/kuberuntime`, doBackOff). Images that cannot be pulled keep it from starting.

What each run of a container does: its program, its variables, its files and its probes. A program
is read once, when its container starts, because what it finds on its disks then decides what it
does. Probes are asked at their times: a command by what it would say, everything else always
answers well (`pkg/kubelet/prober/worker.go`).
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import sooner
from podium.kubernetes.controllers.pods import (
    Container,
    ContainerState,
    ContainerStatus,
    EndedState,
    EnvVar,
    Pod,
    Probe,
    RunningState,
    WaitingState,
)
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.programs.recognition import (
    ContainerFiles,
    Disks,
    Mount,
    SimulatedProgram,
    recognise,
)

_TICK_S: Final = 1e-6
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_MAP_ENTRY: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class Probed(NamedTuple):
    """What the probes of a running container have come to."""

    started: bool = True
    ready: bool = True
    failed: bool = False
    """Whether it has to be stopped."""
    wait_s: float | None = None
    """When the next answer is due."""


UNPROBED: Final = Probed()


@dataclass(slots=True)
class _Course:
    """The answers of one probe so far."""

    next_s: float
    passes: bool | None = None
    successes: int = 0
    failures: int = 0

    def note(self, probe: Probe, *, success: bool) -> None:
        self.successes = self.successes + 1 if success else 0
        self.failures = 0 if success else self.failures + 1
        if self.successes >= max(probe.success_threshold, 1):
            self.passes = True
        if self.failures >= max(probe.failure_threshold, 1):
            self.passes = False


class ContainerRuns:
    """Keeps what runs have done to disks, and how far their probes are, until a pod is gone."""

    def __init__(self) -> None:
        self._disks = Disks()
        self._programs: defaultdict[str, dict[tuple[str, int], SimulatedProgram | None]] = (
            defaultdict(dict)
        )
        self._courses: defaultdict[str, dict[tuple[str, int, str], _Course]] = defaultdict(dict)

    def forget(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        self._disks.forget(uid)
        self._programs.pop(uid, None)
        self._courses.pop(uid, None)

    def program(
        self, pod: Pod, container: Container, run: int, begun_s: float
    ) -> SimulatedProgram | None:
        """What a run does, the same whenever it is asked; None if that is not known."""
        known = self._programs[pod.metadata.uid]
        if (container.name, run) not in known:
            words = (*(container.command or ()), *(container.args or ()))
            known[container.name, run] = self._recognise(pod, container, run, words, begun_s)
        return known[container.name, run]

    def probe(
        self, pod: Pod, container: Container, run: int, begun_s: float, now_s: float
    ) -> Probed:
        wait_s = None
        if container.startup_probe is not None:
            course = self._follow(pod, container, run, "startup", begun_s, now_s)
            if not course.passes:
                left_s = course.next_s - now_s
                return Probed(False, False, course.passes is False, left_s)
            # upstream: a container that has started is not asked again.
            course.next_s = math.inf
        alive = self._follow(pod, container, run, "liveness", begun_s, now_s)
        ready = self._follow(pod, container, run, "readiness", begun_s, now_s)
        next_s = min(alive.next_s, ready.next_s)
        if next_s < math.inf:
            wait_s = next_s - now_s
        is_ready = container.readiness_probe is None or bool(ready.passes)
        return Probed(True, is_ready, alive.passes is False, wait_s)

    def _follow(
        self, pod: Pod, container: Container, run: int, kind: str, begun_s: float, now_s: float
    ) -> _Course:
        """Ask a probe as often as it was due by now."""
        probe: Probe | None = getattr(container, f"{kind}_probe")
        if probe is None:
            return _Course(math.inf)
        courses = self._courses[pod.metadata.uid]
        course = courses.get((container.name, run, kind))
        if course is None:
            first_s = max(begun_s + probe.initial_delay_seconds, now_s if run else begun_s)
            course = courses[container.name, run, kind] = _Course(first_s)
        while course.next_s <= now_s + _TICK_S:
            success, is_steady = self._ask(pod, container, run, probe, course.next_s)
            course.note(probe, success=success)
            course.next_s += max(probe.period_seconds, 1)
            if is_steady and course.passes is success:
                course.next_s = math.inf
        return course

    def _ask(
        self, pod: Pod, container: Container, run: int, probe: Probe, at_s: float
    ) -> tuple[bool, bool]:
        """Whether a probe succeeds, and whether it always will."""
        if probe.exec is None:
            return True, True
        program = self._recognise(pod, container, run, probe.exec.command or (), at_s)
        if program is None:
            return True, True
        in_time = program.seconds is not None and program.seconds <= probe.timeout_seconds
        return in_time and not program.exit_code, not program.reads_files

    def _recognise(
        self, pod: Pod, container: Container, run: int, words: Sequence[str], at_s: float
    ) -> SimulatedProgram | None:
        if not words:
            return None
        variables = variables_of(pod, container)
        told = [_REFERENCE.sub(lambda found: variables.get(found[1], found[0]), w) for w in words]
        own = self._disks.of(pod.metadata.uid, container.name, run)
        files = ContainerFiles(own, self._mounts(pod, container), at_s)
        return recognise(told, variables, files)

    def _mounts(self, pod: Pod, container: Container) -> tuple[Mount, ...]:
        volumes = {volume.name: volume for volume in pod.spec.volumes or ()}
        mounts = []
        for mount in container.volume_mounts or ():
            volume = volumes.get(mount.name)
            if volume is None:
                continue
            if volume.host_path is not None:
                disk = self._disks.of("nodes", pod.spec.node_name, volume.host_path.path)
            elif volume.persistent_volume_claim is not None:
                claim = volume.persistent_volume_claim.claim_name
                disk = self._disks.of("claims", pod.namespace, claim)
            else:
                disk = self._disks.of(pod.metadata.uid, volume.name)
            below = f"/{mount.sub_path}" if mount.sub_path else ""
            mounts.append(Mount(mount.mount_path, disk, below))
        return tuple(mounts)


def variables_of(pod: Pod, container: Container) -> dict[str, str]:
    """The variables that can be worked out; those from elsewhere are left out."""
    found = {"HOSTNAME": pod.spec.hostname or pod.name}
    for each in container.env or ():
        value = _value(pod, each)
        if value is not None:
            found[each.name] = _REFERENCE.sub(lambda ref: found.get(ref[1], ref[0]), value)
    return found


def _value(pod: Pod, variable: EnvVar) -> str | None:
    if variable.value_from is None:
        return variable.value
    path = (variable.value_from.get("fieldRef") or {}).get("fieldPath") or ""
    entry = _MAP_ENTRY.fullmatch(path)
    if entry is not None:
        label = pod.metadata.label(entry[2])
        return label if entry[1] == "labels" else pod.metadata.annotation(entry[2])
    return {
        "metadata.name": pod.name,
        "metadata.namespace": pod.namespace,
        "metadata.uid": pod.metadata.uid,
        "spec.nodeName": pod.spec.node_name,
        "status.podIP": pod.status.pod_ip,
    }.get(path)


FIRST_PAUSE_S: Final = 10.0
MAX_PAUSE_S: Final = 300.0
_FORGOTTEN_AFTER_S: Final = 2 * MAX_PAUSE_S
PULL_FAILED: Final = "ErrImagePull"
PULL_PAUSED: Final = "ImagePullBackOff"
CRASH_PAUSED: Final = "CrashLoopBackOff"
KILLED: Final = 137
"""The exit code of what is killed."""
_MAX_STEPS: Final = 8
"""More than a program that ends at once needs to come to its first pause."""


@dataclass(frozen=True, slots=True)
class Life:
    """Where a container is, and after how long that changes by itself."""

    status: ContainerStatus
    wait_s: float | None = None
    probed: Probed = UNPROBED

    @property
    def state(self) -> ContainerState:
        return self.status.state or ContainerState()

    @property
    def is_running(self) -> bool:
        return self.state.running is not None

    @property
    def is_started(self) -> bool:
        return self.is_running and self.probed.started

    @property
    def is_ready(self) -> bool:
        return self.is_running and self.probed.ready

    @property
    def ended(self) -> EndedState | None:
        return self.state.terminated

    @property
    def has_ended_before(self) -> bool:
        """Whether it waits to be started again."""
        last = self.status.last_state
        return self.state.waiting is not None and last is not None and last.terminated is not None


def make_waiting(container: Container, known: ContainerStatus | None, reason: str) -> Life:
    """A container whose turn has not come."""
    if known is not None and known.state is not None and known.state.waiting is None:
        return Life(known)
    state = ContainerState(waiting=WaitingState(reason=reason))
    return Life(ContainerStatus(name=container.name, state=state))


def stop_life(life: Life, moment: Moment, exit_code: int = 0) -> Life:
    """A container that was told to end and did."""
    if life.state.running is None:
        return life
    return Life(_with(life.status, terminated=_end(life.state.running, exit_code, moment)))


@dataclass(frozen=True, slots=True)
class Course:
    """What is known of a container beforehand."""

    pod: Pod
    container: Container
    runs: ContainerRuns
    otherwise: SimulatedProgram
    """What it does if its command is not known."""
    restarts: tuple[bool, bool]
    """After success, and after failure."""
    pull_problem: str = ""
    annotated: SimulatedProgram | None = None
    """What it does whatever its command."""

    def program(self, run: int, begun_s: float) -> SimulatedProgram:
        if self.annotated is not None:
            return self.annotated
        found = self.runs.program(self.pod, self.container, run, begun_s)
        return self.otherwise if found is None else found


def live(course: Course, known: ContainerStatus | None, moment: Moment) -> Life:
    """How far a container has come by now."""
    pod, container = course.pod, course.container
    status = known or ContainerStatus(name=container.name)
    for _ in range(_MAX_STEPS):
        state = status.state or ContainerState()
        if state.running is not None:
            ran_s = moment.age_s(state.running.started_at or pod.status.start_time)
            run, begun_s = status.restart_count, moment.now_s - ran_s
            program = course.program(run, begun_s)
            exit_code = program.exit_code
            if program.seconds is None or ran_s < program.seconds - _TICK_S:
                probed = course.runs.probe(pod, container, run, begun_s, moment.now_s)
                if not probed.failed:
                    left_s = None if program.seconds is None else program.seconds - ran_s
                    return Life(status, sooner(left_s, probed.wait_s), probed)
                exit_code = KILLED
            status = _with(status, terminated=_end(state.running, exit_code, moment))
            continue
        ended = state.terminated or (status.last_state.terminated if status.last_state else None)
        if ended is None:
            if course.pull_problem:
                tried_s = moment.age_s(pod.status.start_time)
                return _fail_pull(container, course.pull_problem, tried_s)
            status = _start_status(status, moment)
            continue
        if state.terminated is not None and not course.restarts[bool(ended.exit_code)]:
            return Life(status)
        pause_s = _pause_s(status.restart_count, ended, moment)
        left_s = pause_s - moment.age_s(ended.finished_at)
        if left_s > _TICK_S:
            return Life(_pause_status(pod, container, status, ended, pause_s), left_s)
        status = _restart_status(status, ended, moment)
    return Life(status, 0.0)


def _pause_s(restarts: int, ended: EndedState, moment: Moment) -> float:
    ran_s = moment.age_s(ended.started_at) - moment.age_s(ended.finished_at)
    if not restarts or ran_s > _FORGOTTEN_AFTER_S:
        return 0.0
    return min(FIRST_PAUSE_S * 2.0 ** min(restarts - 1, 10), MAX_PAUSE_S)


def _end(running: RunningState, exit_code: int, moment: Moment) -> EndedState:
    return EndedState(
        exit_code=exit_code,
        reason="Error" if exit_code else "Completed",
        started_at=running.started_at,
        finished_at=moment.timestamp,
    )


def _with(status: ContainerStatus, *, terminated: EndedState) -> ContainerStatus:
    return ContainerStatus(
        name=status.name,
        restart_count=status.restart_count,
        state=ContainerState(terminated=terminated),
        last_state=status.last_state,
    )


def _start_status(status: ContainerStatus, moment: Moment) -> ContainerStatus:
    state = ContainerState(running=RunningState(started_at=moment.timestamp))
    return ContainerStatus(name=status.name, restart_count=status.restart_count, state=state)


def _restart_status(status: ContainerStatus, ended: EndedState, moment: Moment) -> ContainerStatus:
    return ContainerStatus(
        name=status.name,
        restart_count=status.restart_count + 1,
        state=ContainerState(running=RunningState(started_at=moment.timestamp)),
        last_state=ContainerState(terminated=ended),
    )


def _pause_status(
    pod: Pod, container: Container, status: ContainerStatus, ended: EndedState, pause_s: float
) -> ContainerStatus:
    told = f"{pause_s:.0f}s" if pause_s < 60 else f"{pause_s // 60:.0f}m{pause_s % 60:.0f}s"
    whose = f"{pod.name}_{pod.namespace}({pod.metadata.uid})"
    message = f"back-off {told} restarting failed container={container.name} pod={whose}"
    return ContainerStatus(
        name=status.name,
        restart_count=status.restart_count,
        state=ContainerState(waiting=WaitingState(reason=CRASH_PAUSED, message=message)),
        last_state=ContainerState(terminated=ended),
    )


def _fail_pull(container: Container, problem: str, tried_s: float) -> Life:
    """First the error, then the pause in which nobody tries again."""
    left_s = FIRST_PAUSE_S - tried_s
    if left_s > _TICK_S:
        told = WaitingState(reason=PULL_FAILED, message=problem)
    else:
        message = f'Back-off pulling image "{container.image}": {PULL_FAILED}: {problem}'
        told = WaitingState(reason=PULL_PAUSED, message=message)
    status = ContainerStatus(name=container.name, state=ContainerState(waiting=told))
    return Life(status, left_s if left_s > _TICK_S else None)


def is_written(life: Life, known: ContainerStatus | None, *, is_ready: bool) -> bool:
    """Whether a status says already where its container is."""
    if known is None:
        return False
    if known.ready is not None and (known.ready, bool(known.started)) != (
        is_ready,
        life.is_started,
    ):
        return False
    return _show_status(life.status) == _show_status(known)


def _show_status(status: ContainerStatus) -> object:
    states = (status.state or ContainerState(), status.last_state or ContainerState())
    return status.restart_count, [_plain(each) for each in states]


def write_status(container: Container, life: Life, *, ready: bool) -> JsonObject:
    """A container's status as the API has it."""
    status = life.status
    made: JsonObject = {
        "name": container.name,
        "image": container.image,
        "imageID": container.image,
        "ready": ready,
        "started": life.is_started,
        "restartCount": status.restart_count,
        "state": _plain(life.state),
    }
    last = _plain(status.last_state or ContainerState())
    if last:
        made["lastState"] = last
    return made


def _plain(state: ContainerState) -> JsonObject:
    if state.running is not None:
        return {"running": {"startedAt": state.running.started_at}}
    if state.terminated is not None:
        end = state.terminated
        times = {"startedAt": end.started_at, "finishedAt": end.finished_at}
        told = {name: time for name, time in times.items() if time}
        return {"terminated": {"exitCode": end.exit_code, "reason": end.reason, **told}}
    if state.waiting is not None:
        pause = state.waiting
        return {"waiting": {"reason": pause.reason, **_message(pause.message)}}
    return {}


def _message(text: str) -> JsonObject:
    return {"message": text} if text else {}

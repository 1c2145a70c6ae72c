"""The lives of a pod's containers together, with their images, and how long things take.

A sidecar starts in its turn among the init containers, goes on beside the others, and ends after
them. Phase and conditions follow from where the containers are (`pkg/kubelet/kubelet_pods.go`,
getPhase; `pkg/kubelet/status/generate.go`).

What images do by themselves, and which cannot be pulled. Every image is there, but those that say
of themselves that they are not: by their tag, or by a registry under the top-level name that is
kept for this (RFC 6761).

>>> pull_problem("example.com/web:404")
'failed to resolve reference "example.com/web:404": example.com/web:404: not found'
>>> pull_problem("example.com/web:4.0.4")
''

How long things take, as people write it: `90`, `1.5`, `1m30s`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.durations import Duration
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import sooner
from podium.kubernetes.controllers.objects import changed_condition, condition_of
from podium.kubernetes.controllers.pods import Container, Pod
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.names import EXIT_CODE, IMAGE_PULL_ERROR, RESULT, RUN_SECONDS
from podium.simulated.pods.container_lives import (
    KILLED,
    ContainerRuns,
    Course,
    Life,
    is_written,
    live,
    make_waiting,
    stop_life,
    write_status,
)
from podium.simulated.programs.recognition import DONE, FOR_EVER, SimulatedProgram

_RESTARTS: Final = {"Never": (False, False), "OnFailure": (False, True)}
"""By the pod's policy: after success, and after failure."""
_ALWAYS: Final = (True, True)
_INITIALIZING: Final = "PodInitializing"
_DEADLINE_EXCEEDED: Final = (
    "DeadlineExceeded",
    "Pod was active on the node longer than the specified deadline",
)


@dataclass(frozen=True, slots=True)
class PodContainers:
    """Where a pod's containers stand by now."""

    pod: Pod
    init: tuple[Life, ...]
    main: tuple[Life, ...]
    is_initialized: bool
    has_failed_init: bool
    deadline_s: float | None = None
    """After how long it has been active for too long; 0: it has."""

    @property
    def is_late(self) -> bool:
        return self.deadline_s == 0.0

    @property
    def wait_s(self) -> float | None:
        return sooner(self.deadline_s, *(life.wait_s for life in (*self.init, *self.main)))

    @property
    def is_written(self) -> bool:
        """Whether the pod's status says all of this already."""
        status = self.pod.status
        known = {
            each.name: each
            for each in (
                *(status.init_container_statuses or ()),
                *(status.container_statuses or ()),
            )
        }
        return self.phase == status.phase and all(
            is_written(life, known.get(life.status.name), is_ready=is_ready)
            for life, is_ready in self._readiness
        )

    @property
    def _readiness(self) -> list[tuple[Life, bool]]:
        init = zip(self.pod.spec.init_containers or (), self.init, strict=True)
        initial = [(life, _is_init_ready(container, life)) for container, life in init]
        return [*initial, *((life, life.is_ready) for life in self.main)]

    @property
    def phase(self) -> str:
        if self.has_failed_init or self.is_late:
            return "Failed"
        if not self.is_initialized:
            return "Pending"
        policy = self.pod.spec.restart_policy or "Always"
        if any(life.state.waiting and not life.has_ended_before for life in self.main):
            return "Pending"
        if any(life.is_running for life in self.main):
            return "Running"
        ends = [life.ended for life in self.main]
        if policy == "Always" or any(end is None for end in ends):
            return "Running"
        if all(end is not None and not end.exit_code for end in ends):
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"

    @property
    def unready(self) -> list[str]:
        """The containers that are not ready; init containers other than sidecars do not count."""
        spec = self.pod.spec
        sidecars = [
            (container, life)
            for container, life in zip(spec.init_containers or (), self.init, strict=True)
            if container.is_sidecar
        ]
        main = zip(spec.containers or (), self.main, strict=True)
        return [container.name for container, life in (*sidecars, *main) if not life.is_ready]


def live_on(pod: Pod, moment: Moment, runs: ContainerRuns | None = None) -> PodContainers:
    """How far a pod has come by now; `runs` is what its containers have done so far."""
    runs = runs or ContainerRuns()
    policy = pod.spec.restart_policy or "Always"
    known = {each.name: each for each in pod.status.init_container_statuses or ()}
    init: list[Life] = []
    is_turn, has_failed = True, False
    for container in pod.spec.init_containers or ():
        status = known.get(container.name)
        if not is_turn:
            init.append(make_waiting(container, status, _INITIALIZING))
            continue
        otherwise = FOR_EVER if container.is_sidecar else DONE
        restarts = _ALWAYS if container.is_sidecar else (False, policy != "Never")
        problem = _pull_problem(pod, container)
        life = live(Course(pod, container, runs, otherwise, restarts, problem), status, moment)
        init.append(life)
        if container.is_sidecar:
            is_turn = life.is_started or life.has_ended_before
        else:
            is_turn = life.ended is not None and not life.ended.exit_code
            has_failed = policy == "Never" and life.ended is not None and not is_turn
    main = _main_containers(pod, runs, moment, is_turn=is_turn)
    if _are_through(pod, main):
        init = [stop_life(life, moment) for life in init]
    deadline_s = _deadline_s(pod, moment)
    if deadline_s == 0.0:
        init, main = ([stop_life(life, moment, KILLED) for life in each] for each in (init, main))
    return PodContainers(pod, tuple(init), tuple(main), is_turn, has_failed, deadline_s)


def _deadline_s(pod: Pod, moment: Moment) -> float | None:
    allowed_s = pod.spec.active_deadline_seconds
    if allowed_s is None:
        return None
    return max(allowed_s - moment.age_s(pod.status.start_time), 0.0)


def _pull_problem(pod: Pod, container: Container) -> str:
    return pod.metadata.annotation(IMAGE_PULL_ERROR) or pull_problem(container.image)


def _main_containers(pod: Pod, runs: ContainerRuns, moment: Moment, *, is_turn: bool) -> list[Life]:
    known = {each.name: each for each in pod.status.container_statuses or ()}
    restarts = _RESTARTS.get(pod.spec.restart_policy, _ALWAYS)
    annotated = _annotated_program(pod)
    lives = []
    for container in pod.spec.containers or ():
        status = known.get(container.name)
        if not is_turn:
            lives.append(make_waiting(container, status, _INITIALIZING))
            continue
        problem = _pull_problem(pod, container)
        is_awaited = restarts is not _ALWAYS and not container.command and not container.args
        otherwise = DONE if is_awaited and is_shell(container.image) else FOR_EVER
        course = Course(pod, container, runs, otherwise, restarts, problem, annotated)
        lives.append(live(course, status, moment))
    return lives


def _are_through(pod: Pod, main: Sequence[Life]) -> bool:
    """Whether nothing is left for which sidecars would go on."""
    success, failure = _RESTARTS.get(pod.spec.restart_policy, _ALWAYS)
    return all(
        life.ended is not None and not (failure if life.ended.exit_code else success)
        for life in main
    )


def _annotated_program(pod: Pod) -> SimulatedProgram | None:
    """What annotations say that the containers of a pod do."""
    seconds = seconds_of(pod.metadata.annotation(RUN_SECONDS) or "-")
    if seconds is None:
        return None
    if pod.metadata.annotation(RESULT) != "Failed":
        return SimulatedProgram(seconds)
    code = whole_number(pod.metadata.annotation(EXIT_CODE))
    return SimulatedProgram(seconds, 1 if code is None else code)


# --- what is written --------------------------------------------------------------------------


def closed_gate(pod: Pod) -> str:
    """Why the readiness gates of a pod keep it from being ready; empty if they do not."""
    problems = []
    for gate in pod.spec.readiness_gates or ():
        found = condition_of(pod.status.conditions, gate.condition_type)
        name = f'"{gate.condition_type}"'
        if found is None:
            problems.append(f"corresponding condition of pod readiness gate {name} does not exist.")
        elif found.status != "True":
            told = f'the status of pod readiness gate {name} is not "True", but {found.status}'
            problems.append(told)
    return ", ".join(problems)


def life_status(life: PodContainers, moment: Moment) -> JsonObject:
    """The status to merge into the pod's."""
    pod, phase = life.pod, life.phase
    spec = pod.spec
    status: JsonObject = {
        "phase": phase,
        "containerStatuses": [
            write_status(container, each, ready=each.is_ready)
            for container, each in zip(spec.containers or (), life.main, strict=True)
        ],
    }
    if spec.init_containers:
        status["initContainerStatuses"] = [
            write_status(container, each, ready=_is_init_ready(container, each))
            for container, each in zip(spec.init_containers, life.init, strict=True)
        ]
    conditions = [
        changed_condition(pod.status.conditions, moment, *each, lastProbeTime=None)
        for each in _conditions(life, phase)
    ]
    changed = [condition for condition in conditions if condition is not None]
    if changed:
        status["conditions"] = changed
    if life.is_late:
        status["reason"], status["message"] = _DEADLINE_EXCEEDED
    if phase == pod.status.phase:
        del status["phase"]
    return status


def _is_init_ready(container: Container, life: Life) -> bool:
    """upstream: what is not a sidecar is ready when it has ended well."""
    if container.is_sidecar:
        return life.is_ready
    return life.ended is not None and not life.ended.exit_code


def _conditions(life: PodContainers, phase: str) -> list[tuple[str, str, str, str]]:
    """Type, status, reason and message of each."""
    found = [("PodReadyToStartContainers", "True", "", "")]
    if phase in ("Succeeded", "Failed"):
        why = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        if phase == "Succeeded":
            found.append(("Initialized", "True", why, ""))
        return [*found, ("Ready", "False", why, ""), ("ContainersReady", "False", why, "")]
    if life.is_initialized:
        found.append(("Initialized", "True", "", ""))
    else:
        names = _incomplete(life)
        message = f"containers with incomplete status: [{' '.join(names)}]"
        found.append(("Initialized", "False", "ContainersNotInitialized", message))
    if life.unready:
        message = f"containers with unready status: [{' '.join(life.unready)}]"
        unready = ("False", "ContainersNotReady", message)
        return [*found, ("Ready", *unready), ("ContainersReady", *unready)]
    gate = closed_gate(life.pod)
    ready = ("False", "ReadinessGatesNotReady", gate) if gate else ("True", "", "")
    return [*found, ("Ready", *ready), ("ContainersReady", "True", "", "")]


def _incomplete(life: PodContainers) -> list[str]:
    return [
        container.name
        for container, each in zip(life.pod.spec.init_containers or (), life.init, strict=True)
        if not (each.is_started if container.is_sidecar else _is_init_ready(container, each))
    ]


_SHELLS: Final = frozenset({"busybox", "alpine", "debian", "ubuntu", "bash"})
"""Images that do nothing but run a shell, which has nothing to read and ends."""
_MISSING_TAGS: Final = frozenset({"404", "nonexistent", "non-existent"})


def is_shell(image: str) -> bool:
    """Whether an image without a command ends at once.

    >>> is_shell("registry.example.com:5000/library/busybox:1.36")
    True
    """
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0] in _SHELLS


def pull_problem(image: str) -> str:
    """Why an image cannot be pulled; empty if it can."""
    registry, _, rest = image.partition("/")
    _, _, tag = image.rpartition(":")
    host = registry.partition(":")[0]
    if rest and (host.endswith(".invalid") or host.startswith("invalid.")):
        return f'failed to resolve reference "{image}": dial tcp: lookup {host}: no such host'
    if tag in _MISSING_TAGS and tag != image:
        return f'failed to resolve reference "{image}": {image}: not found'
    return ""


def seconds_of(written: str) -> float | None:
    """Seconds; None for what is no duration, or a negative one."""
    try:
        seconds = float(written)
    except ValueError:
        try:
            seconds = Duration.parse(written).seconds
        except ValueError:
            return None
    return seconds if 0 <= seconds < float("inf") else None


def whole_number(written: str) -> int | None:
    """A number from 0 to 255, as exit codes are."""
    return int(written) if written.isdecimal() and int(written) < 256 else None

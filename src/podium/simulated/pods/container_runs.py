"""What each run of a container does: its program, its variables, its files and its probes.

A program is read once, when its container starts, because what it finds on its disks then decides
what it does. Probes are asked at their times: a command by what it would say, everything else
always answers well (`pkg/kubelet/prober/worker.go`).
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.kubernetes.controllers.pods import Container, EnvVar, Pod, Probe
from podium.simulated.programs.disks import ContainerFiles, Disks, Mount
from podium.simulated.programs.recognition import Program, recognise

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
        self._programs: defaultdict[str, dict[tuple[str, int], Program | None]] = defaultdict(dict)
        self._courses: defaultdict[str, dict[tuple[str, int, str], _Course]] = defaultdict(dict)

    def forget(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        self._disks.forget(uid)
        self._programs.pop(uid, None)
        self._courses.pop(uid, None)

    def program(self, pod: Pod, container: Container, run: int, begun_s: float) -> Program | None:
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
    ) -> Program | None:
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

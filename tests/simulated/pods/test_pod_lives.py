"""Init containers, sidecars, restarts: what becomes of a pod's containers in time."""

from typing import Any

import msgspec
from support.simulated.controller_objects import condition, moment, pod

from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.simulated.pods.container_lives import ContainerRuns
from podium.simulated.pods.kubelet_facts import find_facts, stop_s
from podium.simulated.pods.pod_lives import life_status, live_on


class Story:
    """A pod that goes from one change to the next, and what was written on the way."""

    def __init__(self, policy: str = "Always", **spec: Any) -> None:
        metadata = spec.pop("metadata", {})
        self.now_s = 0.0
        self.runs = ContainerRuns()
        self.pod: Pod = pod("web", "Pending", spec={"restartPolicy": policy, **spec}, **metadata)

    def step(self) -> str:
        """Write what is due now, then wait for what comes next; what was written, in short."""
        status = life_status(live_on(self.pod, moment(self.now_s), self.runs), moment(self.now_s))
        plain = msgspec.to_builtins(self.pod)
        conditions = {each["type"]: each for each in plain["status"].get("conditions", ())}
        conditions |= {each["type"]: each for each in status.get("conditions", ())}
        plain["status"] |= {**status, "conditions": list(conditions.values())}
        plain["status"].setdefault("startTime", moment(self.now_s).timestamp)
        self.pod = msgspec.convert(plain, Pod)
        told = f"{self.now_s:g} {self.pod.status.phase} {self._shown()}"
        wait_s = find_facts(
            self.pod, Node(), lambda: (), moment(self.now_s), runs=self.runs
        ).next_seconds
        self.now_s += wait_s or 0.0
        self.is_over = wait_s is None
        return told

    def _shown(self) -> str:
        statuses = (
            *(self.pod.status.init_container_statuses or ()),
            *(self.pod.status.container_statuses or ()),
        )
        found = []
        for each in statuses:
            assert each.state is not None
            if each.state.running:
                state = "runs"
            elif each.state.terminated:
                state = f"exit{each.state.terminated.exit_code}"
            else:
                state = each.state.waiting.reason if each.state.waiting else "?"
            is_main = each in (self.pod.status.container_statuses or ())
            if is_main and each.state.running and not each.ready:
                state = "unready"
            found.append(
                f"{each.name}:{state}" + (f"+{each.restart_count}" * bool(each.restart_count))
            )
        return " ".join(found)

    def steps(self, count: int) -> list[str]:
        return [self.step() for _ in range(count)]


def container(name: str, script: str = "", **more: Any) -> dict[str, Any]:
    command = {"command": ["sh", "-c", script]} if script else {}
    return {"name": name, "image": "busybox", **command, **more}


def test_init_containers_run_one_after_the_other() -> None:
    story = Story(
        initContainers=[container("one", "sleep 5"), container("two", "sleep 3")],
        containers=[container("main")],
    )
    assert story.steps(3) == [
        "0 Pending one:runs two:PodInitializing main:PodInitializing",
        "5 Pending one:exit0 two:runs main:PodInitializing",
        "8 Running one:exit0 two:exit0 main:runs",
    ]
    assert story.is_over
    assert story.pod.is_ready


def test_a_pod_whose_init_container_fails_never_starts() -> None:
    story = Story(
        "Never", initContainers=[container("one", "exit 2")], containers=[container("main")]
    )
    assert story.steps(1) == ["0 Failed one:exit2 main:PodInitializing"]
    again = Story(initContainers=[container("one", "exit 2")], containers=[container("main")])
    assert again.steps(2) == [
        "0 Pending one:CrashLoopBackOff+1 main:PodInitializing",
        "10 Pending one:CrashLoopBackOff+2 main:PodInitializing",
    ]


def test_sidecars_start_in_their_turn_and_end_after_the_others() -> None:
    story = Story(
        "Never",
        initContainers=[
            container("proxy", restartPolicy="Always"),
            container("setup", "sleep 2"),
        ],
        containers=[container("main", "sleep 4")],
    )
    assert story.steps(3) == [
        "0 Pending proxy:runs setup:runs main:PodInitializing",
        "2 Running proxy:runs setup:exit0 main:runs",
        "6 Succeeded proxy:exit0 setup:exit0 main:exit0",
    ]


def test_pauses_between_restarts_grow() -> None:
    story = Story(containers=[container("main", "sleep 1; exit 1")])
    assert story.steps(8) == [
        "0 Running main:runs",
        "1 Running main:runs+1",
        "2 Running main:CrashLoopBackOff+1",
        "12 Running main:runs+2",
        "13 Running main:CrashLoopBackOff+2",
        "33 Running main:runs+3",
        "34 Running main:CrashLoopBackOff+3",
        "74 Running main:runs+4",
    ]
    for _ in range(12):
        story.step()
    begun = story.now_s
    story.steps(2)
    assert story.now_s - begun == 301, "five minutes at most, and a second of running"


def test_the_policy_says_what_is_restarted() -> None:
    story = Story("OnFailure", containers=[container("main", "true"), container("more", "false")])
    assert story.step() == "0 Running main:exit0 more:CrashLoopBackOff+1"
    story = Story("Never", containers=[container("main", "true"), container("more", "false")])
    assert story.step() == "0 Failed main:exit0 more:exit1"
    story = Story("OnFailure", containers=[container("main", "sleep 3")])
    assert story.steps(2) == ["0 Running main:runs", "3 Succeeded main:exit0"]


def test_a_container_that_waits_to_be_restarted_is_not_ready() -> None:
    story = Story(containers=[container("main", "false"), container("more")])
    story.step()
    found = {each.type: each for each in story.pod.status.conditions or ()}
    assert (found["Ready"].status, found["Ready"].reason) == ("False", "ContainersNotReady")
    assert found["Ready"].message == "containers with unready status: [main]"
    last = (story.pod.status.container_statuses or ())[0].last_state
    assert last is not None
    assert last.terminated is not None
    assert last.terminated.exit_code == 1


def test_images_that_cannot_be_pulled_keep_containers_waiting() -> None:
    annotations = {"podium.dev/image-pull-error": "not found"}
    story = Story(containers=[container("main")], metadata={"annotations": annotations})
    assert story.steps(2) == ["0 Pending main:ErrImagePull", "10 Pending main:ImagePullBackOff"]
    state = (story.pod.status.container_statuses or ())[0].state
    assert state is not None
    assert state.waiting is not None
    assert state.waiting.message == 'Back-off pulling image "busybox": ErrImagePull: not found'
    plain = msgspec.to_builtins(story.pod)
    plain["metadata"]["annotations"] = {}
    story.pod = msgspec.convert(plain, Pod)
    assert story.step() == "10 Running main:runs"


def test_readiness_gates_keep_a_pod_from_being_ready() -> None:
    story = Story(containers=[container("main")], readinessGates=[{"conditionType": "lb"}])
    story.step()
    ready = next(each for each in story.pod.status.conditions or () if each.type == "Ready")
    assert (ready.status, ready.reason) == ("False", "ReadinessGatesNotReady")
    assert ready.message == 'corresponding condition of pod readiness gate "lb" does not exist.'
    assert find_facts(story.pod, Node(), lambda: (), moment()).ready == "False"
    plain = msgspec.to_builtins(story.pod)
    plain["status"]["conditions"] = [*plain["status"]["conditions"], condition("lb")]
    opened = msgspec.convert(plain, Pod)
    assert find_facts(opened, Node(), lambda: (), moment()).ready == "True"


def test_stopping_takes_hooks_and_containers_within_the_grace_period() -> None:
    hook = {"preStop": {"sleep": {"seconds": 8}}}

    def stopping(grace_s: int, **annotations: str) -> float:
        notes = {f"podium.dev/{key}": value for key, value in annotations.items()}
        metadata: Any = {"deletionGracePeriodSeconds": grace_s, "annotations": notes}
        spec = {"containers": [container("main", lifecycle=hook)]}
        return stop_s(pod("web", spec=spec, **metadata))

    assert stopping(30) == 9
    assert stopping(5) == 5
    assert stopping(30, **{"stop-seconds": "3"}) == 11
    assert stopping(30, **{"stop-seconds": "1h"}) == 30


def probe(script: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"command": ["sh", "-c", script]}, "periodSeconds": 5, **more}


def test_a_container_is_ready_when_its_readiness_probe_says_so() -> None:
    story = Story(
        containers=[
            container(
                "main",
                "sleep 12; touch /tmp/ready; sleep 10; rm /tmp/ready; sleep infinity",
                readinessProbe=probe("cat /tmp/ready", failureThreshold=1),
            )
        ]
    )
    told = story.steps(7)
    assert told[0] == "0 Running main:unready"
    up = [each for each in told if "runs" in each]
    assert up == ["15 Running main:runs", "20 Running main:runs"]
    assert told[5] == "25 Running main:unready"


def test_a_container_whose_liveness_probe_fails_is_killed_and_started_again() -> None:
    script = "touch /tmp/healthy; sleep 7; rm /tmp/healthy; sleep 600"
    story = Story(
        containers=[
            container("main", script, livenessProbe=probe("cat /tmp/healthy", failureThreshold=2))
        ]
    )
    told = story.steps(4)
    assert told[3] == "15 Running main:runs+1"
    last = (story.pod.status.container_statuses or ())[0].last_state
    assert last is not None
    assert last.terminated is not None
    assert last.terminated.exit_code == 137


def test_nothing_else_is_probed_before_the_startup_probe_has_succeeded() -> None:
    story = Story(
        containers=[
            container(
                "main",
                "sleep 12; touch /tmp/up; sleep infinity",
                startupProbe=probe("cat /tmp/up", failureThreshold=9),
                livenessProbe=probe("cat /tmp/up", failureThreshold=1),
            )
        ]
    )
    assert story.steps(4) == [
        "0 Running main:unready",
        "5 Running main:unready",
        "10 Running main:unready",
        "15 Running main:runs",
    ]


def test_probes_over_the_network_succeed_after_their_delay() -> None:
    http = {"httpGet": {"path": "/", "port": 80}, "initialDelaySeconds": 20}
    story = Story(containers=[container("main", readinessProbe=http)])
    assert story.steps(2) == ["0 Running main:unready", "20 Running main:runs"]
    assert story.is_over


def test_what_a_program_left_on_a_volume_is_there_when_it_runs_again() -> None:
    script = "if [[ -r /data/foo ]]; then exit 0; else touch /data/foo; exit 1; fi"
    mount = {"name": "data", "mountPath": "/data"}
    story = Story(
        "OnFailure",
        containers=[container("main", script, volumeMounts=[mount])],
        volumes=[{"name": "data", "emptyDir": {}}],
    )
    assert story.step() == "0 Succeeded main:exit0+1"


def test_programs_read_the_variables_of_their_container() -> None:
    index = {"fieldRef": {"fieldPath": "metadata.labels['index']"}}
    env = [{"name": "INDEX", "valueFrom": index}, {"name": "CODE", "value": "$(INDEX)"}]
    story = Story(
        "Never",
        metadata={"labels": {"index": "4"}},
        containers=[container("main", "exit $CODE", env=env)],
    )
    assert story.step() == "0 Failed main:exit4"


def test_a_pod_that_is_active_for_too_long_fails() -> None:
    story = Story(containers=[container("main")], activeDeadlineSeconds=30)
    assert story.steps(2) == ["0 Running main:runs", "30 Failed main:exit137"]
    assert story.pod.status.reason == "DeadlineExceeded"


def test_images_that_say_that_they_are_not_there_are_not() -> None:
    missing = Story(containers=[container("main") | {"image": "example.com/web:404"}])
    assert missing.step() == "0 Pending main:ErrImagePull"
    nowhere = Story(containers=[container("main") | {"image": "registry.invalid/web:1"}])
    assert nowhere.step() == "0 Pending main:ErrImagePull"


def test_a_hook_takes_as_long_as_its_command() -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "sleep 4"]}}}
    spec = {"containers": [container("main", lifecycle=hook)]}
    assert stop_s(pod("web", spec=spec, deletionGracePeriodSeconds=30)) == 5
    endless = {"preStop": {"exec": {"command": ["sleep", "infinity"]}}}
    spec = {"containers": [container("main", lifecycle=endless)]}
    assert stop_s(pod("web", spec=spec, deletionGracePeriodSeconds=30)) == 30


def test_a_shell_without_a_command_ends_where_a_pod_waits_for_that() -> None:
    shell = {"name": "main", "image": "registry.example.com/busybox:1.37"}
    assert Story("Never", containers=[shell]).step() == "0 Succeeded main:exit0"
    assert Story("Always", containers=[shell]).step() == "0 Running main:runs"

"""Logs of simulated pods: what is shown, and what kubelets refuse in which words."""

from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Answer, Api, Json

STARTED, ENDED = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
RUNNING = {"running": {"startedAt": STARTED}}
TERMINATED = {
    "terminated": {"exitCode": 3, "reason": "Error", "startedAt": STARTED, "finishedAt": ENDED}
}
LINES = [
    'Container image "nginx:1.27" already present on machine',
    "Started container main, which is simulated: no program runs in it",
]
END = "Container main ended: Error, exit code 3"


def with_pod(state: Json | None = None, *, node: str = "n", **status: Any) -> Api:
    api = Api()
    api.create_pod("p", **({"nodeName": node} if node else {}))
    if state is not None:
        set_state(api, state, **status)
    return api


def set_state(api: Api, state: Json, **status: Any) -> None:
    fields = {"name": "main", "image": "nginx:1.27", "imageID": "", "ready": False}
    written = {**fields, "restartCount": 0, "state": state, **status}
    api.patch(f"{PODS}/p/status", {"status": {"containerStatuses": [written]}})


def log(api: Api, query: str = "") -> Answer:
    return api.ask("GET", f"{PODS}/p/log?{query}")


def lines(api: Api, query: str = "") -> list[str]:
    answer = log(api, query)
    assert (answer.status, answer.content_type) == (200, "text/plain")
    return answer.text.decode().splitlines()


def test_a_container_that_runs_says_that_it_was_started() -> None:
    assert lines(with_pod(RUNNING)) == LINES
    assert lines(with_pod(RUNNING), "container=main") == LINES


def test_a_container_that_has_ended_says_how() -> None:
    assert lines(with_pod(TERMINATED)) == [*LINES, END]
    assert lines(with_pod(TERMINATED), "follow=true") == [*LINES, END]


def test_lines_are_dated_and_chosen() -> None:
    api = with_pod(TERMINATED)
    dated = lines(api, "timestamps=true&tailLines=1")
    assert dated == [f"2026-01-01T00:00:09.000000000Z {END}"]
    assert lines(api, "tailLines=0") == []
    assert lines(api, "tailLines=99") == [*LINES, END]
    assert lines(api, "sinceTime=2026-01-01T00:00:05Z") == [END]
    assert log(api, "limitBytes=9").text == b"Container"
    api.clock.advance(10_000_000)
    assert lines(api, "sinceSeconds=5") == []


def test_the_run_before_the_present_one_is_shown_if_there_was_one() -> None:
    api = with_pod(RUNNING, restartCount=1, lastState=TERMINATED)
    assert lines(api) == LINES
    assert lines(api, "previous=true") == [*LINES, END]
    crashed = {"waiting": {"reason": "CrashLoopBackOff"}}
    assert lines(with_pod(crashed, lastState=TERMINATED)) == [*LINES, END]


@pytest.mark.parametrize(
    ("state", "query", "problem"),
    [
        (None, "", 'container "main" in pod "p" is waiting to start: ContainerCreating'),
        (
            {"waiting": {"reason": "PodInitializing"}},
            "",
            'container "main" in pod "p" is waiting to start: PodInitializing',
        ),
        (
            {"waiting": {"reason": "ErrImagePull"}},
            "",
            'container "main" in pod "p" is waiting to start: image can\'t be pulled',
        ),
        (
            {"waiting": {"reason": "ImagePullBackOff"}},
            "follow=true",
            'container "main" in pod "p" is waiting to start: trying and failing to pull image',
        ),
        (RUNNING, "previous=1", 'previous terminated container "main" in pod "p" not found'),
        (RUNNING, "container=x", "container x is not valid for pod p"),
        (RUNNING, "tailLines=x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        (RUNNING, "sinceTime=x", 'parsing time "x" as RFC 3339: cannot be read'),
    ],
)
def test_a_log_that_is_not_there_is_refused(state: Json | None, query: str, problem: str) -> None:
    answer = log(with_pod(state), query)
    assert (answer.status, answer.body["reason"], answer.message) == (400, "BadRequest", problem)


def test_the_container_has_to_be_named_where_there_are_several() -> None:
    api = Api()
    two = [{"name": name, "image": "i"} for name in ("a", "b")]
    api.create_pod("p", containers=two, nodeName="n")
    assert log(api).message == (
        "a container name must be specified for pod p, choose one of: [a b]"
    )
    first = [{"name": "first", "image": "i"}]
    api.create(
        PODS,
        {
            "metadata": {"name": "q"},
            "spec": {"containers": two, "initContainers": first},
        },
    )
    assert api.ask("GET", f"{PODS}/q/log").message == (
        "a container name must be specified for pod q, choose one of: [a b]"
        " or one of the init containers: [first]"
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
        (
            "sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z",
            ": Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
    ],
)
def test_options_that_make_no_sense_are_invalid(query: str, problem: str) -> None:
    answer = log(with_pod(RUNNING), query)
    assert answer.status == 422
    assert answer.message == f'PodLogOptions "p" is invalid: {problem}'


def test_a_pod_without_a_node_has_no_log_and_one_that_is_not_there_is_not_found() -> None:
    assert log(with_pod(node="")).status == 204
    assert Api().ask("GET", f"{PODS}/p/log").status == 404

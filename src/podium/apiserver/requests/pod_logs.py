"""What `kubectl logs` shows of a simulated pod: when its containers started and how they ended.

No program runs, so there is nothing that one could have printed. The lines are made from the pod's
status and say what a kubelet did; who reads a log for its lines, `-f`, `--tail`, `--previous` or
`--timestamps` gets them as from a real one. Refusals are those of kube-apiserver (`LogLocation` in
`pkg/registry/core/pod`) and of kubelets (`validateContainerLogStatus` in `pkg/kubelet`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.apiserver.requests import query
from podium.apiserver.requests.query import Parameters
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.rules.field_errors import FieldError, forbidden, invalid
from podium.kubernetes.rules.timestamps import seconds_of

_STATUSES: Final = (
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
)
_WAITING: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}
_CREATING: Final = "ContainerCreating"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The parameters of a request for a log."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since_s: float | None = None
    """Seconds since 1970 from which on lines are shown."""
    tail_lines: int | None = None
    limit_bytes: int | None = None


class LogLine(NamedTuple):
    at: str
    """As the pod's status writes it."""
    text: str


@dataclass(frozen=True, slots=True)
class ContainerLog:
    """The log of one run of a container."""

    restarts: int
    """Of the container so far, which is how runs are told from each other."""
    lines: tuple[LogLine, ...]
    is_over: bool


def read_log_options(parameters: Parameters, pod_name: str, now_s: float) -> LogOptions:
    """Raises StatusError."""
    tail, limit = query.integer(parameters, "tailLines"), query.integer(parameters, "limitBytes")
    since_s, since = query.integer(parameters, "sinceSeconds"), query.text(parameters, "sinceTime")
    problems: list[FieldError] = []
    if tail is not None and tail < 0:
        problems.append(invalid("tailLines", tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        problems.append(invalid("limitBytes", limit, "must be greater than 0"))
    if since and since_s is not None:
        told = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        problems.append(forbidden("", told))
    elif since_s is not None and since_s < 1:
        problems.append(invalid("sinceSeconds", since_s, "must be greater than 0"))
    if problems:
        raise status_errors.invalid("", "PodLogOptions", pod_name, problems)
    return LogOptions(
        query.text(parameters, "container"),
        query.flag(parameters, "follow") or False,
        query.flag(parameters, "previous") or False,
        query.flag(parameters, "timestamps") or False,
        _since(since) if since else None if since_s is None else now_s - since_s,
        tail,
        limit,
    )


def _since(written: str) -> float:
    try:
        return seconds_of(written)
    except ValueError:
        told = f"parsing time {go_quote(written)} as RFC 3339: cannot be read"
        raise status_errors.bad_request(told) from None


def choose_container(pod: JsonObject, wanted: str) -> str:
    """The container whose log is meant. Raises StatusError."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    names = [each["name"] for each in spec.get("containers") or ()]
    first = [each["name"] for each in spec.get("initContainers") or ()]
    added = [each["name"] for each in spec.get("ephemeralContainers") or ()]
    if wanted:
        if wanted in (*names, *first, *added):
            return wanted
        raise status_errors.bad_request(f"container {wanted} is not valid for pod {name}")
    if len(names) == 1:
        return str(names[0])
    told = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    if first:
        told += f" or one of the init containers: [{' '.join(first)}]"
    raise status_errors.bad_request(told)


def find_log(pod: JsonObject, container: str, *, previous: bool) -> ContainerLog:
    """The log of the present run of a container, or of the one before. Raises StatusError."""
    named = f"container {go_quote(container)} in pod {go_quote(pod['metadata']['name'])}"
    status = _status_of(pod, container)
    state, last = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
    if previous:
        if not last:
            raise status_errors.bad_request(f"previous terminated {named} not found")
        return _log(status, last, is_over=True)
    if state.get("running"):
        return _log(status, state["running"], is_over=False)
    ended = state.get("terminated") or last
    if ended:
        return _log(status, ended, is_over=True)
    reason = (state.get("waiting") or {}).get("reason") or _CREATING
    raise status_errors.bad_request(f"{named} is waiting to start: {_WAITING.get(reason, reason)}")


def _status_of(pod: JsonObject, container: str) -> JsonObject:
    found = (each for field in _STATUSES for each in (pod.get("status") or {}).get(field) or ())
    return next((each for each in found if each["name"] == container), {})


def _log(status: JsonObject, state: JsonObject, *, is_over: bool) -> ContainerLog:
    # What ended without a start, because its image never came say, ended when it began.
    started = state.get("startedAt") or state.get("finishedAt") or ""
    name, image = status["name"], status.get("image") or ""
    lines = [
        LogLine(started, f"Container image {go_quote(image)} already present on machine"),
        LogLine(started, f"Started container {name}, which is simulated: no program runs in it"),
    ]
    if "exitCode" in state:
        reason = state.get("reason") or "Completed"
        told = f"Container {name} ended: {reason}, exit code {state['exitCode']}"
        lines.append(LogLine(state.get("finishedAt") or started, told))
    return ContainerLog(status.get("restartCount") or 0, tuple(lines), is_over)


def write_lines(lines: tuple[LogLine, ...], options: LogOptions) -> Iterator[bytes]:
    """The first lines that a request asks for."""
    since_s, tail = options.since_s, options.tail_lines
    shown = [each for each in lines if since_s is None or not each.at or _at_s(each) >= since_s]
    if tail is not None:
        shown = shown[max(len(shown) - tail, 0) :]
    return (write_line(each, options) for each in shown)


def write_line(line: LogLine, options: LogOptions) -> bytes:
    text = f"{line.text}\n"
    if options.timestamps:
        # upstream: nanoseconds are always written
        text = f"{line.at.removesuffix('Z')}.000000000Z {text}"
    return text.encode()


def _at_s(line: LogLine) -> float:
    return seconds_of(line.at)

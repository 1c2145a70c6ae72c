"""What a stage writes into a pod's status, in full.

Conditions keep the time of their last change unless their status changes. Statuses of containers
are written for all of them at once, since the API replaces the list; restarts go on counting.
"""

from collections.abc import Iterable

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.conditions import changed_condition
from podium.kubernetes.controllers.pods import Container, ContainerStatus, Pod
from podium.kubernetes.rules.moment import Moment
from podium.simulated.pods.container_lives import ContainerRuns
from podium.simulated.pods.kubelet_facts import FieldPath, plain
from podium.simulated.pods.pod_lives import life_status, live_on, whole_number
from podium.simulated.pods.stages import ContainerChange, Effect


def status_after(
    effect: Effect,
    pod: Pod,
    values: JsonObject,
    moment: Moment,
    *,
    host_ip: str,
    pod_ip: str,
    runs: ContainerRuns | None = None,
) -> JsonObject:
    """The status to merge into the pod's; `values` is what paths lead into, `runs` is what
    containers have done so far."""
    status: JsonObject = {}
    lives_on = effect.containers is not None and effect.containers.state == "next"
    if lives_on:
        status |= life_status(live_on(pod, moment, runs), moment)
    if effect.phase:
        status["phase"] = effect.phase
    reason = _told(effect.reason_from, values) or effect.reason
    message = _told(effect.message_from, values) or effect.message
    if reason or message:
        status["reason"], status["message"] = reason, message
    conditions = [
        changed_condition(
            pod.status.conditions,
            moment,
            change.type,
            change.status,
            change.reason,
            change.message,
            lastProbeTime=None,
        )
        for change in effect.conditions
    ]
    changed = [condition for condition in conditions if condition is not None]
    if changed:
        status["conditions"] = [*status.get("conditions", ()), *changed]
    if effect.containers is not None and not lives_on:
        status |= _containers(effect.containers, pod, moment)
    if (effect.phase == "Running" or lives_on) and not pod.status.start_time:
        status["startTime"] = moment.timestamp
        status |= _addresses(host_ip, host_ip if pod.spec.host_network else pod_ip)
    return status


def _told(path: FieldPath | None, values: JsonObject) -> str:
    return str(path.of(values) or "") if path is not None else ""


def _addresses(host_ip: str, pod_ip: str) -> JsonObject:
    found: JsonObject = {}
    if host_ip:
        found |= {"hostIP": host_ip, "hostIPs": [{"ip": host_ip}]}
    if pod_ip:
        found |= {"podIP": pod_ip, "podIPs": [{"ip": pod_ip}]}
    return found


def _containers(change: ContainerChange, pod: Pod, moment: Moment) -> JsonObject:
    known = {status.name: status for status in pod.status.container_statuses or ()}
    exit_code = change.exit_code
    if change.exit_code_from is not None:
        read = whole_number(str(change.exit_code_from.of(plain(pod)) or ""))
        exit_code = change.exit_code if read is None else read
    state = _state(change, exit_code, moment)
    found: JsonObject = {
        "containerStatuses": [
            _status(container, known.get(container.name), state, change, moment)
            for container in pod.spec.containers or ()
        ]
    }
    if pod.spec.init_containers:
        found["initContainerStatuses"] = _init_containers(
            pod.spec.init_containers, state, change, moment
        )
    return found


def _state(change: ContainerChange, exit_code: int, moment: Moment) -> JsonObject:
    match change.state:
        case "running":
            return {"running": {"startedAt": moment.timestamp}}
        case "terminated":
            ended = {"exitCode": exit_code, "reason": change.reason or "Completed"}
            return {"terminated": {**ended, "finishedAt": moment.timestamp}}
        case _:
            return {"waiting": {"reason": change.reason or "ContainerCreating"}}


def _status(
    container: Container,
    known: ContainerStatus | None,
    state: JsonObject,
    change: ContainerChange,
    moment: Moment,
) -> JsonObject:
    status: JsonObject = {
        "name": container.name,
        "image": container.image,
        "imageID": container.image,
        "ready": change.ready,
        "started": change.state == "running",
        "restartCount": known.restart_count if known else 0,
        "state": state,
    }
    began = (
        known.state.running.started_at if known and known.state and known.state.running else None
    )
    if change.state == "terminated" and began:
        status["state"] = {"terminated": {**state["terminated"], "startedAt": began}}
    if change.restarted:
        status["restartCount"] += 1
        last = {"exitCode": 0, "reason": "Completed", "finishedAt": moment.timestamp}
        status["lastState"] = {"terminated": last | ({"startedAt": began} if began else {})}
    return status


def _init_containers(
    containers: Iterable[Container], state: JsonObject, change: ContainerChange, moment: Moment
) -> list[JsonObject]:
    """Those that are to go on share the state of the others; the rest are through with it."""
    done = {"exitCode": 0, "reason": "Completed", "finishedAt": moment.timestamp}
    made = []
    for container in containers:
        stays = container.is_sidecar
        waits = change.state == "waiting"
        made.append(
            {
                "name": container.name,
                "image": container.image,
                "imageID": container.image,
                "ready": change.ready if stays else not waits,
                "started": stays and change.state == "running",
                "restartCount": 0,
                "state": state if stays or waits else {"terminated": done},
            }
        )
    return made

"""The pod that somebody means: by its name, the beginning of its name, or its workload.

Written as kubectl takes it: `web-0`, `shop/web-0`, `pod/web-0`, `deployment/web`, `sts/db`, with
kubectl's short names for kinds. A workload stands for one of its pods: one that waits, else one
that runs. A name is tried as it stands first, then as a beginning; what fits several pods that are
not all of one workload is an error that lists them. Without a namespace the current one is looked
in first, then all others.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from podium.golang.errors import InputError, closest, did_you_mean
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ReplicaSet
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.missing_pods import refuse_missing, refuse_without_pods
from podium.offline.simulate.report import PodResult, SimulationReport
from podium.offline.simulate.scenario import Scenario

MAX_CANDIDATES: Final = 10
_MAX_NAMES: Final = 5
_POD: Final = "Pod"
_KINDS: Final[dict[str, str]] = {
    alias: kind
    for kind, aliases in {
        _POD: "po pod pods",
        "Deployment": "deploy deployment deployments",
        "StatefulSet": "sts statefulset statefulsets",
        "DaemonSet": "ds daemonset daemonsets",
        "ReplicaSet": "rs replicaset replicasets",
        "ReplicationController": "rc replicationcontroller replicationcontrollers",
        "Job": "job jobs",
    }.items()
    for alias in aliases.split()
}


class FoundPod(NamedTuple):
    """A pod, and what to say about the choice, if there was one."""

    pod: Pod
    note: str = ""


def find_pod(
    scenario: Scenario,
    reference: str,
    namespace: str = "",
    current_namespace: str = "",
    gates: FeatureGates | None = None,
) -> FoundPod:
    """`namespace` is the only one to look in, `current_namespace` the first; `gates` are those of
    the API server. Raises InputError, and PodsRefusedError where pods are missing because they
    cannot be created."""
    kind, written, name = read_reference(reference)
    within = written or namespace
    if written and namespace and written != namespace:
        raise InputError(f"{reference} is not in namespace {namespace}", remedy="leave one out")
    pods = [
        pod
        for pod in (*scenario.pending, *scenario.running)
        if not within or pod.metadata.namespace == within
    ]
    if kind != _POD:
        gates = gates or FeatureGates()
        return _of_workload(scenario, pods, kind, name, within, current_namespace, gates)
    found = _by_name(pods, name, current_namespace, deployments_of(scenario))
    if found is not None:
        return found
    where = f" in namespace {within}" if within else ""
    known = [_key(pod) for pod in pods] if written else [pod.metadata.name for pod in pods]
    guess = closest(f"{written}/{name}" if written else name, known)
    remedy = did_you_mean(guess) or _list_names(known)
    named = reference if written or not where else f"{name}{where}"
    raise InputError(f"no pod named {named} in the input", remedy=remedy)


def read_reference(reference: str) -> tuple[str, str, str]:
    """(kind, namespace, name); a word in front of a slash that is no kind is a namespace."""
    before, slash, name = reference.rpartition("/")
    namespace, _, kind = before.rpartition("/")
    if not slash:
        return _POD, "", name
    if kind.lower() in _KINDS and name:
        return _KINDS[kind.lower()], namespace, name
    if namespace:
        kinds = ", ".join(dict.fromkeys(_KINDS.values()))
        raise InputError(
            f'"{kind}" is no kind of workload', path=reference, remedy=f"there are {kinds}"
        )
    return _POD, kind, name


def _by_name(
    pods: Sequence[Pod],
    name: str,
    current_namespace: str,
    deployments: dict[tuple[str, str], str],
) -> FoundPod | None:
    """Raises InputError if it may be several, unless they are all of one workload."""
    exactly = [pod for pod in pods if pod.metadata.name == name]
    beginning = [pod for pod in pods if pod.metadata.name.startswith(name)] if name else []
    for found, how in ((exactly, "are named"), (beginning, "begin with")):
        here = [pod for pod in found if pod.metadata.namespace == current_namespace] or found
        if len(here) == 1:
            return FoundPod(here[0])
        owners = {(pod.metadata.namespace, *_owner(pod, deployments)) for pod in here}
        if len(owners) == 1 and all(pod.metadata.controller is not None for pod in here):
            ((_, kind, owner),) = owners
            return _one_of(here, f"{kind.lower()}/{owner}")
        if found:
            raise _ambiguous(here, f"{how} {name}")
    return None


def _owner(pod: Pod, deployments: dict[tuple[str, str], str]) -> tuple[str, str]:
    """Kind and name of the workload that a pod is of, a Deployment before its ReplicaSet."""
    above = owner_of(pod, "Deployment", deployments)
    controller = pod.metadata.controller
    if above or controller is None:
        return "Deployment", above
    return controller.kind, controller.name


def _ambiguous(pods: Sequence[Pod], what: str) -> InputError:
    keys = sorted(_key(pod) for pod in pods)
    more = len(keys) - MAX_CANDIDATES
    listed = ", ".join(keys[:MAX_CANDIDATES]) + (f" and {more} more" if more > 0 else "")
    return InputError(f"{len(keys)} pods {what}", remedy=f"say which: {listed}")


def names_workload(reference: str) -> bool:
    return read_reference(reference)[0] != _POD


def choose_result(report: SimulationReport, pod: Pod, *, of_workload: bool) -> PodResult:
    """The result of a pod; of its workload that of the first pod that gets no node, if any."""
    own = next(result for result in report.pods if result.pod.metadata.key == pod.metadata.key)
    if not of_workload or not own.placed:
        return own
    controller, namespace = pod.metadata.controller, pod.metadata.namespace
    for result in report.pods:
        metadata = result.pod.metadata
        is_own = (metadata.namespace, metadata.controller) == (namespace, controller)
        if is_own and not result.placed:
            return result
    return own


# --- workloads --------------------------------------------------------------------------------


def _of_workload(
    scenario: Scenario,
    pods: Iterable[Pod],
    kind: str,
    name: str,
    within: str,
    current_namespace: str,
    gates: FeatureGates,
) -> FoundPod:
    deployments = deployments_of(scenario) if kind == "Deployment" else {}
    owned: dict[str, list[Pod]] = {}
    known: set[str] = set()
    for pod in pods:
        owner = owner_of(pod, kind, deployments)
        known.add(owner)
        if owner == name:
            owned.setdefault(pod.metadata.namespace, []).append(pod)
    what = f"{kind.lower()}/{name}"
    if all(pod.spec.node_name for found in owned.values() for pod in found):
        only = within or (current_namespace if current_namespace in owned else "")
        refuse_missing(scenario, gates, kind, name, only, owned)
    if not owned:
        refuse_without_pods(scenario, gates, kind, name, within)
        guess = did_you_mean(closest(name, sorted(known - {""})))
        raise InputError(f"no pod of {what} in the input", remedy=guess)
    if current_namespace in owned:
        owned = {current_namespace: owned[current_namespace]}
    if len(owned) > 1:
        where = ", ".join(f"-n {namespace}" for namespace in sorted(owned))
        raise InputError(f"there is a {what} in several namespaces", remedy=f"say which: {where}")
    (found,) = owned.values()
    return _one_of(found, what)


def _one_of(pods: Sequence[Pod], what: str) -> FoundPod:
    """A pod that stands for its workload: one that waits, else one that runs."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    chosen = (waiting or pods)[0]
    if not waiting:
        return FoundPod(chosen, f"no pod of {what} is pending; {_key(chosen)} runs")
    others = f", one of {len(waiting)} that are pending" if len(waiting) > 1 else ""
    return FoundPod(chosen, f"{_key(chosen)} of {what}{others}")


def owner_of(pod: Pod, kind: str, deployments: dict[tuple[str, str], str]) -> str:
    """The name of the workload of a kind that a pod belongs to, "" if it belongs to none."""
    controller = pod.metadata.controller
    if controller is None:
        return ""
    if controller.kind == kind:
        return controller.name
    if kind == "Deployment" and controller.kind == "ReplicaSet":
        key = (pod.metadata.namespace, controller.name)
        # Without the replica set its name has to do: the deployment's and a hash.
        return deployments.get(key, controller.name.rpartition("-")[0])
    return ""


def deployments_of(scenario: Scenario) -> dict[tuple[str, str], str]:
    """Replica sets by namespace and name -> the deployment of each, "" if it has none."""
    found: dict[tuple[str, str], str] = {}
    for obj in scenario.objects:
        if isinstance(obj, ReplicaSet):
            owner = obj.metadata.controller
            is_deployment = owner is not None and owner.kind == "Deployment"
            found[obj.metadata.key] = owner.name if owner is not None and is_deployment else ""
    return found


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _list_names(known: Sequence[str]) -> str:
    listed = ", ".join(sorted(known)[:_MAX_NAMES]) + (", ..." if len(known) > _MAX_NAMES else "")
    return f"there are {listed}" if known else "there are no pods at all"

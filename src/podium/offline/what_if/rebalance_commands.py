"""The commands that carry out one move, in a form that can be pasted as a whole.

The pod is evicted and not deleted, so that disruption budgets are respected. Each line that the
next one depends on waits: until the old pod is gone, until its successor has a node, until it is
ready. The successor of most controllers has a name that nobody knows yet, so it is recognised by
counting: the pods on the target with the labels of the template become one more. `kubectl wait`
cannot count, therefore that line is a loop of the shell. It does not end if the scheduler chooses
another node, which is right: the rest of the plan builds on this move.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.proposals.shell import Kubectl

TIMEOUT: Final = "10m"
"""How long a pod may take to end and to become ready."""
_OF_ONE_TEMPLATE: Final = (
    "pod-template-hash",
    "controller-revision-hash",
    "batch.kubernetes.io/controller-uid",
)
"""Labels by which controllers tell their pods from all others; one is enough."""
_OF_ONE_POD: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "statefulset.kubernetes.io/pod-name",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
"""Labels that the next pod of a template does not have, or has otherwise."""


@dataclass(frozen=True, slots=True)
class Successor:
    """How the pod is recognised that comes in the place of an evicted one: with its arrival `count`
    pods with these labels are on the target."""

    labels: tuple[tuple[str, str], ...] = ()
    count: int = 1
    keeps_name: bool = False


UNKNOWN: Final = Successor()


def expect_successor(engine: Engine, pod: Pod, target: str) -> Successor:
    """What will show that the successor of a pod has come to a node, as the cluster is now."""
    controller = pod.metadata.controller
    labels = _template_labels(pod.metadata.labels or {})
    nodes = engine.cluster.nodes
    there = sum(
        _is_like(info.pod, pod.metadata.namespace, labels)
        for info in engine.cluster.usage.pods(nodes.row(target))
    )
    keeps_name = controller is not None and controller.kind == "StatefulSet"
    return Successor(tuple(labels.items()), there + 1, keeps_name)


def _template_labels(labels: Mapping[str, str]) -> dict[str, str]:
    for key in _OF_ONE_TEMPLATE:
        if key in labels:
            return {key: labels[key]}
    return {key: value for key, value in sorted(labels.items()) if key not in _OF_ONE_POD}


def _is_like(pod: Pod, namespace: str, labels: Mapping[str, str]) -> bool:
    has = pod.metadata.labels or {}
    return (
        pod.metadata.namespace == namespace
        and not pod.metadata.is_terminating
        and all(has.get(key) == value for key, value in labels.items())
    )


def close_command(kubectl: Kubectl, nodes: Sequence[str]) -> str:
    return kubectl.run("cordon", *nodes)


def open_command(kubectl: Kubectl, nodes: Sequence[str]) -> str:
    return kubectl.run("uncordon", *nodes)


def evict_command(kubectl: Kubectl, pod: str) -> str:
    """kubectl has no verb for one eviction, so the request is written out."""
    namespace, _, name = pod.partition("/")
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    written = shlex.quote(json.dumps(body, separators=(",", ":")))
    create = shlex.join((*kubectl.words, "create", "--raw", path, "-f", "-"))
    return f"echo {written} | {create}"


def wait_until_gone(kubectl: Kubectl, pod: str) -> str:
    namespace, _, name = pod.partition("/")
    words = (*kubectl.words, "-n", namespace, "wait", "--for=delete", f"pod/{name}")
    return shlex.join((*words, f"--timeout={TIMEOUT}"))


def wait_until_placed(kubectl: Kubectl, namespace: str, target: str, successor: Successor) -> str:
    fields = f"spec.nodeName={target},status.phase!=Succeeded,status.phase!=Failed"
    words = [*kubectl.words, "-n", namespace, "get", "pods", *_label_option(successor)]
    listing = shlex.join([*words, f"--field-selector={fields}", "-o", "name"])
    return f'until test "$({listing} | wc -l)" -ge {successor.count}; do sleep 1; done'


def wait_until_ready(kubectl: Kubectl, namespace: str, target: str, successor: Successor) -> str:
    words = [*kubectl.words, "-n", namespace, "wait", "--for=condition=Ready", "pod"]
    which = [*_label_option(successor), f"--field-selector=spec.nodeName={target}"]
    return shlex.join([*words, *which, f"--timeout={TIMEOUT}"])


def wait_until_scheduled(kubectl: Kubectl, pod: str) -> str:
    namespace, _, name = pod.partition("/")
    words = [*kubectl.words, "-n", namespace, "wait", "--for=condition=PodScheduled", f"pod/{name}"]
    return shlex.join([*words, f"--timeout={TIMEOUT}"])


def _label_option(successor: Successor) -> list[str]:
    if not successor.labels:
        return []
    return ["-l", ",".join(f"{key}={value}" for key, value in successor.labels)]

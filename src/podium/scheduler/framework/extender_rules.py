"""Which extenders have a say about a pod, and in which order.

Configuration lists them for all profiles alike. Those whose errors count come first, those that may
be ignored after them; an extender that manages resources hears only of pods that mention one.

Sources: `IsInterested` in `pkg/scheduler/extender.go` and `buildExtenders` in
`pkg/scheduler/scheduler.go`.
"""

from collections.abc import Sequence
from itertools import chain

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.types import Extender

EXTENDER = "Extender"
"""The name under which all extenders together reject pods, as if they were one plugin."""

Extenders = tuple[Extender, ...]


def in_calling_order(extenders: Sequence[Extender]) -> Extenders:
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable))


def interested(extenders: Sequence[Extender], pod: Pod) -> Extenders:
    """Those that want to hear of a pod, order kept."""
    if not any(extender.managed_resources for extender in extenders):
        return tuple(extenders)
    mentioned = _mentioned(pod)
    return tuple(
        extender
        for extender in extenders
        if not extender.managed_resources
        or any(resource.name in mentioned for resource in extender.managed_resources)
    )


def _mentioned(pod: Pod) -> set[str]:
    """Resources that containers and init containers name, whatever the amount."""
    found: set[str] = set()
    for container in chain(pod.spec.containers or (), pod.spec.init_containers or ()):
        if container.resources is not None:
            found.update(container.resources.requests or ())
            found.update(container.resources.limits or ())
    return found

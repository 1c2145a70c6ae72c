"""Evicting pods one after the other, each when the one before it is gone."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from podium.client import Clock, KubeClient
from podium.client.api_errors import ApiError, NotFound
from podium.client.resources import PODS
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod

_LOOK_S: Final = 0.5
_MAX_WAIT_S: Final = 600.0


class EvictionStopped(Exception):
    """A pod could not be evicted, and those after it were left alone; the text says why."""


async def evict_in_turn(
    client: KubeClient,
    pods: Sequence[Pod],
    pause_s: float,
    clock: Clock,
    tell: Callable[[str], None],
) -> None:
    """Evict each of the pods, wait until it is gone, and then for a pause, so that its successor is
    placed before the next one leaves. Raises EvictionStopped and Unreachable."""
    for place, pod in enumerate(pods):
        if place:
            await clock.sleep(pause_s)
        name = f"{pod.namespace}/{pod.name}"
        try:
            await _evict(client, pod)
        except NotFound:
            tell(f"{name} is gone already")
            continue
        except ApiError as problem:
            raise EvictionStopped(f"{name} is not evicted: {problem}") from None
        tell(f"{name} evicted")
        await _wait_until_gone(client, pod, clock)


async def _evict(client: KubeClient, pod: Pod) -> None:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"preconditions": {"uid": pod.metadata.uid}},
    }
    await client.create(PODS, body, pod.namespace, name=pod.name, subresource="eviction")


async def _wait_until_gone(client: KubeClient, pod: Pod, clock: Clock) -> None:
    waited_s = 0.0
    while waited_s < _MAX_WAIT_S:
        try:
            found = msgspec.json.decode(
                await client.get(PODS, pod.name, pod.namespace), type=KubeObject
            )
        except NotFound:
            return
        if found.metadata.uid != pod.metadata.uid:
            return
        await clock.sleep(_LOOK_S)
        waited_s += _LOOK_S
    raise EvictionStopped(f"{pod.namespace}/{pod.name} does not go away")

"""Random requests for cards that have no dialect yet, and how dialects say them."""

from random import Random
from typing import Any, Final, NamedTuple

from support.addons.gpu.gpu_cluster import gpu_pod, share

from podium.kubernetes.kinds.pod import Pod

NAMESPACES: Final = ("free", "team-a", "team-b")
_POLICIES: Final = {
    "hami": ("hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy"),
    "vgpu-manager": ("nvidia.com/node-scheduler-policy", "nvidia.com/device-scheduler-policy"),
}
WHOLE: Final = 100


class Share(NamedTuple):
    """Of each of some cards; memory in MiB. With all cores the cards are a container's alone."""

    cards: int
    cores: int
    memory: int


class Request(NamedTuple):
    shares: tuple[Share, ...]
    namespace: str
    policies: tuple[str, str] | None = None
    """For nodes and for cards."""
    first: Share | None = None
    """What an init container has before the others start."""


def random_request(chances: Random, dialect: str, *, cards: int) -> Request:
    """Something that the dialect can say, of nodes with so many cards at most."""
    containers = 1 if dialect.startswith("gpushare") else chances.choice((1, 1, 1, 2))
    shares = tuple(_random_share(chances, dialect, cards) for _ in range(containers))
    if dialect not in _POLICIES:
        return Request(shares, chances.choice(NAMESPACES))
    policies = chances.choice(("binpack", "spread")), chances.choice(("binpack", "spread"))
    first = _random_share(chances, dialect, cards) if chances.random() < 0.2 else None
    return Request(shares, chances.choice(NAMESPACES), policies, first)


def _random_share(chances: Random, dialect: str, cards: int) -> Share:
    memory = 1024 * chances.randint(1, 12)
    if dialect.startswith("gpushare"):
        return Share(1, 0, memory)
    several = chances.choice((1, 1, 1, min(2, cards), cards))
    if chances.random() < 0.2:
        return Share(several, WHOLE, 16384)
    if dialect in _POLICIES:
        return Share(several, chances.choice((10, 25, 50, 60)), memory)
    return Share(1, chances.choice((10, 25, 50, 60)), memory)


def say(request: Request, name: str, dialect: str) -> Pod:
    """The pod that asks for it."""
    annotations = {}
    if request.policies is not None and dialect in _POLICIES:
        annotations = dict(zip(_POLICIES[dialect], request.policies, strict=True))
    limits = [_limits(dialect, each) for each in request.shares]
    fields: dict[str, Any] = {"namespace": request.namespace}
    if request.first is not None:
        resources = {"limits": _limits(dialect, request.first)}
        fields["initContainers"] = [{"name": "first", "resources": resources}]
    return gpu_pod(name, *limits, annotations=annotations, **fields)


def _limits(dialect: str, asked: Share) -> dict[str, str]:
    limits = share(dialect, asked.memory, asked.cores, asked.cards)
    for resource in ("tencent.com/vcuda-core", "nvidia.com/vcuda-core"):
        if resource in limits and asked.cores == WHOLE:
            limits[resource] = str(WHOLE * asked.cards)
    return limits

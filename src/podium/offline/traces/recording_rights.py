"""What a recording may read, found out before it begins; and the role that lets it read the rest.

Every resource is listed and watched for a moment, with nothing but `list` and `watch`: whoever may
not do one of them is told which right is missing instead of waiting for ever. Nodes and pods there
must be; what else cannot be read is left out and named.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from podium.client import KubeClient, ResourceType, Selection
from podium.client.api_errors import Forbidden, NotFound
from podium.client.clock import unwrap_errors
from podium.client.kube_client import EVERYTHING
from podium.client.snapshot import Unread
from podium.offline.simulate.read_kinds import REQUIRED

_AT_ONCE: Final = 4
_ONE: Final = (("limit", "1"),)
_VERBS: Final = ("list", "watch")
ROLE: Final = "podium-recorder"


@dataclass(slots=True)
class RecordingRights:
    """`readable` can be recorded; `unread` cannot, and why."""

    readable: list[ResourceType] = field(default_factory=list)
    unread: dict[ResourceType, Unread] = field(default_factory=dict)

    @property
    def forbidden(self) -> list[ResourceType]:
        return [each for each, why in self.unread.items() if why is Unread.FORBIDDEN]

    @property
    def missing(self) -> list[ResourceType]:
        """What cannot be read although there is no recording without it."""
        return [each for each in REQUIRED if each in self.unread]


async def find_rights(client: KubeClient, resources: Sequence[ResourceType]) -> RecordingRights:
    """Raises ApiError and Unreachable for what says nothing about rights."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def look(resource: ResourceType) -> Unread | None:
        async with turns:
            return await _try_reading(client, resource)

    with unwrap_errors(BaseException):
        async with asyncio.TaskGroup() as group:
            looks = [group.create_task(look(resource)) for resource in resources]
    rights = RecordingRights()
    for resource, looked in zip(resources, looks, strict=True):
        why = looked.result()
        if why is None:
            rights.readable.append(resource)
        else:
            rights.unread[resource] = why
    return rights


async def _try_reading(client: KubeClient, resource: ResourceType) -> Unread | None:
    try:
        page = await client.list_page(resource, EVERYTHING, _ONE)
        since = (("resourceVersion", page.resource_version), ("timeoutSeconds", "5"))
        async with client.watch(resource, Selection(), since):
            return None
    except Forbidden:
        return Unread.FORBIDDEN
    except NotFound:
        return Unread.NOT_SERVED


def cluster_role(resources: Iterable[ResourceType]) -> str:
    """A ClusterRole that lets these be recorded, and nothing else, as YAML."""
    lines = [
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        f"  name: {ROLE}",
        "rules:",
    ]
    in_order = sorted(resources, key=lambda each: (each.group, each.plural))
    for group, members in groupby(in_order, key=lambda each: each.group):
        lines += [
            f"- apiGroups: [{group or _quoted('')}]",
            f"  resources: [{', '.join(each.plural for each in members)}]",
            f"  verbs: [{', '.join(_VERBS)}]",
        ]
    return "\n".join(lines) + "\n"


def describe_unread(unread: Mapping[ResourceType, Unread]) -> str:
    """Resources by why they are not read: `forbidden: pods, nodes`."""
    return "; ".join(
        f"{why}: {', '.join(each.plural for each in unread if unread[each] is why)}"
        for why in Unread
        if why in unread.values()
    )


def _quoted(text: str) -> str:
    return f'"{text}"'

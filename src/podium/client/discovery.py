"""What a server serves: every kind with its verbs, in the version that the server prefers.

Only those ask for it who have to do with kinds that they do not know: deleting everything in a
namespace, or following owner references wherever they lead.
"""

import msgspec

from podium.client.api_errors import ApiError
from podium.client.kube_client import KubeClient
from podium.client.resources import ResourceType


class _Listed(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool = False
    verbs: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: tuple[_Listed, ...] | None = None


class _Version(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: tuple[_Version, ...] = ()
    preferred_version: _Version | None = None


class _GroupList(msgspec.Struct):
    groups: tuple[_Group, ...] | None = None


class Served(msgspec.Struct, frozen=True):
    """A kind, and what can be done with its objects."""

    resource: ResourceType
    verbs: frozenset[str]


async def discover(client: KubeClient) -> list[Served]:
    """Every kind that is served; a group that does not answer is left out.

    Raises ApiError and Unreachable.
    """
    groups = msgspec.json.decode(await client.request("GET", "/apis"), type=_GroupList)
    found = await served_in(client, "v1")
    for group in groups.groups or ():
        preferred = group.preferred_version or (group.versions[0] if group.versions else None)
        if preferred is None:
            continue
        try:
            found += await served_in(client, preferred.group_version)
        except ApiError:
            continue
    return found


async def served_in(client: KubeClient, api_version: str) -> list[Served]:
    """The kinds of one version, such as `v1` or `apps/v1`.

    Raises ApiError (NotFound if there is no such version) and Unreachable.
    """
    group, _, version = api_version.rpartition("/")
    path = f"/{'apis' if group else 'api'}/{api_version}"
    listed = msgspec.json.decode(await client.request("GET", path), type=_ResourceList)
    return [
        Served(
            ResourceType(group, version, each.name, each.kind, each.namespaced),
            frozenset(each.verbs),
        )
        for each in listed.resources or ()
        if "/" not in each.name
    ]

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

    def by_preference(self) -> list[str]:
        first = () if self.preferred_version is None else (self.preferred_version,)
        return list(dict.fromkeys(each.group_version for each in (*first, *self.versions)))


class _GroupList(msgspec.Struct):
    groups: tuple[_Group, ...] | None = None


class Served(msgspec.Struct, frozen=True):
    """A kind, and what can be done with its objects."""

    resource: ResourceType
    verbs: frozenset[str]


async def discover(client: KubeClient) -> list[Served]:
    """Every kind that is served, in the first version of its group that has it, beginning with the
    preferred one; a version that does not answer is left out.

    Raises ApiError and Unreachable.
    """
    groups = msgspec.json.decode(await client.request("GET", "/apis"), type=_GroupList)
    found = await served_in(client, "v1")
    for group in groups.groups or ():
        known: set[str] = set()
        for version in group.by_preference():
            try:
                served = await served_in(client, version)
            except ApiError:
                continue
            found += [each for each in served if each.resource.plural not in known]
            known.update(each.resource.plural for each in served)
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

"""A ConfigMap read from the API server before a scheduler starts, for a policy that is in one."""

import asyncio

import msgspec

from podium import __version__
from podium.client import KubeClient, ResourceType, Unreachable
from podium.client.api_errors import ApiError
from podium.client.connection import transport_for
from podium.golang.errors import InputError
from podium.scheduler.config.flags.client_settings import ClientSettings, StartRefused
from podium.scheduler.config.flags.precedence import ReadConfigMap

CONFIG_MAPS = ResourceType("", "v1", "configmaps", "ConfigMap")


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] | None = None


def config_map_reader(settings: ClientSettings, kubeconfig: str) -> ReadConfigMap:
    def read(namespace: str, name: str) -> dict[str, str]:
        try:
            found = asyncio.run(_fetch(settings, kubeconfig, namespace, name))
            return msgspec.json.decode(found, type=_ConfigMap).data or {}
        except (ApiError, Unreachable, InputError, msgspec.MsgspecError) as problem:
            raise StartRefused(str(problem)) from None

    return read


async def _fetch(settings: ClientSettings, kubeconfig: str, namespace: str, name: str) -> bytes:
    transport = transport_for(settings, user_agent=f"podium/{__version__}", kubeconfig=kubeconfig)
    try:
        return await KubeClient(transport).get(CONFIG_MAPS, name, namespace)
    finally:
        await transport.close()

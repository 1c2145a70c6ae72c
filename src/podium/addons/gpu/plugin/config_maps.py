"""ConfigMaps that the plugin reads: a few of known names, asked for again and again.

A watch would bring every ConfigMap of the cluster. The API server is asked as the user that the
scheduler is, every few seconds, as the programs do that this plugin stands in for.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import msgspec

from podium.client.connection import transport_for
from podium.client.transport import Request
from podium.plugin import ClientSettings, ValueSource

Data = Mapping[str, str]
ConfigMaps = Mapping[str, Data]
"""Data by the name of the ConfigMap."""

_OK: Final = 200
_NOT_FOUND: Final = 404


class NotAnswered(RuntimeError):
    """The API server gave no ConfigMap, for another reason than that there is none."""


class _Metadata(msgspec.Struct):
    name: str = ""


class _ConfigMap(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    data: dict[str, str] | None = None


class _ConfigMapList(msgspec.Struct):
    items: list[_ConfigMap] | None = None


class ConfigMapSource(ValueSource):
    """One ConfigMap of a namespace, or all whose names begin with a prefix."""

    max_age_s = 3600.0  # an API server that is away takes nothing back

    def __init__(
        self,
        settings: ClientSettings,
        namespace: str,
        name: str = "",
        *,
        prefix: str = "",
        refresh_every_s: float = 5.0,
    ) -> None:
        self.name = f"GPUShare ConfigMap {namespace}/{name or prefix + '*'}"
        self.settings = settings
        self.refresh_every_s = refresh_every_s
        self.one = name
        self.prefix = prefix
        self.path = f"/api/v1/namespaces/{quote(namespace, safe='')}/configmaps"
        if name:
            self.path += f"/{quote(name, safe='')}"

    async def fetch(self) -> object:
        return await self.ask()

    async def ask(self) -> ConfigMaps:
        """Raises NotAnswered, and what a request raises."""
        transport = transport_for(self.settings, user_agent="podium")
        try:
            reply = await transport.send(Request("GET", self.path), timeout_s=self.timeout_s)
        finally:
            await transport.close()
        if reply.status == _NOT_FOUND:
            return {}
        if reply.status != _OK:
            raise NotAnswered(f"{self.path} answered {reply.status}")
        if self.one:
            return {self.one: msgspec.json.decode(reply.body, type=_ConfigMap).data or {}}
        found = msgspec.json.decode(reply.body, type=_ConfigMapList).items or []
        return {
            each.metadata.name: each.data or {}
            for each in found
            if each.metadata.name.startswith(self.prefix)
        }

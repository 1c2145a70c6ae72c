"""ConfigMaps that the plugin reads: a few of known names, asked for again and again.

A watch would bring every ConfigMap of the cluster. The API server is asked as the user that the
scheduler is, every few seconds, as the programs do that this plugin stands in for.

What ConfigMaps say about the cards of nodes, in dialects whose agents write some. gpushare's agent
lists cards that are broken in one ConfigMap for each node.
"""

from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import quote

import msgspec

from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.dialects.dialect import Dialect
from podium.client.connection import transport_for
from podium.client.transport import Request
from podium.plugin import ClientSettings, Handle, ValueSource

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


REFRESH_EVERY_S: Final = 15.0


class NodeConfigMaps:
    def __init__(self, handle: Handle, dialect: Dialect) -> None:
        self._handle = handle
        self._dialect = dialect
        place = dialect.config_map_name("")
        settings = handle.client_settings
        self.source: ConfigMapSource | None = None
        if place is not None and settings is not None:
            namespace, prefix = place
            self.source = ConfigMapSource(
                settings, namespace, prefix=prefix, refresh_every_s=REFRESH_EVERY_S
            )
        self._prefix = "" if place is None else place[1]
        self._known: ConfigMaps = {}

    def read(self, node_name: str, cards: NodeCards) -> NodeCards:
        """The cards with what is known of them."""
        data: Data | None = self._known.get(self._prefix + node_name) if self._known else None
        return cards if data is None else self._dialect.read_config_map(cards, data)

    def take_changed(self) -> set[str]:
        """Nodes of which something else is said than the last time that somebody asked."""
        if self.source is None:
            return set()
        value = self._handle.sources.column(self.source.name).value
        known = cast("ConfigMaps", value) if value is not None else self._known
        if known is self._known:
            return set()
        before, self._known = self._known, known
        names = (name for name in {*before, *known} if before.get(name) != known.get(name))
        return {name.removeprefix(self._prefix) for name in names}

"""What ConfigMaps say about the cards of nodes, in dialects whose agents write some.

gpushare's agent lists cards that are broken in one ConfigMap for each node.
"""

from typing import Final, cast

from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.plugin.config_maps import ConfigMaps, ConfigMapSource, Data
from podium.plugin import Handle

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

"""What a configuration and ConfigMaps may say of GPUShare, and plugins that choose cards.

Plugins that say which card of a node a pod is to have a share of. GPUShare holds the cards and
knows which will do. Of several that will, a plugin beside it in the profile may prefer one, by the
same rule by which it scored the node.

ConfigMaps that the plugin reads: a few of known names, asked for again and again. A watch would
bring every ConfigMap of the cluster. The API server is asked as the user that the scheduler is,
every few seconds, as the programs do that this plugin stands in for.

What ConfigMaps say about the cards of nodes, in dialects whose agents write some. gpushare's agent
lists cards that are broken in one ConfigMap for each node.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, cast
from urllib.parse import quote

import msgspec

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL
from podium.addons.gpu.cards.requests import CardKey, NodePolicy, PodRequest
from podium.addons.gpu.dialects import UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.client.connection import transport_for
from podium.client.transport import Request
from podium.plugin import ArgumentsError, ClientSettings, Cycle, Handle, Plugin, Pod, ValueSource

NODE_POLICIES: Final = {policy.value: policy for policy in NodePolicy}
CARD_ORDERS: Final = {"binpack": (CardKey.FULLEST,), "spread": (CardKey.EMPTIEST,)}


class QuotaSettings(msgspec.Struct, frozen=True, rename="camel"):
    """Where the document `gpu_quota` is, and which labels have the models and pools of nodes."""

    file: str = ""
    config_map: str = ""
    model_label: str = MODEL_LABEL
    pool_label: str = POOL_LABEL


class GPUShareArgs(ArgsHeader, frozen=True, kw_only=True, rename="camel"):
    dialect: str = "hami"
    node_policy: Literal["none", "binpack", "spread", "free-cores", "most-free-cores"] | None = None
    card_policy: Literal["binpack", "spread"] | None = None
    resource_quota: bool = True
    quota: QuotaSettings | None = None
    grace_period_seconds: Annotated[int, msgspec.Meta(ge=1)] = 30
    node_lock: bool | None = None
    """Whether nodes are locked while pods are being bound, where the dialect has a lock; if nothing
    is said, where there is an API server, as elsewhere there is no agent to unlock them."""


def dialect_of(args: GPUShareArgs) -> Dialect:
    """Raises ArgumentsError for arguments that contradict each other, too."""
    try:
        dialect = find_dialect(args.dialect)
    except UnknownDialect as problem:
        raise ArgumentsError("args.dialect", str(problem)) from None
    if args.card_policy is not None and dialect.chooses_shared_card:
        raise ArgumentsError(
            "args.cardPolicy",
            f"the agent of {dialect.name} chooses shared cards by its own rule",
            "leave it out: pods would fail on the node",
        )
    quota = args.quota
    if quota is not None and bool(quota.file) == bool(quota.config_map):
        raise ArgumentsError("args.quota", "name either a file or a configMap")
    if quota is not None and quota.config_map and quota.config_map.count("/") != 1:
        raise ArgumentsError("args.quota.configMap", "right would be NAMESPACE/NAME")
    return dialect


def apply_policies(
    args: GPUShareArgs, dialect: Dialect, pod: Pod, request: PodRequest
) -> PodRequest:
    """The request with the cluster's policies, where the pod names none itself."""
    read = pod.metadata.annotation
    if args.node_policy is not None and not (
        dialect.node_policy_key and read(dialect.node_policy_key)
    ):
        policy = NODE_POLICIES[args.node_policy]
        request = msgspec.structs.replace(request, node_policy=policy)
    if args.card_policy is not None and not (
        dialect.card_policy_key and read(dialect.card_policy_key)
    ):
        order = CARD_ORDERS[args.card_policy]
        request = msgspec.structs.replace(request, card_order=order)
    return request


class CardChooser(Plugin):
    def choose_card(self, cycle: Cycle, row: int) -> int | None:
        """The index of the card on this row that goes before others; None to leave it open."""
        raise NotImplementedError


def find_chooser(handle: Handle) -> CardChooser | None:
    """The first of the profile, if it has one."""
    found = (each for each in handle.profile.plugins.values() if isinstance(each, CardChooser))
    return next(found, None)


def preferred_card(
    handle: Handle, dialect: Dialect, args: GPUShareArgs, cycle: Cycle, row: int
) -> int | None:
    """The index of a card, where neither the pod, the configuration nor the agent says which."""
    chooser = find_chooser(handle)
    if chooser is None or dialect.chooses_shared_card or args.card_policy is not None:
        return None
    named = dialect.card_policy_key
    if named and cycle.pod.pod.metadata.annotation(named):
        return None
    return chooser.choose_card(cycle, row)


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

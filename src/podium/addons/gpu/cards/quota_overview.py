"""What quotas leave of cards to namespaces: ResourceQuotas, and quotas by model and pool."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.quota import (
    CORES_OF_A_CARD,
    MODEL_LABEL,
    QUOTA_CONFIG_MAP,
    QUOTA_KEY,
    pod_cores,
    read_quotas,
)
from podium.addons.gpu.dialects.dialect import Dialect
from podium.kubernetes.kinds.admission_kinds import ResourceQuota
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

MODEL_LABELS: Final = (MODEL_LABEL, "tkestack.io/gpu-model")
_PREFIXES: Final = ("requests.", "limits.")


class QuotaView(Struct, frozen=True):
    """One limit of a ResourceQuota; `used` is empty where nobody has counted yet."""

    namespace: str
    name: str
    resource: str
    hard: str
    used: str = ""


class ModelQuotaView(Struct, frozen=True):
    """How many cards of a model a namespace may use, and what its pods use of them."""

    namespace: str
    model: str
    cards: int
    used_cores: int
    pools: tuple[str, ...] = ()

    @property
    def used_cards(self) -> float:
        return self.used_cores / CORES_OF_A_CARD


def view_quotas(resources: Sequence[str], quotas: Iterable[ResourceQuota]) -> list[QuotaView]:
    """The limits that quotas set to some resources."""
    found = []
    for quota in quotas:
        hard = quota.status.hard or quota.spec.hard or {}
        used = quota.status.used or {}
        for key, amount in sorted(hard.items()):
            resource = key
            for prefix in _PREFIXES:
                resource = resource.removeprefix(prefix)
            if resource in resources:
                view = QuotaView(quota.namespace, quota.name, key, str(amount), used.get(key, ""))
                found.append(view)
    return sorted(found, key=lambda each: (each.namespace, each.name, each.resource))


def view_model_quotas(
    dialect: Dialect, text: str, nodes: Iterable[Node], pods: Iterable[Pod]
) -> list[ModelQuotaView]:
    """Raises InvalidQuota."""
    models = {node.name: _model_of(node) for node in nodes}
    used: dict[tuple[str, str], int] = {}
    for pod in pods:
        model = models.get(pod.spec.node_name, "")
        if model:
            key = pod.namespace, model
            used[key] = used.get(key, 0) + pod_cores(dialect, pod)
    return [
        ModelQuotaView(namespace, model, cards, used.get((namespace, model), 0), quota.pool)
        for namespace, quota in sorted(read_quotas(text).items())
        for model, cards in sorted(quota.quota.items())
    ]


def quota_text(config_maps: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    return config_maps.get(QUOTA_CONFIG_MAP, {}).get(QUOTA_KEY, "")


def _model_of(node: Node) -> str:
    return next((text for key in MODEL_LABELS if (text := node.metadata.label(key))), "")

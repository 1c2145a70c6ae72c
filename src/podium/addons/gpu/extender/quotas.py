"""How many cards of which models a namespace may use, from a ConfigMap or a file.

A document that cannot be read is told and changes nothing. Without any, nobody is limited. What
counts as used is `podium.addons.gpu.cards.namespace_use`'s, reservations included: two calls at the
same time cannot both take what is left.
"""

import logging
from collections.abc import Sequence
from typing import Final

import numpy as np

from podium.addons.gpu.cards.columns import Bools
from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.quota import (
    MODEL_LABEL,
    POOL_LABEL,
    InvalidQuota,
    NamespaceQuota,
    eligible_models,
    nodes_within_quota,
    read_quotas,
    requested_cores,
)
from podium.addons.gpu.cards.requests import PodRequest

_LOG: Final = logging.getLogger("podium.addons.extenders")


class NamespaceQuotas:
    def __init__(self, model_label: str = MODEL_LABEL, pool_label: str = POOL_LABEL) -> None:
        self._model_label = model_label
        self._pool_label = pool_label
        self._quotas: dict[str, NamespaceQuota] = {}

    def read(self, text: str | None, source: str) -> None:
        """Take over a document; None if there is none."""
        try:
            self._quotas = {} if text is None else read_quotas(text)
        except InvalidQuota as problem:
            _LOG.error("%s: %s; what was known before stays", source, problem)

    def allowed(
        self, ledger: Ledger, namespace: str, uid: str, request: PodRequest, names: Sequence[str]
    ) -> Bools | None:
        """Which of the nodes the namespace may use for this pod; None if all."""
        quota = self._quotas.get(namespace)
        if quota is None:
            return None
        models: dict[str, int] = {}
        pools: dict[str, int] = {}
        node_models = np.array([_code(models, self._model(ledger, name)) for name in names])
        node_pools = np.array([_code(pools, self._pool(ledger, name)) for name in names])
        used = ledger.use.requested_by_model(
            namespace, lambda name: self._model(ledger, name), without=uid
        )
        eligible = eligible_models(quota, used, requested_cores(request))
        return nodes_within_quota(quota, eligible, node_models, node_pools, models, pools)

    def _model(self, ledger: Ledger, node_name: str) -> str:
        node = ledger.nodes.get(node_name)
        return "" if node is None else node.metadata.label(self._model_label)

    def _pool(self, ledger: Ledger, node_name: str) -> str:
        node = ledger.nodes.get(node_name)
        return "" if node is None else node.metadata.label(self._pool_label)


def _code(codes: dict[str, int], value: str) -> int:
    """The number of a label's value, -1 for none."""
    return codes.setdefault(value, len(codes)) if value else -1

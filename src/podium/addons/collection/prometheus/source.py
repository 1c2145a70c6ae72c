"""A number per node from Prometheus: one query for all of them, again and again.

The query goes out every `refresh_every_s`; the last good answer counts until it is `max_age_s` old.
Between two queries nobody waits. What is odd about an answer, though it can be used, is logged when
it appears and not again while it lasts. That no series answers is odd only at first: a query may
well be about the few nodes that have a trouble.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from podium.addons.collection.measurement_endpoint import Endpoint
from podium.addons.collection.prometheus.node_names import (
    UNAME,
    is_address,
    names_by_instance,
    node_name,
    values_by_node,
)
from podium.addons.collection.prometheus.query import Sample, ask_query
from podium.scheduler.framework.sources import Source

_LOG: Final = logging.getLogger("podium.addons.collection")
_EMPTY: Final = "no series answers the query"
_MAX_NAMED: Final = 3
_told: dict[str, str] = {}
"""What was logged last of each source, by name; sources are compared by their attributes, so it
cannot be one of them."""


class PrometheusSource(Source):
    def __init__(
        self,
        plugin: str,
        endpoint: Endpoint,
        query: str,
        node_labels: Sequence[str],
        *,
        refresh_every_s: float,
        max_age_s: float,
        timeout_s: float,
    ) -> None:
        self.name = f"{plugin} {endpoint.address} {query}"
        self.endpoint = endpoint
        self.query = query
        self.node_labels = tuple(node_labels)
        self.refresh_every_s = refresh_every_s
        self.max_age_s = max_age_s
        self.timeout_s = timeout_s

    async def fetch(self) -> Mapping[str, float]:
        samples = await self._ask(self.query)
        known: Mapping[str, str] = {}
        if not self.endpoint.is_file and any(self._is_nameless(sample) for sample in samples):
            known = names_by_instance(await self._ask(UNAME))
        found = values_by_node(samples, self.node_labels, known)
        self._tell(_oddity(len(samples), len(found.values), found.ambiguous))
        return found.values

    async def _ask(self, query: str) -> list[Sample]:
        return await ask_query(self.endpoint, query, timeout_s=self.timeout_s)

    def _is_nameless(self, sample: Sample) -> bool:
        return is_address(node_name(sample.labels, self.node_labels))

    def _tell(self, oddity: str) -> None:
        before = _told.get(self.name)
        if oddity == before or (oddity == _EMPTY and before is not None):
            return
        _told[self.name] = oddity
        if oddity:
            _LOG.warning("source %s: %s", self.name, oddity)


def _oddity(samples: int, nodes: int, ambiguous: Sequence[str]) -> str:
    if not samples:
        return _EMPTY
    if ambiguous:
        named = ", ".join(sorted(ambiguous)[:_MAX_NAMED])
        more = f" and {len(ambiguous) - _MAX_NAMED} more" if len(ambiguous) > _MAX_NAMED else ""
        return f"several series are about {named}{more}: aggregate them in the query"
    if not nodes:
        return "no series has a label that names a node"
    return ""

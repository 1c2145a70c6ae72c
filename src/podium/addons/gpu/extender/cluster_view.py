"""What the extender knows: the ledger of cards, quotas, and whether it may be relied on yet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from podium.addons.extenders.extender import ExtenderError
from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.extender.quotas import NamespaceQuotas
from podium.addons.gpu.extender.resource_quotas import ResourceQuotas
from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.pod import Pod


class PodChanged(PodiumError):
    """The pod is not the one that was decided about any more, or is not the one that a request
    says it is: gone, replaced, bound, or of another name."""


class ClusterView:
    def __init__(self, ledger: Ledger, quotas: NamespaceQuotas, wall: Callable[[], float]) -> None:
        self.ledger = ledger
        self.quotas = quotas
        self.resource_quotas = ResourceQuotas(ledger.dialect)
        self.is_synced = False
        """Whether everything was listed once."""
        self.rejections: dict[tuple[str, Reason], int] = {}
        """How many nodes were refused, by verb and reason."""
        self._wall = wall
        self._busy: set[str] = set()

    @property
    def dialect(self) -> Dialect:
        return self.ledger.dialect

    def now(self) -> float:
        return self._wall()

    def start_call(self) -> float:
        """The time, with all that it ends ended. Raises ExtenderError before the first sync."""
        if not self.is_synced:
            raise ExtenderError("GPU nodes and pods have not been synced, please retry later")
        now = self.now()
        self.ledger.expire(now)
        return now

    def request_of(self, pod: Pod) -> PodRequest | None:
        """Raises InvalidRequest, also for pods whose metadata make no sense."""
        return self.dialect.pod_request(pod)

    def require_own_uid(self, namespace: str, name: str, uid: str) -> None:
        """Raises PodChanged if the UID is known to be another pod's: what that one holds is not to
        be taken for free, nor to be forgotten."""
        known, reservation = self.ledger.pod(uid), self.ledger.reservations.get(uid)
        pod = known or (reservation.pod if reservation is not None else None)
        if pod is not None and pod.metadata.key != (namespace, name):
            raise PodChanged(f"UID {uid} is that of pod {pod.namespace}/{pod.name}")

    def is_busy(self, uid: str) -> bool:
        return uid in self._busy

    @contextmanager
    def writing_about(self, pod_name: str, uid: str) -> Iterator[None]:
        """One at a time writes about a pod: whoever comes meanwhile is told to come again."""
        if uid in self._busy:
            raise ExtenderError(f"an earlier call for pod {pod_name} is still under way")
        self._busy.add(uid)
        try:
            yield
        finally:
            self._busy.discard(uid)

    def count_rejection(self, verb: str, reason: Reason, nodes: int = 1) -> None:
        key = (verb, reason)
        self.rejections[key] = self.rejections.get(key, 0) + nodes

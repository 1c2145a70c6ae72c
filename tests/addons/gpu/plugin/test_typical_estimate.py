"""The typical pods that a scheduler knows: they follow the cluster, in steps."""

from msgspec.structs import replace

from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.packing.card_columns import CardSize
from podium.addons.gpu.packing.typical_pods import MAX_KINDS
from podium.addons.gpu.plugin.card_metrics import MAX_DRIFT_PERCENT, TypicalEstimate
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import IndexedPods
from podium.testing import make_handle, make_pod

SIZE = CardSize(100, 1000)


class Fixture:
    """Pods by the number of whole cards that their name ends with; `bad` ones cannot be read."""

    def __init__(self) -> None:
        self.pods = IndexedPods()
        self.table = CardTable()
        handle = make_handle()
        handle.index_pods = self.pods.index  # type: ignore[method-assign]
        self.estimate = TypicalEstimate(handle, self._request_of)

    def _request_of(self, pod: Pod) -> PodRequest:
        name = pod.metadata.name
        if name == "bad":
            raise InvalidRequest
        cards = int(name.rpartition("-")[2])
        return PodRequest((ContainerRequest(cards, whole=True),))

    def put(self, cards: int, count: int, start: int = 0, cpu: str = "1") -> None:
        for number in range(start, start + count):
            name = f"p{number}-{cards}"
            self.pods[name] = make_pod(name, requests={"cpu": cpu})

    def gpus(self) -> list[int]:
        self.estimate.follow(self.table)
        found: list[int] = self.estimate.of(self.table, SIZE).gpus.tolist()
        return found


def test_the_most_frequent_kinds_come_first() -> None:
    known = Fixture()
    known.put(1, 30)
    known.put(2, 60)
    known.pods["bad"] = make_pod("bad")
    assert known.gpus() == [2, 1]
    typical = known.estimate.of(CardTable(), SIZE)
    assert typical.frequency.round(4).tolist() == [0.6667, 0.3333]
    assert typical.largest_gpus == 2


def test_it_is_made_anew_when_enough_pods_came_or_went() -> None:
    known = Fixture()
    known.put(1, 100)
    assert known.gpus() == [1]
    version = known.estimate.version
    known.put(8, MAX_DRIFT_PERCENT)
    assert known.gpus() == [1]
    assert known.estimate.version == version
    known.put(8, 20, start=MAX_DRIFT_PERCENT)
    assert known.gpus() == [1, 8]
    for number in range(60):
        known.pods.pop(f"p{number}-1")
    assert known.gpus() == [1, 8]
    for number in range(60, 100):
        known.pods.pop(f"p{number}-1")
    assert known.gpus() == [8]


def test_it_is_made_anew_when_enough_cards_came_or_went() -> None:
    known = Fixture()
    known.put(1, 10)
    card = Card(0, model="A", memory=1000)
    for row in range(20):
        known.table.put_node(row, NodeCards((card,)))
    known.gpus()
    version = known.estimate.version
    known.table.put_node(20, NodeCards((card,)))
    known.gpus()
    assert known.estimate.version == version
    known.table.put_node(21, NodeCards((replace(card, model="B"),)))
    known.gpus()
    assert known.estimate.version == version + 1


def test_pods_that_change_and_stay_what_they_are_change_nothing() -> None:
    known = Fixture()
    known.put(1, 20)
    known.gpus()
    version = known.estimate.version
    for _ in range(3):
        known.put(1, 20)
        known.gpus()
    assert known.estimate.version == version


def test_its_size_is_bounded() -> None:
    known = Fixture()
    for number in range(2 * MAX_KINDS):
        known.put(1, 1, start=number, cpu=f"{number + 1}m")
    assert len(known.gpus()) <= MAX_KINDS

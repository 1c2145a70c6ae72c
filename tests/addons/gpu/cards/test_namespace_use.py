"""What quotas count of pods, node by node."""

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.quota import NO_USES, NamespaceUse, QuotaLeft

MODELS = {"a": "A100", "b": "T4"}


def test_what_pods_hold_and_ask_for_is_counted_by_namespace() -> None:
    use = NamespaceUse()
    use.put("1", "a", "x", {0: CardUse(30, 4), 1: CardUse(30, 4)}, 60)
    use.put("2", "b", "x", NO_USES, 50)
    use.put("3", "b", "y", {0: CardUse(10, 1)}, 10)
    assert use.held("x") == (60, 8)
    assert use.requested_by_model("x", MODELS.__getitem__) == {"A100": 60, "T4": 50}
    assert use.held("nobody") == (0, 0)
    use.put("1", "a", "x", {0: CardUse(5, 1)}, 5)
    assert use.held("x") == (5, 1)
    use.remove("1")
    use.put("2", "b", "x", NO_USES)
    assert use.held("x") == (0, 0)
    assert use.requested_by_model("x", MODELS.__getitem__) == {}


def test_a_pod_does_not_count_against_itself() -> None:
    use = NamespaceUse()
    use.put("1", "a", "x", {0: CardUse(30, 4)}, 30)
    use.put("2", "a", "x", {0: CardUse(20, 2)}, 20)
    assert use.held("x", without="1") == (20, 2)
    assert use.requested_by_model("x", MODELS.__getitem__, without="1") == {"A100": 20}
    assert use.compute_quota_left([(100, None), (90, 10)], "x", without="2") == QuotaLeft(60, 6)
    assert use.compute_quota_left([], "x") is None

"""What an attempt knows, and copies of it for trials."""

import pytest

from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.testing import make_cluster, make_node, make_pod


class Following:
    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    def clone(self) -> "Following":
        return Following(list(self.seen))


def cycle() -> Cycle:
    cluster = make_cluster([make_node("a")], [make_pod("q", node="a")])
    return Cycle(cluster.infos.of(make_pod("p")), cluster)


def test_a_state_is_read_back_by_name_and_kind() -> None:
    attempt = cycle()
    attempt.write("A", [1])
    assert attempt.read("A", list) == [1]


@pytest.mark.parametrize("kind", [dict, int])
def test_a_missing_state_is_not_found(kind: type) -> None:
    attempt = cycle()
    attempt.write("A", [1])
    with pytest.raises(StateMissing, match=r"^not found$"):
        attempt.read("A", kind)
    with pytest.raises(StateMissing, match=r"^not found$"):
        attempt.read("B", list)


def test_a_fork_clones_what_can_change_and_shares_the_rest() -> None:
    attempt = cycle()
    fixed = {"x": 1}
    attempt.write("Fixed", fixed)
    attempt.write("Following", Following(["one"]))
    attempt.skip_filter.add("S")
    trial = attempt.fork()
    trial.read("Following", Following).seen.append("two")
    trial.usage.remove(0, attempt.usage.pods(0)[0])
    assert attempt.read("Following", Following).seen == ["one"]
    assert trial.read("Fixed", dict) is fixed
    assert trial.skip_filter == {"S"}
    assert trial.pod is attempt.pod
    assert (len(attempt.usage.pods(0)), len(trial.usage.pods(0))) == (1, 0)


def test_a_fork_may_bring_its_own_usage() -> None:
    attempt = cycle()
    usage = attempt.usage.fork()
    assert attempt.fork(usage).usage is usage

"""Decisions as lines for somebody who watches."""

import io
import re
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from support.commands.hostile_text import HOSTILE
from support.live.live_clusters import in_live_cluster, is_bound, pod
from support.simulated.simulated_clusters import Cluster

from podium.client.resources import PODS
from podium.commands.console import Console
from podium.commands.decision_lines import DecisionLines
from podium.golang.quoting import escape_unprintable
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.live.assembly import Assembly
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster as SchedulerState
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.requests import Event
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import error
from podium.testing import make_pod


class Screen:
    """What was written, without the times."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._raw = io.BytesIO()
        self._file = io.TextIOWrapper(self._raw, encoding=encoding, write_through=True)
        self.observer = DecisionLines(Console(file=self._file), lambda: 0.0)

    @property
    def lines(self) -> list[str]:
        written = self._raw.getvalue().decode(self._file.encoding)
        return [line.split(" ", 1)[1] for line in written.splitlines()]


def info(name: str, uid: str = "", **spec: Any) -> PodInfo:
    made = make_pod(name, metadata={"uid": uid or name}, **spec)
    return SchedulerState(ALL_REQUESTS).infos.of(made)


def pending(about: PodInfo, note: str) -> Event:
    return Event(about, "Warning", "FailedScheduling", "Scheduling", note)


def binding(about: PodInfo, node: str) -> Binding:
    return cast("Binding", SimpleNamespace(cycle=SimpleNamespace(pod=about), node_name=node))


def placed(about: PodInfo, node: str, **more: Any) -> Decision:
    rows = np.array([0])
    return Decision(
        about, "default-scheduler", [node], feasible=rows, chosen=node, bound=node, **more
    )


def ended(about: PodInfo, node: str) -> tuple[QueuedPod, Binding]:
    return QueuedPod(about, 0.0), binding(about, node)


def test_a_reason_is_told_when_it_changes_and_not_at_every_attempt() -> None:
    screen = Screen()
    for note in ("no room", "no room", "no nodes", "no room"):
        screen.observer.event_told(pending(info("a"), note))
    assert screen.lines == [
        "… default/a no room",
        "… default/a no nodes",
        "… default/a no room",
    ]


def test_a_pod_that_comes_again_under_its_old_name_is_told_of_again() -> None:
    screen = Screen()
    screen.observer.event_told(pending(info("db-0", "first"), "no room"))
    screen.observer.event_told(pending(info("db-0", "second"), "no room"))
    assert screen.lines == ["… default/db-0 no room"] * 2


def test_after_a_binding_an_old_reason_is_news() -> None:
    screen = Screen()
    screen.observer.event_told(pending(info("a"), "no room"))
    screen.observer.binding_ended(*ended(info("a"), "n1"), None)
    screen.observer.event_told(pending(info("a"), "no room"))
    assert screen.lines == ["… default/a no room", "→ default/a n1", "… default/a no room"]


def test_a_binding_that_fails_says_why() -> None:
    screen = Screen()
    screen.observer.binding_ended(*ended(info("a"), "n1"), error("the server was away"))
    assert screen.lines == ["! default/a not bound to n1: the server was away"]


def test_a_preemption_names_both_pods() -> None:
    screen = Screen()
    victim = info("small", node="n1")
    note = "Preempted by pod 8a1c on node n1"
    screen.observer.event_told(
        Event(victim, "Normal", "Preempted", "Preempting", note, info("large"))
    )
    assert screen.lines == ["x default/small has to leave n1 for default/large"]


def test_whoever_takes_the_place_of_others_says_of_whom() -> None:
    screen = Screen()
    large = info("large")
    for name in ("small", "tiny"):
        victim = info(name, node="n1")
        screen.observer.event_told(Event(victim, "Normal", "Preempted", "Preempting", "", large))
    screen.observer.pod_decided(placed(large, "n1"))
    screen.observer.binding_ended(*ended(large, "n1"), None)
    told = "→ default/large n1: takes the place of default/small, default/tiny"
    assert screen.lines[-1] == told


def test_a_pod_that_waits_at_permit_says_for_whom_and_until_when() -> None:
    screen = Screen()
    decision = placed(info("a"), "n1", waits_s={"Gang": 90.0, "Quota": 10_000.0})
    screen.observer.pod_decided(decision)
    (told,) = screen.lines
    pattern = r"~ default/a waits at Permit for n1: Gang until \d\d:01:30, Quota until \d\d:15:00"
    assert re.fullmatch(pattern, told)
    screen.observer.binding_ended(*ended(info("a"), "n1"), None)
    assert screen.lines[-1] == "→ default/a n1: the only node it may go to"


def test_a_pod_without_a_node_is_no_placement() -> None:
    screen = Screen()
    screen.observer.pod_decided(Decision(info("a"), "default-scheduler", ["n1"]))
    assert screen.lines == []


def test_other_events_are_not_decisions() -> None:
    screen = Screen()
    screen.observer.event_told(Event(info("a"), "Normal", "Scheduled", "Binding", "assigned"))
    assert screen.lines == []


def test_markup_in_a_reason_is_text() -> None:
    screen = Screen()
    screen.observer.event_told(pending(info("a"), "[red]0/3[/] nodes"))
    assert screen.lines == ["… default/a [red]0/3[/] nodes"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_without_unicode_gets_plain_characters(encoding: str) -> None:
    screen = Screen(encoding)
    screen.observer.event_told(pending(info("a"), "no rööm → wait"))
    screen.observer.binding_ended(*ended(info("a"), "n1"), None)
    first, second = screen.lines
    assert first.startswith("... default/a no r")
    assert second == "-> default/a n1"


def test_long_reasons_stay_on_one_line() -> None:
    screen = Screen()
    screen.observer.event_told(pending(info("a"), "no room " * 100))
    assert len(screen.lines) == 1


def test_a_cluster_tells_its_decisions() -> None:
    screen = Screen()

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "100"))
        await cluster.create(PODS, pod("small"))
        await cluster.until(lambda: is_bound(cluster, "small"))

    in_live_cluster(scenario, nodes=1, observers=lambda _: (screen.observer,))
    assert "→ default/small node-0: the only node it may go to" in screen.lines
    (told,) = [line for line in screen.lines if "large" in line]
    assert told.startswith("… default/large 0/1 nodes are available: 1 Insufficient cpu.")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_names_and_reasons_are_shown_and_not_obeyed(text: str) -> None:
    shown = []
    for written in (text, escape_unprintable(text)):
        screen = Screen()
        screen.observer.event_told(pending(info(f"p-{written}"), f"because {written}"))
        screen.observer.binding_ended(*ended(info(f"q-{written}"), f"n-{written}"), None)
        screen.observer.binding_ended(*ended(info("a"), "b"), error(written))
        shown.append(screen.lines)
    assert shown[0] == shown[1]
    assert len(shown[0]) == 3
    assert all(line.isprintable() for line in shown[0])

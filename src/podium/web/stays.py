"""What happened on a node: who came when, how long each stayed, and who had to go for whom.

Put together from the lives of the pods that the scheduler remembers. Of a pod that was there before
the scheduler, or whose beginning is forgotten, nobody knows when it came.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from podium.api.timestamps import micro_time_text
from podium.engine import Engine
from podium.engine.pod_log import Line
from podium.web.page_documents import NotThere

MAX_STAYS: Final = 200


class Stay(NamedTuple):
    """One pod on one node; `how` it ended is "" while it lasts, `by` is the pod that it made room
    for."""

    pod: str
    since: float | None
    until: float | None = None
    how: str = ""
    by: str = ""


def node_story_document(engine: Engine, name: str) -> dict[str, Any]:
    """Raises NotThere."""
    stays = _stays(engine, name)
    if not stays and not engine.cluster.nodes.is_present(name):
        raise NotThere("there is no such node, and nobody is known to have been there")
    # Those that are there now matter most, then those that left last.
    stays.sort(key=lambda stay: (stay.until is None, stay.until or 0.0, stay.since or 0.0))
    shown = sorted(stays[-MAX_STAYS:], key=lambda stay: (stay.since or 0.0, stay.pod))
    return {
        "name": name,
        "at": micro_time_text(engine.clock()),
        "isPresent": engine.cluster.nodes.is_present(name),
        "count": len(stays),
        "stays": [
            {
                "pod": stay.pod,
                "from": _moment(stay.since),
                "to": _moment(stay.until),
                "how": stay.how,
                "by": stay.by or None,
            }
            for stay in shown
        ],
    }


def _moment(at: float | None) -> str | None:
    return None if at is None else micro_time_text(at)


def _stays(engine: Engine, name: str) -> list[Stay]:
    log = engine.state.pod_log
    found: list[Stay] = []
    evicted: dict[str, Stay] = {}
    for key in log.pods():
        lines = log.lines(key)
        found += stays_of(key, lines, name)
        for line in lines:
            if line.what == "preempting" and line.about == name:
                victims = line.detail.split(", ")
                evicted |= {each: Stay(each, None, line.at, "preempted", key) for each in victims}
    known = {stay.pod for stay in found}
    found += [stay for key, stay in evicted.items() if key not in known]
    told = {stay.pod for stay in found if stay.until is None or stay.since is None}
    cluster = engine.cluster
    if cluster.nodes.is_present(name):
        cluster.usage.grow()
        pods = cluster.usage.pods(cluster.nodes.row(name))
        found += [Stay(info.key, None) for info in pods if info.key not in told]
    return found


def stays_of(key: str, lines: list[Line], name: str) -> Iterator[Stay]:
    """The times that a pod was on a node, by what is remembered of it."""
    stay: Stay | None = None
    for line in lines:
        if line.what == "bound" and line.about == name:
            stay = Stay(key, line.at)
        elif stay is not None and line.what in ("preempted", "deleted"):
            yield stay._replace(until=line.at, how=line.what, by=line.about)
            stay = None
    if stay is not None:
        yield stay

"""Gauges that are read off the engine when somebody asks.

A number that exists anyway is not counted a second time: it cannot drift from what it stands for.
Reading takes one walk over the pods that wait and one over those on nodes.
"""

from podium.live import metric_definitions as known
from podium.live.exposition import Exposition, Reading
from podium.scheduler.engine import Engine


def show_engine(shown: Exposition, engine: Engine) -> None:
    shown.read(known.PENDING_PODS, lambda: _pending(engine))
    shown.read(known.UNSCHEDULABLE_PODS, lambda: _unschedulable(engine))
    if engine.gates["SchedulerQueueingHints"]:
        shown.read(known.INFLIGHT_EVENTS, lambda: _in_flight(engine))
    shown.read(known.CACHE_SIZE, lambda: _cache(engine))
    shown.read(known.GOROUTINES, lambda: _binding(engine))


def _pending(engine: Engine) -> Reading:
    return [((part,), count) for part, count in engine.queue.sizes()._asdict().items()]


def _unschedulable(engine: Engine) -> Reading:
    """Waiting pods by every plugin that has rejected them since they were last tried."""
    found: dict[tuple[str, ...], int] = {}
    for queued in engine.queue:
        if queued.rejectors:
            profile = queued.info.pod.spec.scheduler_name
            for plugin in queued.rejectors:
                labels = (plugin, profile)
                found[labels] = found.get(labels, 0) + 1
    return found.items()


def _in_flight(engine: Engine) -> Reading:
    return [((event,), count) for event, count in engine.queue.entries_in_flight().items()]


def _cache(engine: Engine) -> Reading:
    placements = engine.cluster.placements
    assumed = sum(1 for placement in placements.values() if placement.assumed)
    return [
        (("nodes",), engine.cluster.nodes.present_count),
        (("pods",), len(placements)),
        (("assumed_pods",), assumed),
    ]


def _binding(engine: Engine) -> Reading:
    """upstream: goroutines; here tasks that bind."""
    under_way = sum(1 for flight in engine.state.flights.values() if flight.started)
    return [(("binding",), under_way)]

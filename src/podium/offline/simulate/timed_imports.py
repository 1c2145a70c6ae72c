"""Files for a timed run: those that say what happens when, and those that say what there is.

Traces of SimKube and lists of `openb` pods have times; they become events. Everything else is the
cluster in which the run begins, read as always.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.files.bounded_files import STDIN
from podium.offline.simulate.input_files import Problems, display_path, find_files, read_unpacked
from podium.offline.simulate.openb_trace import is_openb_pods, read_openb_events
from podium.offline.simulate.scenario import Scenario, load_scenario
from podium.offline.simulate.simkube_trace import is_simkube_trace, read_simkube_events
from podium.offline.simulate.timed_events import TimedEvent


def is_timed(data: bytes) -> bool:
    """Whether a file says when things happen."""
    return is_simkube_trace(data) or is_openb_pods(data)


def load_timed_imports(
    paths: Sequence[str], *, gates: FeatureGates
) -> tuple[Scenario, list[TimedEvent]]:
    """The cluster that a run begins with, and what happens to it, in order of time. Raises
    InputError with everything that is wrong with the cluster, or the first thing that is wrong with
    a trace."""
    problems = Problems()
    traces: list[tuple[str, bytes]] = []
    others: list[str] = []
    for path in find_files(paths, problems):
        data = read_unpacked(path) if path != STDIN else b""
        if is_timed(data):
            traces.append((display_path(path), data))
        else:
            others.append(path)
    problems.raise_if_any()
    scenario = load_scenario(others, gates=gates)
    objects = [obj for obj in scenario.objects if isinstance(obj, KubeObject)]
    objects += scenario.admission_objects
    events: list[TimedEvent] = []
    for source, data in traces:
        if is_openb_pods(data):
            events.extend(read_openb_events(data, source, gates=gates))
        else:
            events.extend(
                read_simkube_events(
                    data, source, gates=gates, nodes=scenario.nodes, objects=objects
                )
            )
    return scenario, sorted(events, key=lambda event: event.at)

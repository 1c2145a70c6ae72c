"""A stream of pods and an order of nodes follow from a trace and a seed."""

from dataclasses import replace

import numpy as np
import pytest
from support.addons.gpu.packing_traces import needs_published_traces, published_trace, small_trace

from podium.addons.gpu.study.workloads import make_workload


@needs_published_traces
@pytest.mark.parametrize(
    ("trace", "first"),
    [
        ("default", ["openb-pod-0255", "openb-pod-1685", "openb-pod-6784"]),
        ("gpushare40", ["openb-pod-0255", "openb-pod-1685", "openb-pod-6784"]),
        ("multigpu20", ["openb-pod-0583", "openb-pod-3690", "openb-pod-1963"]),
    ],
)
def test_the_first_pods_are_those_of_the_published_runs(trace: str, first: list[str]) -> None:
    workload = make_workload(published_trace(trace), 42)
    assert [workload.trace.pods.names[pod] for pod in workload.stream[:3]] == first


@needs_published_traces
@pytest.mark.parametrize(("seed", "length"), [(42, 10_866), (43, 10_793), (44, 10_863)])
def test_streams_are_as_long_as_those_of_the_published_runs(seed: int, length: int) -> None:
    assert len(make_workload(published_trace("default"), seed).stream) == length


def test_pods_are_added_at_the_end_until_demand_is_reached() -> None:
    trace = small_trace()
    workload = make_workload(trace, 1, ratio=3.0)
    original = len(trace.pods.names)
    assert sorted(workload.stream[:original].tolist()) == list(range(original))
    demand = int(trace.pods.demand_milli[workload.stream].sum())
    assert 3 * trace.nodes.gpu_milli - 1000 < demand <= 3 * trace.nodes.gpu_milli + 7000


def test_pods_are_taken_out_where_demand_is_above_and_the_others_keep_their_order() -> None:
    trace = small_trace()
    # The shuffle is drawn before anything is taken out, so it is the same.
    shuffled = make_workload(trace, 1, ratio=3.0).stream[: len(trace.pods.names)].tolist()
    stream = make_workload(trace, 1, ratio=0.5).stream.tolist()
    assert sum(trace.pods.demand_milli[stream]) <= 0.5 * trace.nodes.gpu_milli
    assert stream == [pod for pod in shuffled if pod in set(stream)]


def test_a_trace_without_gpu_demand_is_taken_as_it_is() -> None:
    trace = small_trace()
    nothing = np.zeros_like(trace.pods.gpus)
    pods = replace(trace.pods, gpus=nothing, gpu_milli=nothing)
    workload = make_workload(replace(trace, pods=pods), 1)
    assert len(workload.stream) == len(pods.names)


def test_the_order_of_nodes_is_a_permutation() -> None:
    workload = make_workload(small_trace(), 7)
    assert sorted(workload.node_order.tolist()) == list(range(40))

"""Figures that the published study gives for single nodes and pods, on its own traces."""

import numpy as np
import pytest
from support.addons.gpu.packing_traces import needs_published_traces, published_trace

from podium.addons.gpu.packing.fragmentation import node_fragmentation
from podium.addons.gpu.packing.node_columns import NodeColumns, Pod
from podium.addons.gpu.packing.policies import best_fit, dot_prod, fgd, gpu_clustering, gpu_packing
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.addons.gpu.study.workloads import empty_nodes, typical_pods

pytestmark = needs_published_traces


def typical_of(name: str) -> TypicalPods:
    return typical_pods(published_trace(name))


def node(cpu: int, left: list[int], tags: int = 0) -> NodeColumns:
    bit = 1 << published_trace("default").nodes.models.index("G2")
    columns = ([cpu], [left], [len(left)], [tags], [bit])
    return NodeColumns(*(np.array(column, np.int64) for column in columns))


EIGHT = [1000] * 8
SHARE, ONE, TWO = 1, 2, 4


@pytest.mark.parametrize(
    ("name", "groups", "taken", "covered", "cpu_only", "frequent"),
    [
        ("default", 91, 35, 95.265, 0.135977, (0.134818, 0.112542, 0.077131)),
        ("gpushare40", 88, 36, 95.277, 0.135960, (0.173040, 0.085104, 0.063345)),
        ("multigpu20", 91, 38, 95.075, 0.133434, (0.132297, 0.110437, 0.075689)),
    ],
)
def test_typical_pods(
    name: str,
    groups: int,
    taken: int,
    covered: float,
    cpu_only: float,
    frequent: tuple[float, float, float],
) -> None:
    typical = typical_of(name)
    assert (typical.groups, len(typical.frequency)) == (groups, taken)
    assert 100 * typical.covered == pytest.approx(covered, abs=0.001)
    assert round(float(typical.frequency[typical.cpu_only].sum()), 6) == cpu_only
    assert tuple(typical.frequency[typical.gpus > 0][:3].round(6)) == frequent
    assert typical.frequency.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "fragments", "ratio"),
    [
        ("default", 866232.55, 13.9445),
        ("gpushare40", 862220.68, 13.8799),
        ("multigpu20", 870998.99, 14.0212),
    ],
)
def test_an_empty_cluster_is_fragmented_already(name: str, fragments: float, ratio: float) -> None:
    nodes = published_trace(name).nodes
    columns = empty_nodes(nodes)
    total = node_fragmentation(
        columns.cpu_left, columns.left, columns.model_bit, typical_of(name)
    ).sum()
    assert round(total, 2) == fragments
    assert round(100 * total / nodes.gpu_milli, 4) == ratio


@pytest.mark.parametrize(
    ("cpu", "left", "expected"),
    [
        (96000, EIGHT, 1087.8187),
        (64000, [1000, 1000], 271.9547),
        (96000, [190, *EIGHT[1:]], 1140.5202),
        (8000, EIGHT, 4841.6173),
        (16000, [520, 380], 776.0546),
        (2000, [500, 300], 800.0),
        (96000, [0] * 8, 0.0),
    ],
)
def test_the_fragmentation_of_a_node(cpu: int, left: list[int], expected: float) -> None:
    columns = node(cpu, left)
    found = node_fragmentation(
        columns.cpu_left, columns.left, columns.model_bit, typical_of("default")
    )
    assert found.round(4).tolist() == [expected]


@pytest.mark.parametrize(
    ("pod", "cpu", "left", "score", "device"),
    [
        (Pod(3152, 810, 1), 96000, EIGHT, 48, 0),
        (Pod(6000, 460, 1), 64000, [520, 1000], 58, 0),
        (Pod(11908, 470, 1), 40000, [190, 600, 1000, 0], 58, 1),
        (Pod(11300, 1000, 1), 96000, EIGHT, 53, None),
        (Pod(12000, 1000, 1), 30000, [1000, 1000, 0, 0, 0, 0, 0, 0], 52, None),
        (Pod(88000, 1000, 8), 96000, EIGHT, 74, None),
        (Pod(8000, 0, 0), 104000, [1000, 1000], 50, None),
        (Pod(12500, 0, 0), 16000, [1000, 500], 33, None),
    ],
)
def test_fgd(pod: Pod, cpu: int, left: list[int], score: int, device: int | None) -> None:
    scored = fgd(node(cpu, left), pod, typical_of("default"))
    assert scored.scores.tolist() == [score]
    assert (None if scored.devices is None else int(scored.devices[0])) == device


@pytest.mark.parametrize(
    ("pod", "cpu", "left", "dot", "fit"),
    [
        (Pod(11300, 1000, 1), 96000, EIGHT, 90, 23),
        (Pod(6000, 460, 1), 64000, [520, 1000], 98, 70),
        (Pod(8000, 0, 0), 104000, [1000, 1000], 97, 50),
        (Pod(88000, 1000, 8), 96000, EIGHT, 24, 96),
    ],
)
def test_dot_prod_and_best_fit(pod: Pod, cpu: int, left: list[int], dot: int, fit: int) -> None:
    typical, columns = typical_of("default"), node(cpu, left)
    assert dot_prod(columns, pod, typical).scores.tolist() == [dot]
    assert best_fit(columns, pod, typical).scores.tolist() == [fit]


@pytest.mark.parametrize(
    ("pod", "left", "score"),
    [
        (Pod(1000, 1000, 2), [200, 1000, 1000, 500], 48),
        (Pod(1000, 1000, 1), [1000] * 4, 29),
        (Pod(1000, 1000, 1), EIGHT, 25),
        (Pod(1000, 200, 1), [200, 1000, 1000, 500], 98),
    ],
)
def test_gpu_packing(pod: Pod, left: list[int], score: int) -> None:
    found = gpu_packing(node(96000, left), pod, typical_of("default"))
    assert found.scores.tolist() == [score]


@pytest.mark.parametrize(
    ("left", "tags", "score"),
    [
        ([1000, 1000], 0, 43),
        (EIGHT, 0, 25),
        ([1000] * 4 + [0] * 4, ONE, 87),
        ([1000] * 4 + [0] * 4, ONE | TWO, 62),
        ([1000] * 4 + [0] * 4, SHARE | TWO, 12),
    ],
)
def test_gpu_clustering(left: list[int], tags: int, score: int) -> None:
    found = gpu_clustering(node(96000, left, tags), Pod(1000, 1000, 1), typical_of("default"))
    assert found.scores.tolist() == [score]

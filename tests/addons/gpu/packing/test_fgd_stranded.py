"""FGDStranded: idle GPU that CPU cannot serve counts, as do started devices and models that pods
name; nodes for large pods are not opened for the CPU that they have to spare."""

from dataclasses import replace

import numpy as np
import pytest

from podium.addons.gpu.packing.node_columns import NodeColumns, Pod
from podium.addons.gpu.packing.policies import fgd, fgd_stranded, partly_used_milli, stranded_milli
from podium.addons.gpu.packing.typical_pods import EqualPods, TypicalPods, find_typical


def typical(largest_gpus: int = 8) -> TypicalPods:
    """Pods of one device with 12.5 cores, and CPU-only ones."""
    return TypicalPods(
        cpu_milli=np.array([12_500, 4_000]),
        gpu_milli=np.array([1000, 0]),
        gpus=np.array([1, 0]),
        model_mask=np.array([-1, -1]),
        frequency=np.array([0.9, 0.1]),
        groups=2,
        covered=1.0,
        largest_gpus=largest_gpus,
    )


def nodes(*rows: tuple[int, list[int]]) -> NodeColumns:
    left = np.array([left for _, left in rows])
    count = np.full(len(rows), left.shape[1])
    cpu = np.array([cpu for cpu, _ in rows])
    return NodeColumns(cpu, left, count, np.zeros_like(count), np.ones_like(count))


HALF = [1000] * 4 + [0] * 4
EMPTY = [1000] * 8


@pytest.mark.parametrize(
    ("cpu", "idle", "stranded"), [(40_000, 4000, 0), (30_000, 4000, 1000), (90_000, 4000, 0)]
)
def test_idle_gpu_beyond_what_cpu_serves_is_stranded(cpu: int, idle: int, stranded: int) -> None:
    assert typical().needed_cpu_per_gpu == 10.0
    assert stranded_milli(np.array([cpu]), np.array([idle]), 10.0).tolist() == [stranded]


def test_nothing_is_stranded_where_pods_ask_for_no_cpu() -> None:
    assert stranded_milli(np.array([0]), np.array([8000]), 0.0).tolist() == [0]


def test_a_pod_with_much_cpu_goes_where_cpu_is_to_spare() -> None:
    """FGD holds the nodes equal: either takes the pod and goes on to fit typical ones."""
    choice = nodes((45_000, HALF), (80_000, HALF))
    much_cpu = Pod(20_000, 1000, 1)
    assert len(set(fgd(choice, much_cpu, typical()).scores.tolist())) == 1
    tight, spare = fgd_stranded(choice, much_cpu, typical()).scores.tolist()
    assert spare > tight


def test_a_node_for_large_pods_is_not_opened_for_its_spare_cpu() -> None:
    choice = nodes((65_000, HALF), (120_000, EMPTY))
    much_cpu = Pod(40_000, 1000, 1)
    used, opened = fgd_stranded(choice, much_cpu, typical(largest_gpus=8)).scores.tolist()
    assert opened <= used
    # Where no pod needs eight devices, the spare CPU counts.
    used, opened = fgd_stranded(choice, much_cpu, typical(largest_gpus=9)).scores.tolist()
    assert opened > used


def test_a_cpu_only_pod_may_use_spare_cpu_of_an_empty_node() -> None:
    choice = nodes((40_000, HALF), (96_000, EMPTY))
    used, opened = fgd_stranded(choice, Pod(8_000, 0, 0), typical()).scores.tolist()
    assert opened > used


def test_a_share_goes_to_a_device_that_is_started_already() -> None:
    """Typical pods need a whole device, so FGD would as soon have the started node's other one."""
    assert partly_used_milli(np.array([[1000, 400, 0], [1000, 1000, 1]])).tolist() == [400, 1]
    choice = nodes((60_000, [1000, 600]), (60_000, [1000, 1000]))
    share = Pod(1_000, 600, 1)
    scored = fgd_stranded(choice, share, typical())
    assert scored.scores[0] > scored.scores[1]
    assert scored.devices is not None
    assert scored.devices[0] == 1


A, B = 1, 2
WORDS = {"": -1, "A": A, "B": B}


def named(counts: dict[str, int], capacity: dict[int, int]) -> TypicalPods:
    """Pods of one device that name models so often."""
    groups = {EqualPods(8_000, 1000, 1, spec): count for spec, count in counts.items()}
    return find_typical(groups, WORDS, capacity)


def two_models() -> NodeColumns:
    return replace(nodes((60_000, HALF), (60_000, HALF)), model_bit=np.array([A, B]))


def test_a_pod_that_names_no_model_leaves_alone_the_one_that_others_name() -> None:
    pods = named({"": 60, "A": 40}, {A: 50, B: 50})
    of_a, of_b = fgd_stranded(two_models(), Pod(8_000, 1000, 1), pods).scores.tolist()
    assert of_b > of_a


def test_a_common_model_goes_before_a_rare_one_that_fewer_pods_name() -> None:
    """FGD counts how many pods name a model, and not how many devices there are for them."""
    pods = named({"": 60, "A": 30, "B": 10}, {A: 95, B: 5})
    pod = Pod(8_000, 1000, 1)
    of_a, of_b = fgd(two_models(), pod, pods).scores.tolist()
    assert of_b > of_a
    of_a, of_b = fgd_stranded(two_models(), pod, pods).scores.tolist()
    assert of_a > of_b

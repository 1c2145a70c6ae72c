"""The typical pods of a trace."""

from collections import Counter
from functools import lru_cache

from podium.addons.gpu.packing.typical_pods import PodGroup, TypicalPods, find_typical
from podium.addons.gpu.study.traces import Trace


@lru_cache(maxsize=64)
def typical_pods(trace: Trace) -> TypicalPods:
    """The typical pods of a trace as it is, before it is tuned."""
    pods = trace.pods
    columns = (pods.cpu_milli.tolist(), pods.gpu_milli.tolist(), pods.gpus.tolist(), pods.specs)
    counts = Counter(map(PodGroup, *columns))
    masks = {spec: trace.nodes.mask(spec) for spec in set(pods.specs)}
    return find_typical(counts, masks, trace.nodes.capacity)

"""What a pod's annotations say to HAMi: which cards, in which order, on which nodes."""

from typing import Final

from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    NodePolicy,
    ScoreWeights,
)
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.dialects.hami.registration import MIG_MODE
from podium.addons.gpu.dialects.reading import quote, split_list
from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.pod import Pod

NODE_POLICY: Final = "hami.io/node-scheduler-policy"
CARD_POLICY: Final = "hami.io/gpu-scheduler-policy"
WEIGHTS: Final = "hami.io/device-scoring-weights"
NUMA_BIND: Final = "nvidia.com/numa-bind"
MODE: Final = "nvidia.com/vgpu-mode"
USE_MODELS: Final = "nvidia.com/use-gputype"
NO_USE_MODELS: Final = "nvidia.com/nouse-gputype"
USE_UUIDS: Final = "nvidia.com/use-gpuuuid"
NO_USE_UUIDS: Final = "nvidia.com/nouse-gpuuuid"

_CARD_KEYS: Final = {
    "binpack": CardKey.FULLEST,
    "spread": CardKey.EMPTIEST,
    "numa": CardKey.NUMA,
}
MAX_WEIGHT: Final = 1 << 20
"""Of all three together: larger ones say no more, and scores stay small numbers."""
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})


def selector(pod: Pod) -> CardSelector:
    read = pod.metadata.annotation
    return CardSelector(
        models=split_list(read(USE_MODELS)),
        not_models=split_list(read(NO_USE_MODELS)),
        uuids=split_list(read(USE_UUIDS)),
        not_uuids=split_list(read(NO_USE_UUIDS)),
        modes=tuple(mode for mode in split_list(read(MODE)) if mode != MIG_MODE),
    )


def wants_mig(pod: Pod) -> bool:
    """Whether the pod is to have instances of cards in MIG mode. HAMi gives them to pods that name
    no mode as well."""
    return MIG_MODE in split_list(pod.metadata.annotation(MODE))


def node_policy(pod: Pod) -> NodePolicy:
    spread = pod.metadata.annotation(NODE_POLICY) == "spread"
    return NodePolicy.SPREAD if spread else NodePolicy.BINPACK


def card_order(pod: Pod) -> tuple[CardKey, ...]:
    """The keys of the chain in the order written; spread if it has none."""
    keys = (_CARD_KEYS.get(word) for word in _chain(pod))
    return tuple(dict.fromkeys(key for key in keys if key)) or (CardKey.EMPTIEST,)


def wants_idle_cards(pod: Pod) -> bool:
    return "mutex" in _chain(pod)


def topology(pod: Pod) -> CardTopology:
    if pod.metadata.annotation(NUMA_BIND) in _TRUE:
        return CardTopology.NUMA_STRICT
    return CardTopology.LINK if "topology-aware" in _chain(pod) else CardTopology.NONE


def _chain(pod: Pod) -> tuple[str, ...]:
    return split_list(pod.metadata.annotation(CARD_POLICY))


def weights(pod: Pod) -> ScoreWeights:
    """`slot=1,core=1,memory=3`: each once, none below 0, one above."""
    text = (pod.metadata.annotations or {}).get(WEIGHTS)
    if text is None:
        return ScoreWeights()
    entries = [entry.partition("=") for entry in text.split(",", 3)]
    read = {key.strip(): parse_int(number.strip()) for key, _, number in entries}
    if len(entries) == 3 and read.keys() == {"slot", "core", "memory"}:
        slots, cores, memory = read["slot"], read["core"], read["memory"]
        if (
            slots is not None
            and cores is not None
            and memory is not None
            and min(slots, cores, memory) >= 0
            and 0 < slots + cores + memory <= MAX_WEIGHT
        ):
            return ScoreWeights(slots=slots, cores=cores, memory=memory)
    raise InvalidRequest(
        f"annotation {WEIGHTS} {quote(text)}: right are three numbers from 0 on, not all 0, "
        "as in slot=1,core=1,memory=3"
    )

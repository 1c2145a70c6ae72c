"""`RandomScore`: scores that follow from nothing but a seed, the pod and the node.

With a weight it spreads pods by chance; with the same seed it does so the same way every time.
"""

from hashlib import blake2b

import msgspec
import numpy as np

from podium.plugin import Cycle, Ints, Rows, ScorePlugin, indices

_MIX = np.uint64(0x9E3779B97F4A7C15)


class RandomScore(ScorePlugin):
    name = "RandomScore"
    in_range = True

    class Args(msgspec.Struct):
        seed: int = 0

    args: Args

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        pod = _number(f"{self.args.seed}/{cycle.pod.key}")
        names = cycle.nodes.names
        nodes = (_number(names[row]) for row in indices(rows).tolist())
        mixed = np.fromiter(nodes, dtype=np.uint64) ^ np.uint64(pod)
        mixed *= _MIX
        mixed ^= mixed >> np.uint64(32)
        scores: Ints = (mixed % np.uint64(101)).astype(np.int64)
        return scores


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())

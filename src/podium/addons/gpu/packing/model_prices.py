"""Prices of GPU models: idle GPU of a model that pods ask for by name is worth keeping for them.

A model's price is the part of all demand that names it, over its part of all devices. Pods that
name several models ask for each of them by its part. A model that nobody names has no price.

Example: a tenth of the demand names a model that a fifth of the devices are of, so half of these
will be asked for by name, and the price is `NAMED_WEIGHT` times 0.5.
"""

from collections.abc import Mapping
from math import fsum
from typing import Final

import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS

NAMED_WEIGHT: Final = 0.1


def price_models(demands: Mapping[int, int], capacity: Mapping[int, int]) -> Floats:
    """By the number of the model's bit. Demands are by the mask of models that will do, devices of
    the cluster by the bit of their model."""
    demand, devices = sum(demands.values()), sum(capacity.values())
    parts: dict[int, list[float]] = {bit: [] for bit in capacity}
    for mask, asked in demands.items():
        allowed = [bit for bit in capacity if bit & mask]
        count = sum(capacity[bit] for bit in allowed)
        if mask == ANY_MODEL or not count or not demand:
            continue
        for bit in allowed:
            parts[bit].append(asked / demand / (count / devices))
    prices: Floats = np.zeros(MAX_MODELS + 1)
    for bit, some in parts.items():
        # The same in whatever order models are numbered: two schedulers have to agree.
        prices[bit.bit_length() - 1] = NAMED_WEIGHT * fsum(some)
    return prices


def prices_of(model_bit: Ints, prices: Floats) -> Floats:
    """The price of each row's model."""
    _, exponents = np.frexp(model_bit.astype(np.float64))
    found: Floats = prices[exponents - 1]
    return found

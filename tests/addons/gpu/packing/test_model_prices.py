"""What models cost that pods ask for by name."""

import numpy as np
import pytest

from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS
from podium.addons.gpu.packing.typical_pods import NAMED_WEIGHT, price_models, prices_of

A, B, C, NO_MODEL = 1, 2, 4, 1 << MAX_MODELS
CAPACITY = {A: 20, B: 60, C: 20}


@pytest.mark.parametrize(
    ("demands", "prices"),
    [
        ({ANY_MODEL: 100}, (0, 0, 0)),
        ({ANY_MODEL: 90, A: 10}, (0.5, 0, 0)),
        ({ANY_MODEL: 50, A | B: 40, C: 10}, (0.5, 0.5, 0.5)),
        ({ANY_MODEL: 50, A: 20, A | C: 20, 0: 10}, (1.5, 0, 0.5)),
        ({}, (0, 0, 0)),
    ],
)
def test_a_price_is_the_part_of_demand_over_the_part_of_devices(
    demands: dict[int, int], prices: tuple[float, float, float]
) -> None:
    found = price_models(demands, CAPACITY)
    assert found[:3] == pytest.approx(NAMED_WEIGHT * np.array(prices))
    assert not found[3:].any()


def test_nodes_have_the_price_of_their_model() -> None:
    prices = price_models({A: 1, C: 3, NO_MODEL: 6}, {A: 1, C: 1, NO_MODEL: 8})
    rows = prices_of(np.array([C, A, NO_MODEL, B]), prices)
    assert rows == pytest.approx(NAMED_WEIGHT * np.array([3, 1, 0.75, 0]))


def test_prices_do_not_depend_on_the_numbers_of_models() -> None:
    """Sums of floats depend on their order; prices must not."""
    demands = {A: 7, A | B: 11, A | C: 13, A | B | C: 17, ANY_MODEL: 53}
    turned = {(mask << 1 | mask >> 2) & 7 if mask > 0 else mask: n for mask, n in demands.items()}
    capacity = {(bit << 1 | bit >> 2) & 7: count for bit, count in CAPACITY.items()}
    there = price_models(demands, CAPACITY)[:3].tolist()
    here = price_models(dict(reversed(turned.items())), capacity)[:3].tolist()
    assert here == [there[2], there[0], there[1]]

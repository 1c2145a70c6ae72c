"""The page about dialects names what the code reads and writes."""

import re
from pathlib import Path

import pytest
from support.addons.gpu.dialect_objects import NOW

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import DIALECTS, find_dialect

PAGE = (Path(__file__).parents[4] / "docs" / "gpu-dialects.md").read_text()
CARDS = (Card(0, "GPU-a", "NVIDIA A10", memory=10, slots=10, links=(0,)),)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_has_its_part(name: str) -> None:
    assert f"| `{name}` |" in PAGE
    assert re.search(rf"^## .*\b{name}\b", PAGE, re.M)


@pytest.mark.parametrize("name", DIALECTS)
def test_resources_registrations_and_locks_are_named(name: str) -> None:
    dialect = find_dialect(name)
    register = dialect.register(CARDS, NOW)
    keys = {*dialect.resources, *register.annotations, *register.capacity}
    if dialect.lock is not None:
        keys.add(dialect.lock.key)
    for key in keys:
        # The page says once that one dialect has another prefix.
        assert f"`{key.replace('nvidia.com/vcuda', 'tencent.com/vcuda')}`" in PAGE, key

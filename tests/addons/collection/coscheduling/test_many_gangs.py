"""Fifty gangs of eight on a cluster for twenty, with failures: rules hold, and all get through."""

import pytest
from support.addons.collection.gang_world import World
from support.suite.slow_cases import few_of


def test_a_few_gangs_in_trouble_keep_the_engine_sound_at_every_step() -> None:
    world = World(7, gangs=8, size=3, room=3, validate=True)
    world.run()
    assert len(world.done) == 8


@pytest.mark.parametrize("seed", few_of(range(3), 3))
def test_gangs_are_placed_whole_or_not_at_all_and_none_starves(seed: int) -> None:
    world = World(seed)
    world.run()
    assert len(world.done) == 50
    assert world.released >= 50 * 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 15))
def test_gangs_are_placed_whole_or_not_at_all_in_many_worlds(seed: int) -> None:
    world = World(seed)
    world.run()
    assert len(world.done) == 50

"""The names that help lists are those of the registry."""

from podium.simulated import controller_registry
from podium.simulated.names import ALL


def test_every_name_has_a_controller_and_every_controller_a_name() -> None:
    assert controller_registry.list_controllers() == ALL

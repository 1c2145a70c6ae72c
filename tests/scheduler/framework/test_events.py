"""Which registrations an event reaches."""

import pytest

from podium.scheduler.framework.events import Action, ClusterEvent, Registration, Resource


def test_action_bits_follow_the_order_of_the_list() -> None:
    singles = [action for action in Action if action.bit_count() == 1]
    assert [int(action) for action in singles] == [1 << n for n in range(13)]
    assert Action.ADD | Action.DELETE | Action.UPDATE == Action.ALL
    assert int(Action.UPDATE) == (1 << 13) - 4


@pytest.mark.parametrize(
    ("registered", "event", "reaches"),
    [
        ((Resource.NODE, Action.ADD), (Resource.NODE, Action.ADD), True),
        ((Resource.NODE, Action.ADD), (Resource.NODE, Action.DELETE), False),
        ((Resource.NODE, Action.ADD), (Resource.CSI_NODE, Action.ADD), False),
        (
            (Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT),
            (Resource.NODE, Action.UPDATE_NODE_TAINT),
            True,
        ),
        ((Resource.POD, Action.DELETE), (Resource.ASSIGNED_POD, Action.DELETE), True),
        ((Resource.POD, Action.DELETE), (Resource.UNSCHEDULABLE_POD, Action.DELETE), True),
        (
            (Resource.ASSIGNED_POD, Action.DELETE),
            (Resource.UNSCHEDULABLE_POD, Action.DELETE),
            False,
        ),
        ((Resource.ANY, Action.ALL), (Resource.STORAGE_CLASS, Action.ADD), True),
        ((Resource.ANY, Action.ADD), (Resource.STORAGE_CLASS, Action.ADD), True),
        ((Resource.ANY, Action.ADD), (Resource.STORAGE_CLASS, Action.DELETE), False),
        # a generic update reaches only those who asked for all updates
        ((Resource.POD, Action.UPDATE_POD_LABEL), (Resource.ASSIGNED_POD, Action.UPDATE), False),
        ((Resource.POD, Action.UPDATE), (Resource.ASSIGNED_POD, Action.UPDATE), True),
        ((Resource.POD, Action.ALL), (Resource.ASSIGNED_POD, Action.UPDATE), True),
        (
            (Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE),
            (Resource.PERSISTENT_VOLUME, Action.UPDATE),
            True,
        ),
        ((Resource.POD, Action.UPDATE), (Resource.ASSIGNED_POD, Action.UPDATE_POD_LABEL), True),
    ],
)
def test_an_event_reaches_whoever_registered_for_it(
    registered: tuple[Resource, Action], event: tuple[Resource, Action], reaches: bool
) -> None:
    assert Registration(*registered).concerns(ClusterEvent(*event)) is reaches

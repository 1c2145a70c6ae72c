"""Whether somebody else does the same work already."""

from typing import Any

import pytest
from support.live.scripted_server import ScriptedServer, refusal, reply
from support.live.virtual_loop import run_virtually

from podium.client import KubeClient
from podium.golang.errors import InputError
from podium.simulated.control import Rival, rival_of
from podium.simulated.controller_registry import ALL, choose_controllers

RENEWED = "2027-01-15T08:00:00.000000Z"
WALL_S = 1_800_000_000.0


def lease(**spec: Any) -> Any:
    return reply({"metadata": {"name": "kube-controller-manager"}, "spec": spec})


def found(answer: Any, wall_s: float = WALL_S, controllers: tuple[str, ...] = ("jobs",)) -> Any:
    client = KubeClient(ScriptedServer(answer))
    return run_virtually(rival_of(client, controllers, lambda: wall_s))


def test_a_lease_that_is_renewed_shows_who_is_at_work() -> None:
    held = lease(holderIdentity="me", renewTime=RENEWED)
    assert found(held, WALL_S + 5) == Rival("kube-controller-manager", 5)
    assert found(held, WALL_S + 3600) is None
    assert found(lease(holderIdentity="", renewTime=RENEWED)) is None
    assert found(lease(holderIdentity="me")) is None
    assert found(refusal(404, "NotFound")) is None


def test_without_controllers_nobody_is_in_the_way() -> None:
    assert found(lease(holderIdentity="me", renewTime=RENEWED), controllers=()) is None


def test_controllers_are_chosen_by_name() -> None:
    assert choose_controllers(["all"]) == ALL
    assert choose_controllers(["none"]) == ()
    assert choose_controllers(["jobs", "volumes", "jobs"]) == ("jobs", "volumes")
    with pytest.raises(InputError, match="there is no controller"):
        choose_controllers(["everything"])

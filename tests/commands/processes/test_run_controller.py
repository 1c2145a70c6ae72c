"""A controller that is elected: its lease is renewed whatever the controller itself is doing."""

import asyncio
from typing import Any

import pytest
from support.live.lease_server import BRISK, LeaseServer, RenewalLine
from support.waiting import PATIENCE_S

from podium.commands.processes import run_controller
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry


def test_the_lease_is_kept_while_the_controller_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    server = LeaseServer()
    lines: list[RenewalLine] = []
    kept: list[bool] = []

    def connect(*_: Any, **__: Any) -> RenewalLine:
        lines.append(RenewalLine(server))
        return lines[-1]

    async def work(*_: Any) -> None:
        of_lease = lines[-1]
        kept.append(of_lease.renewed.wait(PATIENCE_S))  # nothing else runs in this loop
        kept.append(server.holder != "")

    monkeypatch.setattr(run_controller, "transport_for", connect)
    monkeypatch.setattr(run_controller, "_work", work)
    asyncio.run(
        run_controller.run_controller(
            ClientSettings(ClusterEntry(server="https://127.0.0.1:9"), UserEntry()),
            "podgroups",
            election=BRISK,
        )
    )
    assert kept == [True, True]
    assert server.holder == ""
    assert len(lines) == 2

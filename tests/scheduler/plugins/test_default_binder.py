"""DefaultBinder: the write that places a pod."""

import asyncio

import pytest

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.plugins.default_binder import DefaultBinder
from podium.testing import FakeApi, cycle_for, make_cluster, make_handle, make_pod


class Failing(FakeApi):
    async def bind(self, pod: PodInfo, node_name: str) -> None:
        raise ConnectionError("refused")


def test_it_binds_the_pod_to_the_chosen_node() -> None:
    api = FakeApi()
    cycle = cycle_for(make_pod("p", namespace="web"), make_cluster())
    plugin = DefaultBinder(None, make_handle())
    asyncio.run(plugin.bind(cycle, "n1", api))
    assert api.bound == {"web/p": "n1"}


def test_what_the_api_server_objects_to_is_not_hidden() -> None:
    cycle = cycle_for(make_pod("p"), make_cluster())
    plugin = DefaultBinder(None, make_handle())
    with pytest.raises(ConnectionError, match="refused"):
        asyncio.run(plugin.bind(cycle, "n1", Failing()))

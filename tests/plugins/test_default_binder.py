"""DefaultBinder: the write that places a pod."""

import asyncio

import pytest
from builders import make_cluster, make_handle, make_pod
from plugin_answers import cycle_for

from podium.cluster.pod_info import PodInfo
from podium.plugins.default_binder import DefaultBinder


class RecordingApi:
    def __init__(self, failure: str = "") -> None:
        self.bound: list[tuple[str, str]] = []
        self._failure = failure

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        if self._failure:
            raise ConnectionError(self._failure)
        self.bound.append((pod.key, node_name))


def test_it_binds_the_pod_to_the_chosen_node() -> None:
    api = RecordingApi()
    cycle = cycle_for(make_pod("p", namespace="web"), make_cluster())
    plugin = DefaultBinder(None, make_handle())
    asyncio.run(plugin.bind(cycle, "n1", api))
    assert api.bound == [("web/p", "n1")]


def test_what_the_api_server_objects_to_is_not_hidden() -> None:
    cycle = cycle_for(make_pod("p"), make_cluster())
    plugin = DefaultBinder(None, make_handle())
    with pytest.raises(ConnectionError, match="refused"):
        asyncio.run(plugin.bind(cycle, "n1", RecordingApi("connection refused")))

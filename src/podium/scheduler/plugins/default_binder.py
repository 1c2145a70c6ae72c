"""DefaultBinder: tell the API server where the pod goes.

What the API handle raises becomes the status of the Bind point, so there is nothing to catch here.
"""

from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.framework.points import BindPlugin


class DefaultBinder(BindPlugin):
    name = "DefaultBinder"

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        await api.bind(cycle.pod, node_name)

"""Plugins that are listed so that kube-scheduler fails every pod.

Upstream takes any list of plugins that exist. A plugin that filters by what its PreFilter worked
out, with the PreFilter switched off (`disabled: [{name: "*"}]` at preFilter is all it takes), finds
nothing there and ends every attempt with an error. kube-scheduler starts with such a list and
places nothing. A profile here has such a plugin pass the point all the same
(scheduler/framework/profile.py), and the list is told of, because it is no good elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from podium.scheduler.config.expand import PointLists
from podium.scheduler.config.findings import Finding, Level
from podium.scheduler.config.points import ExtensionPoint
from podium.scheduler.config.written import WrittenFile

BuildsOn = Callable[[str], Mapping[str, str]]
"""Which points of a plugin build on which others of it."""
_SILENT: Final = WrittenFile({})


def find_unworkable(
    lists: Mapping[str, PointLists], builds_on: BuildsOn, written: WrittenFile = _SILENT
) -> Iterator[Finding]:
    """What cannot work in the plugin lists of all profiles, one after another."""
    for i, points in enumerate(lists.values()):
        lacking: dict[str, dict[str, None]] = {}
        reading: dict[str, dict[str, None]] = {}
        for point, listed in points.items():
            for plugin in listed:
                needed = builds_on(plugin.name).get(point.value)
                if needed and plugin.name not in _names(points, needed):
                    lacking.setdefault(needed, {})[plugin.name] = None
                    reading.setdefault(needed, {})[point.value] = None
        for needed, plugins in lacking.items():
            path = f"profiles[{i}].plugins.{needed}"
            names, at = ", ".join(plugins), ", ".join(reading[needed])
            yield Finding(
                Level.WARNING,
                path,
                f"kube-scheduler fails every pod, since what is worked out at {needed} is read at "
                f"{at} by plugins that are off at {needed}: {names}; here they run there",
                f"enable them at {needed}, or disable them at {at}",
                written.line_of(path),
            )


def _names(points: PointLists, point: str) -> set[str]:
    return {plugin.name for plugin in points[ExtensionPoint(point)]}

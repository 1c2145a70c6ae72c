"""What has happened during a run that may make a pod fit that did not fit before.

A live scheduler retries a pod when an event concerns one of the plugins that rejected it. Offline
there are two sorts of events, a pod that got a node and a pod that left one, and the plugins'
registrations and hints are asked in the same way.
"""

from collections.abc import Iterable
from typing import NamedTuple

from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.framework.events import Action, ClusterEvent, Hint, Resource
from podium.framework.profile import Profile

_EVENTS = {
    Action.ADD: ClusterEvent(Resource.ASSIGNED_POD, Action.ADD),
    Action.DELETE: ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE),
}


class _Interest(NamedTuple):
    """What a plugin makes of one sort of event: always worth a try, or worth asking hints."""

    always: bool
    hints: tuple[Hint, ...]


class Happenings:
    def __init__(self) -> None:
        self._pods: list[tuple[Action, Pod]] = []
        self._interests: dict[tuple[str, str, Action], _Interest] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def placed(self, pod: Pod) -> None:
        self._pods.append((Action.ADD, pod))

    def left(self, pod: Pod) -> None:
        self._pods.append((Action.DELETE, pod))

    def may_help(
        self, profile: Profile, rejectors: Iterable[str], info: PodInfo, since: int
    ) -> bool:
        """Whether one of the plugins that rejected a pod thinks that another try is worth it."""
        if since == len(self._pods):
            return False
        for plugin in rejectors:
            interests = {action: self._interest(profile, plugin, action) for action in _EVENTS}
            if not any(interest.always or interest.hints for interest in interests.values()):
                continue
            for action, pod in self._pods[since:]:
                interest = interests[action]
                old, new = (None, pod) if action is Action.ADD else (pod, None)
                if interest.always or any(hint(info, old, new) for hint in interest.hints):
                    return True
        return False

    def _interest(self, profile: Profile, plugin: str, action: Action) -> _Interest:
        key = (profile.name, plugin, action)
        found = self._interests.get(key)
        if found is None:
            found = self._interests[key] = _interest_of(profile, plugin, action)
        return found


def _interest_of(profile: Profile, plugin: str, action: Action) -> _Interest:
    registered = profile.plugins[plugin].events() if plugin in profile.plugins else ()
    if registered is None:
        return _Interest(always=True, hints=())
    concerned = [entry for entry in registered if entry.concerns(_EVENTS[action])]
    return _Interest(
        any(entry.hint is None for entry in concerned),
        tuple(entry.hint for entry in concerned if entry.hint is not None),
    )

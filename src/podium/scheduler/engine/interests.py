"""Collecting what the plugins of each profile want to be told.

A plugin that can reject a pod and names no events hears of all of them.
Sources: `fillEnqueueExtensions` in `pkg/scheduler/framework/runtime/framework.go` and
`buildQueueingHintMap` in `pkg/scheduler/scheduler.go`.
"""

from collections.abc import Iterable

from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.engine.queue.queueing_hints import Interest, Interests
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.extender_rules import EXTENDER
from podium.scheduler.framework.faults import WrongAnswer, located
from podium.scheduler.framework.points import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from podium.scheduler.framework.profile import Profile

_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)

_EVERYTHING = tuple(
    Registration(resource, Action.ALL)
    for resource in (
        Resource.POD,
        Resource.NODE,
        Resource.PERSISTENT_VOLUME,
        Resource.PERSISTENT_VOLUME_CLAIM,
        Resource.CSI_NODE,
        Resource.CSI_DRIVER,
        Resource.CSI_STORAGE_CAPACITY,
        Resource.STORAGE_CLASS,
        Resource.RESOURCE_CLAIM,
        Resource.DEVICE_CLASS,
    )
)
_SOURCES = Registration(Resource.SOURCE, Action.ALL)
_WITH_GROUPS = (*_EVERYTHING, Registration(Resource.POD_GROUP, Action.ALL))


def interests_of(
    profiles: Iterable[Profile],
    *,
    pod_groups: bool = False,
    extenders: bool = False,
    hints: bool = True,
) -> Interests:
    """`pod_groups` says whether there are events about PodGroups, `extenders` whether there are
    any, which may change their minds whatever happens; without `hints` each event that a plugin
    registered for may help whomever it rejected."""
    everything = _WITH_GROUPS if pod_groups else _EVERYTHING
    theirs = tuple(Interest(EXTENDER, registration) for registration in everything)
    return Interests(
        {
            profile.name: tuple(
                Interest(plugin.name, registration if hints else registration._replace(hint=None))
                for plugin in profile.plugins.values()
                if isinstance(plugin, _REJECTING)
                for registration in _registrations(plugin, everything)
            )
            + (theirs if extenders else ())
            for profile in profiles
        }
    )


def _registrations(plugin: Plugin, everything: Iterable[Registration]) -> Iterable[Registration]:
    try:
        declared = plugin.events()
        if declared is not None and not all(isinstance(r, Registration) for r in declared):
            raise WrongAnswer("events", "None or Registrations", declared)
    except Exception as problem:
        raise ConfigurationError(
            f'asking plugin "{plugin.name}" for its events: {located(problem)}'
        ) from problem
    if declared is None:
        has_sources = type(plugin).sources is not Plugin.sources
        own = (Registration(kind.event_resource, Action.ALL) for kind in plugin.watched_kinds)
        return (*everything, *own, *((_SOURCES,) if has_sources else ()))
    nodes = [r for r in declared if r.resource is Resource.NODE]
    adds = any(r.action & Action.ADD for r in nodes)
    taints = any(r.action & Action.UPDATE_NODE_TAINT for r in nodes)
    if adds and not taints:
        # upstream: whoever waits for new nodes is also woken by every taint change
        return (*declared, Registration(Resource.NODE, Action.UPDATE_NODE_TAINT))
    return declared

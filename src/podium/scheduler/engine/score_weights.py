"""Other weights for the score plugins of a scheduler at work: the one way to change its profiles.

Plugins, queue and records stay as they are; the next scheduling cycle weighs otherwise, and
`configuration` says so. What was remembered of weighted scores is forgotten.
"""

from collections.abc import Mapping

from podium.scheduler.config.expand import PointLists, expand_profiles
from podium.scheduler.config.score_weights import with_score_weights
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.transitions import transition


def set_score_weights(
    engine: Engine, before: Configuration, scheduler_name: str, weights: Mapping[str, int]
) -> None:
    """Put weights by plugin in force for one profile, beside what `before` says; 0 switches a
    plugin off. During a cycle this waits for its end. Raises PluginListError."""
    changed = with_score_weights(before, scheduler_name, weights)
    registry = engine.registry
    lists = expand_profiles(changed, registry.implements, registry.__contains__)
    _put_in_force(engine, changed, lists)


@transition
def _put_in_force(
    engine: Engine, configuration: Configuration, lists: Mapping[str, PointLists]
) -> None:
    engine.configuration = configuration
    for name, profile in engine.profiles.items():
        profile.set_weights(lists[name])

"""The weights of score plugins, as Play's sliders have them.

What the scheduler was started with is the position to which they return, and what a file has to say
to keep others is worked out from it. A scheduler whose plugins were loaded anew has the weights of
its configuration again.
"""

from collections.abc import Callable, Mapping

from podium.golang.document_structs import DocumentPart
from podium.scheduler.config.effective import effective, effective_yaml
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.merge import (
    MAX_WEIGHT,
    PluginListError,
    score_weights_file,
    with_score_weights,
)
from podium.scheduler.config.types import API_VERSION, KIND, Configuration, ExtensionPoint
from podium.scheduler.engine import Engine
from podium.scheduler.engine.scheduler import set_score_weights

Weights = dict[str, int]


class WeightInForce(DocumentPart, frozen=True):
    """A score plugin with its weight now and at the start."""

    plugin: str
    """The plugin."""
    weight: int
    """Its weight now, 0 if it is off."""
    configured: int
    """Its weight at the start."""


class WeightsOfProfile(DocumentPart, frozen=True):
    """A profile with the weights of its score plugins."""

    scheduler_name: str
    """The profile."""
    plugins: tuple[WeightInForce, ...]
    """Those that score, in calling order."""
    file: str | None
    """A configuration file that keeps the weights; null where none was changed."""


class WrongWeights(Exception):
    """Weights that cannot be put in force; says which and why."""


class PlayWeights:
    def __init__(self, engine: Callable[[], Engine]) -> None:
        """`engine` is the one at work now."""
        self._engine = engine
        self._start: _Start | None = None

    def set(self, profile: str, weights: Mapping[str, int]) -> None:
        """Of one profile; plugins that are not named go back to what they were started with.
        Raises WrongWeights."""
        start = self._started
        configured = start.weights.get(profile)
        if configured is None:
            raise WrongWeights(f"no profile is named {profile}")
        for plugin, weight in weights.items():
            if plugin not in configured:
                raise WrongWeights(f"{plugin} scores nothing in profile {profile}")
            if not 0 <= weight <= MAX_WEIGHT:
                raise WrongWeights(f"the weight of {plugin} has to be between 0 and {MAX_WEIGHT}")
        changed = {name: w for name, w in weights.items() if w != configured[name]}
        before = start.configuration
        for other, its in start.changed.items():
            if other != profile:
                before = with_score_weights(before, other, its)
        try:
            set_score_weights(start.engine, before, profile, changed)
        except (PluginListError, ConfigurationError) as problem:
            raise WrongWeights(str(problem)) from None
        start.changed[profile] = changed

    def document(self) -> tuple[WeightsOfProfile, ...]:
        start = self._started
        return tuple(
            WeightsOfProfile(
                name,
                tuple(
                    WeightInForce(plugin, start.changed.get(name, {}).get(plugin, weight), weight)
                    for plugin, weight in configured.items()
                ),
                self.file(name),
            )
            for name, configured in start.weights.items()
        )

    def file(self, profile: str) -> str | None:
        """What keeps the weights in force; None where they are those of the start."""
        start = self._started
        if not any(start.changed.values()):
            return None
        if start.is_default:
            plugins = start.configuration.profiles[0].plugins
            changed = start.changed.get(profile, {})
            return effective_yaml(score_weights_file(plugins, profile, changed))
        return effective_yaml(effective(start.engine.configuration))

    @property
    def _started(self) -> "_Start":
        engine = self._engine()
        if self._start is None or self._start.engine is not engine:
            self._start = _Start(engine)
        return self._start


class _Start:
    """How an engine was configured when it began."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.configuration: Configuration = engine.configuration
        self.changed: dict[str, Weights] = {}
        point = ExtensionPoint.SCORE.value
        self.weights: dict[str, Weights] = {
            name: dict(profile.points()[point]) for name, profile in engine.profiles.items()
        }
        empty = {"apiVersion": API_VERSION, "kind": KIND}
        defaults = load_configuration(empty, gates=engine.gates)
        self.is_default = effective(defaults) == effective(engine.configuration)

"""Everything there is to say about one configuration file, for whoever asks before using it.

A file that loads comes with the effective configuration and the plugins at every point; one that
does not comes with all its mistakes, each with its line and what would be right, and with the one
text that kube-scheduler would exit with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.buildable import UnbuildableProfile
from podium.scheduler.config.config_map import policy_of_config_map
from podium.scheduler.config.effective import effective, expanded
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.expand import PointLists, expand_profiles
from podium.scheduler.config.findings import Finding
from podium.scheduler.config.load import Prepare, load_written
from podium.scheduler.config.merge import PluginListError
from podium.scheduler.config.mistakes import KnownPlugins, Mistake, mistakes_of
from podium.scheduler.config.types import Configuration
from podium.scheduler.config.unasked_extenders import find_unasked
from podium.scheduler.config.unworkable_points import find_unworkable
from podium.scheduler.config.written import WrittenFile, read_written

__all__ = ["Equipment", "Examination", "KnownPlugins", "Mistake", "examine"]


@dataclass(frozen=True, slots=True)
class Equipment:
    """The configuration that runs, the plugins that it can be built from, and notes on both.
    `check` raises ConfigurationError for what these plugins would refuse."""

    configuration: Configuration
    plugins: KnownPlugins
    notes: tuple[str, ...] = ()
    check: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Examination:
    """Either a configuration with its lists, or a message with its mistakes."""

    configuration: Configuration | None = None
    lists: dict[str, PointLists] | None = None
    message: str | None = None
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What should be written differently; of a file that does not load as far as it was read."""

    @property
    def errors(self) -> list[str]:
        """What kube-scheduler says, and if that has parts, each of them."""
        if self.message is None:
            return []
        parts = [m.sentence for m in self.mistakes if m.path and m.sentence in self.message]
        return [self.message, *parts] if len(parts) > 1 else [self.message]

    @property
    def loads(self) -> bool:
        return self.configuration is not None

    @property
    def effective(self) -> dict[str, Any] | None:
        return None if self.configuration is None else effective(self.configuration)

    @property
    def expanded(self) -> list[dict[str, list[Any]]] | None:
        return None if self.lists is None else expanded(self.lists)


def examine(
    data: bytes,
    plugins: KnownPlugins,
    gates: FeatureGates,
    *,
    prepare: Prepare = lambda _configuration: None,
    equip: Callable[[Configuration], Equipment] | None = None,
    takes_old: bool = True,
) -> Examination:
    """Load a file as far as it goes; what is wrong with it is told, not raised.

    `prepare` may look at what lies outside the file before anything is built, and refuse it with a
    ConfigurationError. `equip` brings further plugins for a configuration. Without `takes_old`
    names of earlier times are mistakes.
    """
    written = WrittenFile({})
    configuration: Configuration | None = None
    try:
        written = read_written(data)
        written = policy_of_config_map(written)
        configuration = load_written(written, gates=gates, prepare=prepare, takes_old=takes_old)
        equipment = Equipment(configuration, plugins)
        if equip is not None:
            equipment = equip(configuration)
            plugins = equipment.plugins
            equipment.check()
        lists = dict(expand_profiles(equipment.configuration, plugins.implements, plugins.exists))
    except ConfigurationError as error:
        first = _first(error, plugins)
        # What was read before it failed is said as well: it would be the next thing to mend.
        known = configuration.findings if configuration is not None else ()
        mistakes = mistakes_of(first, written, plugins)
        return Examination(message=first.message, mistakes=mistakes, findings=known)
    findings = (
        *equipment.configuration.findings,
        *find_unworkable(lists, plugins.builds_on, written),
        *find_unasked(configuration.extenders, written),
    )
    return Examination(equipment.configuration, lists, notes=equipment.notes, findings=findings)


def _first(error: ConfigurationError, plugins: KnownPlugins) -> ConfigurationError:
    """The failure that comes first: profiles are built one after another."""
    if isinstance(error, UnbuildableProfile):
        try:
            expand_profiles(error.before, plugins.implements, plugins.exists)
        except PluginListError as earlier:
            return earlier
    return error

"""Everything there is to say about one configuration file, for whoever asks before using it.

A file that loads comes with the effective configuration and the plugins at every point; one that
does not comes with all its mistakes, each with its line and what would be right, and with the one
text that kube-scheduler would exit with.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from podium.api.errors import closest, did_you_mean
from podium.config.effective import effective, expanded
from podium.config.errors import ConfigurationError
from podium.config.expand import PointLists, expand_profiles
from podium.config.feature_gates import DEFAULT_GATES, FeatureGates
from podium.config.load import load_written
from podium.config.merge import Exists, Implements
from podium.config.points import ExtensionPoint
from podium.config.types import Configuration
from podium.config.written import WrittenFile, read_written

_NO_SUCH_PLUGIN: Final = re.compile(r'\w+Plugin "([^"]*)" does not exist$')
_WRONG_POINT: Final = re.compile(r'plugin "([^"]*)" does not extend \w+ plugin$')


@dataclass(frozen=True, slots=True)
class KnownPlugins:
    """What the caller knows about the plugins: their names and where each can run."""

    names: Sequence[str]
    implements: Implements

    @property
    def exists(self) -> Exists:
        return frozenset(self.names).__contains__


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong; unknown parts are empty."""

    text: str
    path: str = ""
    line: int | None = None
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """Either a configuration with its lists, or a message with its mistakes."""

    configuration: Configuration | None = None
    lists: dict[str, PointLists] | None = None
    message: str | None = None
    mistakes: tuple[Mistake, ...] = ()

    @property
    def loads(self) -> bool:
        return self.configuration is not None

    @property
    def effective(self) -> dict[str, Any] | None:
        return None if self.configuration is None else effective(self.configuration)

    @property
    def expanded(self) -> list[dict[str, list[Any]]] | None:
        return None if self.lists is None else expanded(self.lists)


def examine(data: bytes, plugins: KnownPlugins, gates: FeatureGates = DEFAULT_GATES) -> Examination:
    """Load a file as far as it goes. Never raises."""
    written = WrittenFile({})
    try:
        written = read_written(data)
        configuration = load_written(written, gates=gates)
        lists = dict(expand_profiles(configuration, plugins.implements, plugins.exists))
    except ConfigurationError as error:
        return Examination(message=error.message, mistakes=_mistakes(error, written, plugins))
    return Examination(configuration, lists)


def _mistakes(
    error: ConfigurationError, written: WrittenFile, plugins: KnownPlugins
) -> tuple[Mistake, ...]:
    if len(error.problems) == 1 and not error.problems[0].path:
        remedy = error.remedy or _advice(error.message, plugins)
        return (Mistake(error.message, line=error.line, remedy=remedy),)
    return tuple(
        Mistake(p.text, p.path, written.line_of(p.path), p.remedy or _advice(p.text, plugins))
        for p in dict.fromkeys(error.problems)
    )


def _advice(text: str, plugins: KnownPlugins) -> str:
    missing = _NO_SUCH_PLUGIN.search(text)
    if missing is not None:
        return did_you_mean(closest(missing[1], plugins.names)) or (
            f"there are {', '.join(sorted(plugins.names))}"
        )
    misplaced = _WRONG_POINT.search(text)
    if misplaced is not None:
        points = [p.value for p in ExtensionPoint if plugins.implements(misplaced[1], p)]
        return f"it runs at {', '.join(points)}"
    return ""

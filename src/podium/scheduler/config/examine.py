"""Everything there is to say about one configuration file, mistakes with their lines included.

A file that loads comes with the effective configuration and the plugins at every point; one that
does not comes with all its mistakes, each with its line and what would be right, and with the one
text that kube-scheduler would exit with.

What is wrong with a configuration, told to whoever has to mend it. kube-scheduler stops at the
first failure of a kind and knows no lines. Here every mistake comes with its path, its line and,
where that can be guessed, with what would be right. Of plugin lists, which are checked last and one
entry at a time, all entries are told.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from podium.golang.errors import closest, did_you_mean
from podium.golang.quoting import go_quote
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import release
from podium.scheduler.config.buildable import UnbuildableProfile, find_unasked, find_unworkable
from podium.scheduler.config.effective import effective, expand_lists
from podium.scheduler.config.errors import ConfigFinding, ConfigurationError, FieldProblem
from podium.scheduler.config.load import Prepare, load_written, policy_of_config_map
from podium.scheduler.config.merge import (
    Exists,
    Implements,
    PluginListError,
    PointLists,
    expand_profiles,
)
from podium.scheduler.config.types import Configuration, ExtensionPoint, points_of
from podium.scheduler.config.validation import IN_TREE_VOLUME_LIMITS
from podium.scheduler.config.written import WrittenFile, read_written

MAX_TOLD: Final = 100
_NO_SUCH_PLUGIN: Final = re.compile(r'\b[A-Z]\w*Plugin "([^"]*)" does not exist$')
_WRONG_POINT: Final = re.compile(r'\bplugin "([^"]*)" does not extend \w+ plugin$')
_TWICE: Final = re.compile(r'\bplugin "[^"]*" already registered as "\w+"$')
_UNSUPPORTED: Final = re.compile(r'Unsupported value: "([^"]*)": supported values: (.*)$')
_GONE: Final = re.compile(r'Invalid value: "(\w+)": was (?:invalid|removed) in version')
_YAML_LINE: Final = re.compile(r"^yaml: line \d+: ")
_REPEATED_KEY: Final = re.compile(r"^line (\d+): (key .* already set in map)$")
_NO_NAME_LIKE_THAT: Final = (
    "no plugin has a name like that; one of your own is brought along with --plugin"
)
_MULTI_POINT: Final = "multiPoint"
_NAMELESS: Final = 'Plugin "" does'
# Advice by the end of a path and the beginning of what is wrong there.
_BY_PLACE: Final = (
    (
        "leaderElection.leaseDuration",
        "",
        "leaseDuration (15s unless written) must be longer than renewDeadline (10s unless written)",
    ),
    (".schedulerName", "Required value", "each of several profiles needs a name of its own"),
    (".schedulerName", "Duplicate value", "give each profile a name of its own"),
)


@dataclass(frozen=True, slots=True)
class KnownPlugins:
    """What the caller knows about the plugins: their names and where each can run."""

    names: Sequence[str]
    implements: Implements
    builds_on: Callable[[str], Mapping[str, str]] = lambda _name: {}
    """Which points of a plugin build on which others of it."""

    @property
    def exists(self) -> Exists:
        return frozenset(self.names).__contains__


@dataclass(frozen=True, slots=True)
class ConfigurationMistake:
    """One thing that is wrong; unknown parts are empty."""

    text: str
    path: str = ""
    line: int | None = None
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


def mistakes_of(
    error: ConfigurationError, written: WrittenFile, plugins: KnownPlugins
) -> tuple[ConfigurationMistake, ...]:
    """Everything that is wrong with a file."""
    listed = list(_list_problems(written.value, plugins))
    problems: Sequence[FieldProblem] = error.problems
    if isinstance(error, PluginListError):
        problems = listed or problems
    elif any(problem.path for problem in problems):
        problems = [*problems, *(p for p in listed if _NAMELESS not in p.text)]
    if len(problems) == 1 and not problems[0].path:
        text = _YAML_LINE.sub("yaml: ", problems[0].text) if error.line else problems[0].text
        repeated = _REPEATED_KEY.match(text)
        if repeated is None:
            remedy = error.remedy or _advice(problems[0], plugins)
            return (ConfigurationMistake(text, line=error.line, remedy=remedy),)
    different = list(dict.fromkeys(problems))
    told = [_mistake(problem, written, plugins) for problem in different[:MAX_TOLD]]
    if len(different) > MAX_TOLD:
        told.append(ConfigurationMistake(f"and {len(different) - MAX_TOLD} more problems"))
    return tuple(told)


def _mistake(
    problem: FieldProblem, written: WrittenFile, plugins: KnownPlugins
) -> ConfigurationMistake:
    repeated = _REPEATED_KEY.match(problem.text) if not problem.path else None
    if repeated is not None:
        return ConfigurationMistake(
            repeated[2], line=int(repeated[1]), remedy="remove one of the two"
        )
    remedy = problem.remedy or _advice(problem, plugins)
    return ConfigurationMistake(problem.text, problem.path, written.line_of(problem.path), remedy)


def _list_problems(document: Any, plugins: KnownPlugins) -> Iterator[FieldProblem]:
    """Entries of plugin lists that no plugin stands for, or not there, or that are there twice."""
    for i, profile in enumerate(_list(document, "profiles")):
        sets = _map(profile, "plugins")
        for name, point in ((p.value, p) for p in points_of(release())):
            at = f"profiles[{i}].plugins.{name}.enabled"
            yield from _entries(at, _list(sets.get(name), "enabled"), point, plugins)
        at = f"profiles[{i}].plugins.{_MULTI_POINT}.enabled"
        yield from _entries(at, _list(sets.get(_MULTI_POINT), "enabled"), None, plugins)


def _entries(
    at: str, entries: Sequence[Any], point: ExtensionPoint | None, plugins: KnownPlugins
) -> Iterator[FieldProblem]:
    # upstream: what multiPoint names is looked for as a PreFilter plugin first.
    kind = (point or ExtensionPoint.PRE_FILTER).plugin_type
    seen: set[str] = set()
    for j, entry in enumerate(entries):
        name = entry.get("name", "") if isinstance(entry, Mapping) else ""
        if not isinstance(name, str) or name in IN_TREE_VOLUME_LIMITS:
            continue
        at_entry = f"{at}[{j}]"
        if not plugins.exists(name):
            yield FieldProblem(at_entry, f"{kind} {go_quote(name)} does not exist")
        elif point is not None and not plugins.implements(name, point):
            yield FieldProblem(at_entry, f"plugin {go_quote(name)} does not extend {kind} plugin")
        elif name in seen:
            yield FieldProblem(at_entry, f'plugin {go_quote(name)} already registered as "{kind}"')
        seen.add(name)


def _advice(problem: FieldProblem, plugins: KnownPlugins) -> str:
    text = problem.text
    if missing := _NO_SUCH_PLUGIN.search(text):
        return did_you_mean(closest(missing[1], plugins.names)) or _NO_NAME_LIKE_THAT
    if misplaced := _WRONG_POINT.search(text):
        points = [p.value for p in points_of(release()) if plugins.implements(misplaced[1], p)]
        return f"it runs at {', '.join(points)}"
    if _TWICE.search(text):
        return "list it once"
    if unsupported := _UNSUPPORTED.search(text):
        choices = [choice.strip('"') for choice in unsupported[2].split(", ")]
        return did_you_mean(closest(unsupported[1], choices))
    if (gone := _GONE.search(text)) and gone[1] in IN_TREE_VOLUME_LIMITS:
        return "remove it; NodeVolumeLimits counts these volumes"
    return next(
        (
            advice
            for end, start, advice in _BY_PLACE
            if problem.path.endswith(end) and text.startswith(start)
        ),
        "",
    )


def _map(value: Any, key: str) -> Mapping[str, Any]:
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _list(value: Any, key: str) -> Sequence[Any]:
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, list) else ()


__all__ = ["ConfigurationMistake", "Equipment", "Examination", "KnownPlugins", "examine"]


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
    mistakes: tuple[ConfigurationMistake, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[ConfigFinding, ...] = ()
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
        return None if self.lists is None else expand_lists(self.lists)


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

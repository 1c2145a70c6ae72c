"""Options that several commands share, and how they become a scenario and a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.printing import print_lines
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from podium.commands.console import Progress
    from podium.kubernetes.kinds.meta import KubeObject
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.offline.simulate import Scenario
    from podium.scheduler.config.errors import ConfigFinding
    from podium.scheduler.config.types import Configuration
    from podium.scheduler.framework.events import WatchedKind
    from podium.user_code.plugins import Equipped


_MAX_WARNINGS = 20
Filename = Annotated[
    list[str] | None,
    Parameter(
        name=["--filename", "-f"],
        negative="",
        allow_leading_hyphen=True,
        metavar="FILE",
        help="A file or directory with the cluster and the pods, or - for standard input. "
        "May be repeated.",
    ),
]
PodReference = Annotated[
    str,
    Parameter(
        help="The pod: its name or how that begins, namespace/name, or deployment/name, sts/name "
        "and so on for a pod of a workload."
    ),
]
Config = Annotated[
    str | None,
    Parameter(
        name=["--config"],
        metavar="FILE",
        help="A KubeSchedulerConfiguration. Left out: kube-scheduler's defaults.",
    ),
]
Seed = Annotated[
    int,
    Parameter(name=["--seed"], metavar="N", help="Decides between nodes with equal totals."),
]
ValidationMode = Annotated[
    Literal["strict", "warn", "ignore"],
    Parameter(name=["--validation"], help="What to do about fields that do not exist."),
]
Gates = Annotated[
    list[str] | None,
    Parameter(
        name=["--feature-gates"],
        negative="",
        metavar="A=true,B=false",
        help="Feature gates of Kubernetes 1.36 that are not to have their defaults. "
        "May be repeated.",
    ),
]
Strict = Annotated[
    bool,
    Parameter(
        name=["--strict"],
        negative="",
        show_default=False,
        help="Refuse names of earlier releases in configuration, feature gates and objects. "
        "Left out: they are taken for those of today, with a warning.",
    ),
]
PluginFiles = Annotated[
    list[str] | None,
    Parameter(
        name=["--plugin"],
        negative="",
        metavar="FILE.py[:Class]",
        help="A plugin of your own: a file or package.module:Class. Runs at all its points, with "
        "weight 1, unless the configuration names it. May be repeated.",
    ),
]
PluginTimeout = Annotated[
    str,
    Parameter(
        name=["--plugin-timeout"],
        metavar="DURATION",
        help="How long one call into a plugin of your own may take before it is interrupted and "
        "fails the pod's attempt: 500ms, 10s; 0 for no limit.",
    ),
]
Reload = Annotated[
    bool,
    Parameter(
        name=["--reload"],
        negative="",
        show_default=False,
        help="Look at the files of --plugin, and go on with what is in them when they change.",
    ),
]
Validate = Annotated[
    bool,
    Parameter(
        name=["--validate"],
        negative="",
        show_default=False,
        help="Check the whole state after every step. Slow; what breaks is a bug in Podium.",
    ),
]
OutputFormat = Literal["table", "wide", "json", "yaml"]
Output = Annotated[OutputFormat, Parameter(name=["--output", "-o"], help="What to print.")]
ShowAll = Annotated[
    bool,
    Parameter(
        name=["--all", "-a"],
        negative="",
        show_default=False,
        help="Everything, however many lines that takes.",
    ),
]


def read_scenario(
    paths: Sequence[str],
    validation: str,
    *,
    gates: FeatureGates,
    namespace: str = "default",
    stored: Sequence[KubeObject] = (),
    unread: Mapping[str, str] = MappingProxyType({}),
    watched: Sequence[WatchedKind] = (),
    strict: bool = False,
) -> Scenario:
    """Files into a scenario, on top of what a cluster has `stored` and let be read, with the kinds
    that plugins have `watched`; on a terminal with a word about the file at hand. What is written
    as in earlier releases is told on standard error, or refused if that is `strict`."""
    from podium.commands.console import Console, Text
    from podium.offline.simulate import FieldValidation, load_scenario
    from podium.scheduler.engine.garbage import put_aside

    def load(on_file: Callable[[str], None]) -> Scenario:
        with put_aside():
            return load_scenario(
                paths,
                gates=gates,
                validation=FieldValidation(validation),
                on_file=on_file,
                namespace=namespace,
                stored=stored,
                unread=unread,
                watched=watched,
                takes_old=not strict,
            )

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("reading") as status:
            scenario = load(lambda path: status.update(Text(f"reading {path}")))
    else:
        scenario = load(lambda _: None)
    print_warnings(scenario.old_spellings)
    return scenario


def print_warnings(texts: Sequence[str]) -> None:
    """Each in a line on standard error; of very many only the first."""
    shown = [*texts[:_MAX_WARNINGS]]
    if len(texts) > len(shown):
        shown.append(f"and {len(texts) - len(shown)} more like these")
    print_lines((f"podium: warning: {text}" for text in shown), error=True)


def read_configuration(
    path: str | None, gates: FeatureGates, *, strict: bool = False
) -> Configuration:
    """A file's configuration, or the defaults; what should be written differently is told on
    standard error."""
    from podium.net.files.bounded_files import read_input
    from podium.scheduler.config.load import load_configuration, load_file

    if path is None:
        return load_configuration(None, gates=gates)
    configuration = load_file(read_input(path), source=path, gates=gates, takes_old=not strict)
    print_findings(configuration.findings, path)
    return configuration


def warn_of_unworkable(equipped: Equipped, source: str) -> None:
    """Tell of plugins that cannot work as they are listed, on standard error."""
    from podium.scheduler.config.buildable import find_unworkable
    from podium.scheduler.config.merge import PluginListError, expand_profiles

    configuration, registry, _ = equipped
    try:
        lists = expand_profiles(configuration, registry.implements, registry.__contains__)
    except PluginListError:
        return  # whoever builds the profiles tells
    print_findings(find_unworkable(lists, registry.builds_on), source)


def print_findings(findings: Iterable[ConfigFinding], source: str) -> None:
    print_warnings([found.warning(source) for found in findings])


def limit_plugins(timeout: str) -> None:
    """What `--plugin-timeout` asks for. Raises InputError."""
    from podium.golang.durations import Duration, DurationError
    from podium.user_code.time_limits import limit_calls

    try:
        limit = Duration.parse(timeout)
    except DurationError as problem:
        raise InputError(f"--plugin-timeout: {problem}", remedy="500ms, 10s, 1m30s or 0") from None
    if limit.nanoseconds < 0:
        raise InputError(f"--plugin-timeout {limit} must not be negative")
    limit_calls(limit.seconds)


@contextmanager
def progress_bar(what: str, total: int, *, rate: str = "") -> Iterator[Progress]:
    """A bar on standard error that shows on terminals only and leaves nothing behind; `rate` is the
    unit of how fast it goes, if that is to be shown."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    from podium.commands.console import Console, DescriptionColumn, Progress, RateColumn

    console = Console(stderr=True)
    columns: list[ProgressColumn] = [DescriptionColumn(), BarColumn(), MofNCompleteColumn()]
    if rate:
        columns.append(RateColumn(rate))
    columns.append(TimeRemainingColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        progress.add_task(what, total=total)
        yield progress

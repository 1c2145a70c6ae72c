"""The usage text: every flag in its section, in pflag's columns.

The first line of the help is the one that scripts look for to recognise the scheduler; the rest is
Podium's own. Lines are wrapped to `columns`, or not at all if that is 0.
"""

import textwrap
from collections.abc import Iterator
from typing import Any, Final

from podium.kubernetes.releases.feature_gates import FeatureGates, Stage
from podium.kubernetes.releases.release import release
from podium.scheduler.config.flags.definitions import scheduler_flags
from podium.scheduler.config.flags.flag import Flag, Section
from podium.scheduler.config.flags.kinds import BOOL, STRING
from podium.scheduler.config.flags.legacy_definitions import LEGACY

_USE: Final = "Usage:\n  podium run [flags]\n"
_ABOUT: Final = """\
The Kubernetes scheduler is a control plane process which assigns
pods to nodes. This one is Podium: it takes the command line of kube-scheduler 1.36,
the flags of earlier releases included, and decides as kube-scheduler does.

It schedules the pods of the cluster that --kubeconfig, or clientConnection.kubeconfig
in the file of --config, leads to. `podium up` is a whole cluster to try it on,
`podium simulate` schedules offline, and `podium config` tells all about a configuration."""
_EMPTY: Final[tuple[Any, ...]] = ("", "0", 0, False, (), None)
_LEAST_WIDTH: Final = 24


def help_text(columns: int = 0) -> str:
    return f"{_ABOUT}\n\n{usage_text(columns)}"


def usage_text(columns: int = 0) -> str:
    sections = (*scheduler_flags(release()), LEGACY)
    return _USE + "".join(_section(section, columns) for section in sections)


def _section(section: Section, columns: int) -> str:
    rows = [(_name(flag), _help(flag)) for flag in section.flags]
    width = max(len(name) for name, _ in rows) + 3
    lines = [line for name, text in rows for line in _wrapped(name, text, width, columns)]
    return "\n".join((f"\n{section.title.capitalize()} flags:\n", *lines, ""))


def _name(flag: Flag) -> str:
    start = f"  -{flag.shorthand}, " if flag.shorthand else "      "
    return f"{start}--{flag.name} {flag.kind.type_name}".rstrip()


def _help(flag: Flag) -> str:
    text = flag.help
    shown = flag.default not in _EMPTY and flag.kind.shown(flag.default) not in ("", "[]", "false")
    if shown:
        default = flag.kind.shown(flag.default)
        text += f' (default "{default}")' if flag.kind is STRING else f" (default {default})"
    if flag.until:
        text += f" (until {flag.until})"
    if flag.name == "feature-gates":
        text = "\n".join((f"{text} Options are:", *_gate_options()))
    return text


def _gate_options() -> Iterator[str]:
    yield "kube:AllAlpha=true|false (ALPHA - default=false)"
    yield "kube:AllBeta=true|false (BETA - default=false)"
    for name, gate in FeatureGates().known.items():
        if gate.stage in (Stage.ALPHA, Stage.BETA):
            default = BOOL.shown(gate.default)
            yield f"kube:{name}=true|false ({gate.stage} - default={default})"


def _wrapped(name: str, text: str, width: int, columns: int) -> list[str]:
    room = columns - width
    lines = text.split("\n")
    if room >= _LEAST_WIDTH:
        lines = [piece for line in lines for piece in textwrap.wrap(line, room) or [""]]
    first, *others = lines
    return [f"{name:{width}}{first}", *(f"{'':{width}}{line}" for line in others)]

"""The flags of kube-scheduler, and Podium's own.

Contract: the sections, names, types and defaults are those of the release, so that a unit file or a
static pod's command line works unchanged.
"""

from functools import cache
from typing import Final

from podium.golang.durations import Duration
from podium.kubernetes.releases.entries import FlagEntry
from podium.kubernetes.releases.release import Release
from podium.scheduler.config.flags.flag import Flag, Section
from podium.scheduler.config.flags.flag_texts import FLAG_TEXTS
from podium.scheduler.config.flags.kinds import BOOL, DURATION, KINDS, STRINGS

OWN: Final = Section(
    "podium",
    (
        Flag(
            "plugin",
            STRINGS,
            (),
            "A plugin of your own, as FILE.py[:Class] or package.module:Class; may be repeated. "
            "Runs at all its points, with weight 1, unless the configuration names it.",
        ),
        Flag(
            "plugin-timeout",
            DURATION,
            Duration(5_000_000_000),
            "How long one call into a plugin of your own may take before it is interrupted and "
            "fails the pod's attempt; loading one may take twelve times that. 0 for no limit.",
        ),
        Flag(
            "reload",
            BOOL,
            False,
            "Look at the files of --plugin, and start anew with what is in them when they change. "
            "A file that does not load leaves the plugin before in force.",
        ),
        Flag(
            "run-all-filters",
            BOOL,
            False,
            "Have every filter look at every node, so that a node shows all reasons against it and "
            "not that of the first filter only. Pods go where they go without it.",
        ),
        Flag(
            "strict",
            BOOL,
            False,
            "Refuse names of earlier releases in the configuration and among the feature gates, as "
            "kube-scheduler does, instead of taking them with a warning.",
        ),
        Flag(
            "ui",
            BOOL,
            False,
            "Serve a page for browsers below /ui/ of the secure port: nodes, queue and decisions, "
            "for whoever may get that path.",
        ),
    ),
)
"""What kube-scheduler does not have."""


@cache
def scheduler_flags(known: Release) -> tuple[Section, ...]:
    """The flags of a release's kube-scheduler by section, and last our own."""
    sections = (
        Section(title, tuple(map(_flag, entries))) for title, entries in known.flags.items()
    )
    return (*sections, OWN)


def _flag(entry: FlagEntry) -> Flag:
    kind, text = KINDS[entry.type], FLAG_TEXTS[entry.name]
    default = kind.read(entry.default, None) if entry.default else kind.zero
    return Flag(entry.name, kind, default, text.help, shorthand=entry.shorthand, idle=text.idle)

"""Extenders that are listed and that no scheduler ever asks.

Upstream takes an extender whose verbs are all blank, as configurations that show every field have
them, and passes it over at each point. Whoever listed it believes that it is asked.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from podium.scheduler.config.findings import Finding, Level
from podium.scheduler.config.types import Extender
from podium.scheduler.config.written import WrittenFile

_TEXT: Final = "has no verb, so that nobody ever asks it"
_REMEDY: Final = "write filterVerb, prioritizeVerb, preemptVerb or bindVerb, or leave it out"
_SILENT: Final = WrittenFile({})


def find_unasked(
    extenders: Sequence[Extender], written: WrittenFile = _SILENT
) -> Iterator[Finding]:
    """A finding for each extender without any verb."""
    for i, extender in enumerate(extenders):
        verbs = (extender.filter_verb, extender.prioritize_verb, extender.preempt_verb)
        if not any((*verbs, extender.bind_verb)):
            path = f"extenders[{i}]"
            yield Finding(Level.WARNING, path, _TEXT, _REMEDY, written.line_of(path))

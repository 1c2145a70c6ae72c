"""The command that writes all that scheduling reads of a cluster into a file.

`kubectl get KIND,KIND -o json` is of no use for that: it prints nothing at all if the server lacks
one of the kinds, and its answer for a kind without objects does not say which kind that was. So
each collection is asked for by its path. A server that lacks one says so and the others are still
there, and an empty collection has its kind in it: "there are none" can be told from "nobody asked".
"""

import shlex
from collections.abc import Iterable
from typing import Final

from podium.client import ResourceType
from podium.offline.simulate.read_kinds import ADMISSION, READ, resource_of
from podium.scheduler.framework.events import WatchedKind

HOW_TO_DUMP: Final = "podium dump-command prints the command that writes a whole cluster to a file"


def kinds_to_dump(watched: Iterable[WatchedKind] = ()) -> tuple[ResourceType, ...]:
    """All that scheduling and admission read, and what plugins have `watched` besides."""
    return tuple(dict.fromkeys((*READ, *ADMISSION, *map(resource_of, watched))))


def dump_command(target: str = "cluster.json", watched: Iterable[WatchedKind] = ()) -> str:
    """A line for any POSIX shell; `target` must need no quoting."""
    paths = " ".join(shlex.quote(resource.path()) for resource in kinds_to_dump(watched))
    return (
        f"for path in {paths};"
        ' do kubectl get --raw "$path" || echo "left out: $path" >&2;'
        f" done > {target}"
    )

"""Kinds that plugins read beside those that every scheduler watches: custom resources, mostly.

A plugin names them in its class, so that whoever reads files or a cluster knows of them before the
plugin is built. Drivers then watch them as they watch everything else, plugins find them with
`handle.get` and `handle.list`, and an event about one is registered for under `event_resource`.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject


class WatchedKind(NamedTuple):
    """`struct` has `api_version` and `kind` as defaults. `definition` makes the
    CustomResourceDefinition, for clusters that Podium builds itself. A kind that is `optional` is
    left out without a word where the server does not serve it."""

    struct: type[KubeObject]
    plural: str
    namespaced: bool = True
    definition: Callable[[], JsonObject] | None = None
    optional: bool = False

    @property
    def api_version(self) -> str:
        return self.struct().api_version

    @property
    def kind(self) -> str:
        return self.struct().kind

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def event_resource(self) -> str:
        """How events name the kind: `podgroups.v1alpha1.scheduling.x-k8s.io`."""
        return f"{self.plural}.{self.version}.{self.group}"


def unique_kinds(kinds: Iterable[WatchedKind]) -> tuple[WatchedKind, ...]:
    """Each kind once, as the first who named it did."""
    return tuple({kind.struct: kind for kind in reversed([*kinds])}.values())[::-1]

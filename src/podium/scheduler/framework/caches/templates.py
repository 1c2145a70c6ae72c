"""What stays true from one pod of a template to the next.

Pods come in bursts of one template, and between two of them only usage has changed. Most plugins
then prepare themselves as they did a moment ago: they stand aside, or leave the same state. A
plugin that says so (`pre_filter_stays`, `pre_score_stays`) is not asked again until something
other than a pod changes, and vectors that depend on nodes alone are added up once. Plugins that say
nothing are asked every time, so nobody has to know of this. `phases.py` makes use of it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.typed_objects import KINDS
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.pod_info import PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.caches.totals import Tallies
from podium.scheduler.framework.caches.vectors import FilterEntry, ScoreEntry, scores_as_they_are
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import FilterResult, Verdict
from podium.scheduler.framework.points import (
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import PluginScores

MAX_SHAPES = 8192
MAX_BYTES = 64 * 1024 * 1024

World = tuple[int, int, int, int]
P = TypeVar("P", bound=Plugin)


def world_of(cluster: Cluster, passed_over: Sequence[type[KubeObject]] = ()) -> World:
    """Moves when anything but pods and objects of kinds that are `passed_over` changes, or a pod
    brings a term that none had before."""
    nodes, catalog = cluster.nodes, cluster.catalog
    changes = catalog.changes
    for kind in passed_over:
        changes -= catalog.version(kind)
    return (nodes.membership, nodes.log.generation, changes, cluster.classes.terms_version)


def kinds_to_pass_over(plugins: Iterable[Plugin]) -> tuple[type[KubeObject], ...]:
    """Custom kinds that nothing which is remembered of templates depends on: whoever reads one of
    them declares it, and promises nothing, or nothing that they matter for."""
    passed_over: dict[type[KubeObject], bool] = {}
    for plugin in plugins:
        for watched in plugin.watched_kinds:
            kind = watched.struct
            stays = plugin.stays_whatever_watched or not _may_promise(type(plugin))
            passed_over[kind] = passed_over.get(kind, kind not in KINDS.values()) and stays
    return tuple(kind for kind, is_passed_over in passed_over.items() if is_passed_over)


def _may_promise(plugin: type[Plugin]) -> bool:
    """Whether it has written one of the methods by which promises are made."""
    return any(
        getattr(plugin, name) is not getattr(point, name)
        for point, name in (
            (PreFilterPlugin, "pre_filter_stays"),
            (PreScorePlugin, "pre_score_stays"),
            (FilterPlugin, "filter_depends"),
            (ScorePlugin, "score_depends"),
        )
        if issubclass(plugin, point)
    )


class Prepared(NamedTuple, Generic[P]):
    """What a point's plugins have settled: who stands aside, which states are there, and who has
    to be asked again."""

    skipped: frozenset[str]
    states: dict[str, object]
    rest: tuple[P, ...]
    in_order: tuple[str, ...]
    """All that stood aside when this was learned, in calling order."""


class Constants:
    """Scorers whose scores stand, added up.

    `uneven` are raw scores that differ between nodes and are normalised by their range: what was
    worked out for all nodes holds for some only if these have the same range.
    """

    __slots__ = ("_fitting", "nbytes", "total", "uneven")

    def __init__(self, total: Ints, uneven: list[Ints]) -> None:
        self.total = total
        self.uneven = uneven
        self.nbytes = total.nbytes
        self._fitting: npt.NDArray[np.intp] | None = None

    def fit(self, rows: npt.NDArray[np.intp]) -> bool:
        """Whether the normalised scores are right for some rows as well."""
        # The same array is not compared twice; nobody changes an array of rows.
        if not self.uneven or rows is self._fitting:
            return True
        for raw in self.uneven:
            some = raw[rows]
            if some.min() != raw.min() or some.max() != raw.max():
                return False
        self._fitting = rows
        return True


NOT_KNOWN = PluginScores("", 0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""Stands where a scorer has to be asked."""


class Scorer:
    """`constant` are the plugin's scores if they stand; `as_it_is` says that raw scores are the
    normalised ones, whatever rows they are for, and in range. `dependence` is there if it is the
    same for the whole shape; `entry` is then where its scores are remembered."""

    __slots__ = ("as_it_is", "constant", "dependence", "entry", "plugin", "weight")

    def __init__(self, plugin: ScorePlugin, weight: int) -> None:
        self.plugin = plugin
        self.weight = weight
        self.as_it_is = plugin.in_range and scores_as_they_are(plugin)
        self.constant: PluginScores | None = None
        self.dependence: Dependence | None = None
        self.entry: ScoreEntry | None = None


class Rejector:
    """A filter that may reject a row; `dependence` and `entry` as of a scorer."""

    __slots__ = ("dependence", "entry", "plugin")

    def __init__(self, plugin: FilterPlugin) -> None:
        self.plugin = plugin
        self.dependence: Dependence | None = None
        self.entry: FilterEntry | None = None


Rejection = tuple[str, Verdict]
"""A plugin's name and its verdict."""


class _Filtered(NamedTuple):
    """`head` keeps the vectors alive, by whose identity the result is found."""

    head: Sequence[Rejection]
    result: FilterResult

    @property
    def nbytes(self) -> int:
        return self.result.nbytes + 8 * self.result.count


class TemplateEntry:
    """What is known of one shape, as far as its attempts have found out."""

    __slots__ = ("constants", "filters", "pre_filter", "pre_score", "standing", "varying")

    def __init__(self) -> None:
        self.pre_filter: Prepared[PreFilterPlugin] | None = None
        self.pre_score: Prepared[PreScorePlugin] | None = None
        self.filters: tuple[Rejector, ...] | None = None
        """All that may reject a row, in order."""
        self.constants: Constants | None = None
        self.standing: tuple[PluginScores, ...] = ()
        """Of all scorers that may take part, in order, the scores that stand."""
        self.varying: tuple[tuple[int, Scorer], ...] = ()
        """Those that have to be asked, and their places in that order."""


class TemplateCache:
    """What stands for the shapes of late, for one profile; bounded in number and bytes."""

    def __init__(
        self, passed_over: Sequence[type[KubeObject]] = (), most_bytes: int = MAX_BYTES
    ) -> None:
        """`passed_over` are kinds whose changes matter for nothing here."""
        self._passed_over = passed_over
        self._by_shape: dict[PodShape, TemplateEntry] = {}
        self._constants: dict[Hashable, Constants] = {}
        self._filtered: OrderedDict[tuple[int, ...], _Filtered] = OrderedDict()
        self.tallies = Tallies()
        self._world: World | None = None
        self._most_bytes = most_bytes
        self.nbytes = 0

    def of(self, cycle: Cycle) -> TemplateEntry | None:
        """None for an attempt that is not like others (with volumes or claims of its own, on a
        node that it names, in a group, on an imagined cluster) and for the first after a change."""
        pod = cycle.pod
        shape = pod.shape
        if (
            not shape.is_plain
            or pod.pod.spec.node_name
            or cycle.group is not None
            or cycle.usage is not cycle.cluster.usage
        ):
            return None
        world = world_of(cycle.cluster, self._passed_over)
        if world != self._world:
            # A world that changes with every pod is not worth learning: the first attempt after
            # a change gets no template, so the second one in the same world is what learns.
            self._world = world
            self._forget()
            return None
        template = self._by_shape.get(shape)
        if template is None:
            if len(self._by_shape) >= MAX_SHAPES:
                self._forget()
            template = self._by_shape[shape] = TemplateEntry()
        return template

    def constants(self, key: Hashable, make: Callable[[], Constants]) -> Constants:
        """Constants that shapes may have in common."""
        part = self._constants.get(key)
        if part is None:
            part = self._constants[key] = make()
            self._account(part.nbytes)
        return part

    def combine_head(self, rows: Rows, head: Sequence[Rejection]) -> FilterResult:
        """What the verdicts at the head of the chain come to; remembered vectors are replaced
        when they change, so the same vectors give the same result."""
        # Identities are safe as a key: `_Filtered` holds the verdicts, so none is given away again.
        key = tuple([id(verdict) for _, verdict in head])
        known = self._filtered.get(key)
        if known is None:
            result = FilterResult(rows)
            for plugin, verdict in head:
                result.absorb(plugin, verdict)
            known = self._filtered[key] = _Filtered(head, result)
            self._account(known.nbytes)
        else:
            self._filtered.move_to_end(key)
        return known.result

    def _account(self, nbytes: int) -> None:
        self.nbytes += nbytes
        while self.nbytes > self._most_bytes and len(self._filtered) > 1:
            _, gone = self._filtered.popitem(last=False)
            self.nbytes -= gone.nbytes
        if self.nbytes > self._most_bytes:
            self._forget()

    def _forget(self) -> None:
        self._by_shape.clear()
        self._constants.clear()
        self._filtered.clear()
        self.tallies.clear()
        self.nbytes = 0

"""What every filter says about every node, the ones included that were never asked.

A scheduling cycle stops at the first filter that rejects a node, which is all that deciding needs.
Somebody who wants to know what it would take to get a pod onto a node needs the others too.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import Node
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.load import Load, load_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, check_verdict
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.filtering import PreFilterOutcome
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Status, error


@dataclass(slots=True)
class FilterExamination:
    """Verdicts by filter plugin over the rows of the table at that time, and the load then.

    Masks are over `nodes`. `cycle` holds what PreFilter worked out; it reads the cluster itself and
    is good for as long as that stays as it is.
    """

    load: Load
    objects: dict[str, Node]
    cycle: Cycle
    pre_filter: PreFilterOutcome
    nodes: tuple[str, ...] = ()
    plugins: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _verdicts: dict[str, Verdict | Status | None] = field(default_factory=dict)
    _position: dict[str, int] = field(default_factory=dict)
    _described: dict[tuple[str, int], Status] = field(default_factory=dict)

    def status(self, plugin: str, node: str) -> Status | None:
        """Why a filter rejects a node; None if it accepts it or has nothing to say."""
        verdict = self._verdicts.get(plugin)
        if verdict is None or isinstance(verdict, Status):
            return verdict
        return self._describe(plugin, verdict, int(verdict.values[self._position[node]]))

    def mask_rejected(self, plugin: str) -> Mask:
        """Where a filter says no."""
        verdict = self._verdicts.get(plugin)
        if isinstance(verdict, Verdict):
            mask: Mask = verdict.values != 0
            return mask
        return np.full(len(self.nodes), verdict is not None, dtype=np.bool_)

    def mask_accepted(self) -> Mask:
        """Where no filter says no, and where PreFilter lets the pod go."""
        fits: Mask = np.ones(len(self.nodes), dtype=np.bool_)
        if self.pre_filter.status is not None:
            return ~fits
        if self.pre_filter.nodes is not None:
            fits &= np.array([name in self.pre_filter.nodes for name in self.nodes], dtype=np.bool_)
        for plugin in self.plugins:
            fits &= ~self.mask_rejected(plugin)
        return fits

    def statuses(self, plugin: str) -> list[tuple[Status, Mask]]:
        """Each reason of a filter once, with the nodes that it is given for."""
        verdict = self._verdicts.get(plugin)
        if verdict is None or isinstance(verdict, Status):
            return [] if verdict is None else [(verdict, self.mask_rejected(plugin))]
        return [
            (status, verdict.values == value)
            for value in np.unique(verdict.values).tolist()
            if (status := self._describe(plugin, verdict, value)) is not None
        ]

    def _describe(self, plugin: str, verdict: Verdict, value: int) -> Status | None:
        """What a value of a verdict means; many nodes have the same."""
        if not value:
            return None
        key = (plugin, value)
        if key not in self._described:
            self._described[key] = verdict.describe(value).by(plugin)
        return self._described[key]

    def position(self, node: str) -> int:
        """The place of a node in `nodes`."""
        return self._position[node]

    def objections(self, node: str) -> dict[str, Status]:
        """Plugin -> reason, of all filters that reject a node."""
        if node not in self._position:
            return {}
        statuses = {plugin: self.status(plugin, node) for plugin in self.plugins}
        return {plugin: status for plugin, status in statuses.items() if status is not None}

    def objections_by_pattern(
        self, *masks: Mask
    ) -> tuple[list[dict[str, Status]], list[tuple[int, ...]], list[int]]:
        """The same for all nodes at once: each set of objections that occurs, by the first node
        that has it, and for each node which of them it has. Nodes of one set agree in `masks` as
        well; their values are the second list."""
        columns = [
            verdict.values
            if isinstance(verdict := self._verdicts.get(plugin), Verdict)
            else np.zeros(len(self.nodes), dtype=np.int64)
            for plugin in self.plugins
        ]
        if not self.nodes:
            return [], [], []
        if not columns and not masks:
            return [{}], [()], [0] * len(self.nodes)
        matrix = np.stack((*columns, *masks)).astype(np.int64, copy=False)
        _, first, which = np.unique(matrix, axis=1, return_index=True, return_inverse=True)
        patterns = [self.objections(self.nodes[at]) for at in first.tolist()]
        values = [tuple(int(mask[at]) for mask in masks) for at in first.tolist()]
        return patterns, values, which.ravel().tolist()

    def unopposed(self) -> tuple[str, ...]:
        """The nodes that no filter objects to."""
        free: Mask = np.ones(len(self.nodes), dtype=np.bool_)
        for plugin in self.plugins:
            free &= ~self.mask_rejected(plugin)
        return tuple(self.nodes[at] for at in np.flatnonzero(free).tolist())


def examine_filters(profile: Profile, cluster: Cluster, info: PodInfo) -> FilterExamination:
    """Ask all filters of the pod's profile about all nodes, as things stand."""
    cycle = Cycle(info, cluster)
    order = cluster.node_order()
    rows = np.array(order, dtype=np.intp)
    table = cluster.nodes
    names = tuple(map(table.names.__getitem__, order))
    objects = dict(zip(names, map(table.node, order), strict=True))
    outcome = profile.run_pre_filters(cycle)
    found = FilterExamination(load_of(cluster), objects, cycle, outcome, names)
    found.skipped = sorted(cycle.skip_filter)
    found._position = {name: at for at, name in enumerate(found.nodes)}
    if outcome.status is not None:
        return found
    for plugin in profile.filter:
        if plugin.name in cycle.skip_filter:
            continue
        found.plugins.append(plugin.name)
        try:
            found._verdicts[plugin.name] = _ask(plugin, cycle, rows)
        except Exception as problem:
            found._verdicts[plugin.name] = error(describe(problem)).by(plugin.name)
    return found


def _ask(plugin: FilterPlugin, cycle: Cycle, rows: npt.NDArray[np.intp]) -> Verdict | None:
    verdict = check_verdict(plugin.filter(cycle, rows))
    if verdict is not None and np.shape(verdict.values) != rows.shape:
        raise WrongAnswer("filter", f"a Verdict for {len(rows)} rows", verdict)
    return verdict

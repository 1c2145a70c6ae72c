"""What plugins promise about many pods stands in the plugins, and those of users are heard too."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from support.offline.what_if.clusters import node, pod

import podium.offline.optimum
import podium.offline.what_if
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation
from podium.offline.what_if.capacity import CapacityQuestion
from podium.offline.what_if.optimum import OptimumQuestion, find_optimum
from podium.offline.what_if.optimum_answer import OptimumAnswer
from podium.offline.what_if.placement_reading import state_problem
from podium.offline.what_if.pod_templates import TemplatePod
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip
from podium.user_code.shipped import SHIPPED_PLUGINS

SHARED_RULES: Final = {
    "podium.scheduler.plugins",
    "podium.scheduler.plugins.default_preemption.dry_run",
}
"""The registry that what is asked about is built of, and whom budgets protect."""
NODES: Final = (node("n1"), node("n2"))

DENSITY = '''
"""At most two pods on a node."""

from podium.plugin import FilterPlugin, PlacementLimits, rejecting, unschedulable


class Density(FilterPlugin):
    name = "Density"

    def filter(self, cycle, rows):
        return rejecting(cycle.usage.pod_count[rows] >= 2, unschedulable("node(s) were dense"))
'''
STANDS = "\n    refusals_stand = True\n"
OF_SUMS = """
    def looks_at_sums(self, cycle):
        return True
"""
LIMITS = """
    def state_limits(self, cycle):
        return PlacementLimits(amounts={"places": 1})

    def count_free(self, rows):
        counts = self.handle.cluster.usage.pod_count[rows]
        return [{"places": max(0, 2 - count)} for count in counts.tolist()]
"""
RESERVES = """
    def reserve(self, cycle, node_name):
        return None
"""
IDLE = """
    def sets_nothing_aside(self, cycle):
        return True
"""
RESERVING = DENSITY.replace("FilterPlugin", "FilterPlugin, ReservePlugin") + OF_SUMS + RESERVES


def simulated(folder: Path, text: str, waiting: tuple[Pod, ...] = ()) -> Simulation:
    written = folder / f"density_{len(list(folder.iterdir()))}.py"
    written.write_text(text)
    equipped = equip(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), [str(written)]
    )
    scenario = Scenario(NODES, (), waiting, ())
    return Simulation(scenario, equipped.configuration, equipped.registry, gates=FeatureGates())


def optimum_of(folder: Path, text: str) -> OptimumAnswer:
    waiting = tuple(pod(f"p{n}", "100m") for n in range(6))
    report = simulated(folder, text, waiting).run()
    return find_optimum(simulated(folder, text).engine, report, OptimumQuestion())


def test_a_filter_of_a_user_that_looks_at_sums_is_asked_about_many_copies(tmp_path: Path) -> None:
    template = TemplatePod(pod("more", "100m"))
    silent = CapacityQuestion(simulated(tmp_path, DENSITY).engine)
    promising = CapacityQuestion(simulated(tmp_path, DENSITY + OF_SUMS).engine)

    assert not silent.counts_by_node(template)
    assert promising.counts_by_node(template)
    assert promising.alone(template).fits == silent.alone(template).fits == 4


def test_a_user_s_plugin_that_reserves_is_scheduled_unless_it_sets_nothing_aside(
    tmp_path: Path,
) -> None:
    template = TemplatePod(pod("more", "100m"))

    assert not CapacityQuestion(simulated(tmp_path, RESERVING).engine).counts_by_node(template)
    assert CapacityQuestion(simulated(tmp_path, RESERVING + IDLE).engine).counts_by_node(template)


def test_the_bound_ignores_filters_that_promise_nothing_and_believes_those_that_do(
    tmp_path: Path,
) -> None:
    silent = optimum_of(tmp_path, DENSITY)
    standing = optimum_of(tmp_path, DENSITY + STANDS)
    stated = optimum_of(tmp_path, DENSITY + STANDS + LIMITS)

    assert silent.bound_ignores == ("plugin Density",)
    assert standing.bound_ignores == stated.bound_ignores == ()
    assert {found.pods.placed_by_optimum for found in (silent, standing, stated)} == {4}
    assert stated.proven


def test_what_a_filter_of_a_user_counts_is_part_of_the_problem(tmp_path: Path) -> None:
    waiting = [pod("p", "100m")]
    stated = state_problem(simulated(tmp_path, DENSITY + STANDS + LIMITS).engine, waiting)

    (kind,) = stated.problem.kinds
    assert kind.demands["places"] == 1
    assert [free["places"] for free in stated.problem.free] == [2, 2]


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for package in (podium.offline.what_if, podium.offline.optimum):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            yield path.name, ast.parse(path.read_text())


def test_no_plugin_is_imported_for_what_it_promises() -> None:
    imported = {
        node.module or ""
        for _, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    of_plugins = {
        module
        for module in imported
        if module.startswith(("podium.scheduler.plugins", "podium.addons"))
    }
    assert of_plugins <= SHARED_RULES


def test_no_plugin_s_name_is_spelled() -> None:
    known = {*in_tree_registry(), *SHIPPED_PLUGINS}
    spelled = {
        (name, node.value)
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in known
    }
    assert not spelled

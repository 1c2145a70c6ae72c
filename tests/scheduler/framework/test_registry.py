"""Plugins by name, and what cannot be one."""

import pytest
from support.scheduler.framework.fake_plugins import Arrival, Binder, filter_by

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeView
from podium.scheduler.framework.points import (
    POINTS,
    FilterPlugin,
    Plugin,
    QueueSortPlugin,
    ScorePlugin,
    serves,
)
from podium.scheduler.framework.registry import PluginRegistry, RegistryError
from podium.scheduler.framework.status import Status


def test_plugins_are_found_by_name() -> None:
    registry = PluginRegistry([Arrival, Binder])
    assert registry.get("Binder") is Binder
    assert "Arrival" in registry
    assert "Other" not in registry
    assert list(registry) == ["Arrival", "Binder"]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RegistryError) as caught:
        PluginRegistry([Arrival, Binder]).get("Bindre")
    assert str(caught.value) == 'plugin "Bindre" does not exist; known: Arrival, Binder'


def test_a_plugin_needs_a_name() -> None:
    class Nameless(FilterPlugin):
        pass

    with pytest.raises(RegistryError, match="Nameless has no name"):
        PluginRegistry([Nameless])


def test_a_plugin_serves_some_point() -> None:
    class Idle(Plugin):
        name = "Idle"

    with pytest.raises(RegistryError, match="plugin Idle serves no extension point"):
        PluginRegistry([Idle])


def test_a_name_belongs_to_one_class() -> None:
    first, second = filter_by("Same", {}), filter_by("Same", {})
    registry = PluginRegistry([first, first])
    with pytest.raises(
        RegistryError, match=r"taken by support\.scheduler\.framework\.fake_plugins\."
    ):
        registry.register(second)
    assert registry.get("Same") is first


def test_more_plugins_make_a_new_registry() -> None:
    registry = PluginRegistry([Arrival])
    larger = registry.with_plugins(Binder)
    assert "Binder" in larger
    assert "Binder" not in registry


def test_a_class_serves_the_points_it_inherits() -> None:
    assert [point for point in POINTS if serves(Binder, point)] == ["bind"]
    assert not serves(Binder, "unknown point")


def test_a_point_that_is_inherited_and_not_written_is_refused_with_what_was_meant() -> None:
    class Misspelt(NodeFilterPlugin):
        name = "Misspelt"

        def filter_nodes(self, pod: Pod, node: NodeView) -> str | None:
            return None

    class Empty(QueueSortPlugin):
        name = "Empty"

    with pytest.raises(RegistryError) as misspelt:
        PluginRegistry([Misspelt])
    with pytest.raises(RegistryError) as empty:
        PluginRegistry([Empty])
    assert str(misspelt.value) == (
        "plugin Misspelt: no method of NodeFilterPlugin is overridden; did you mean filter_node?"
    )
    assert str(empty.value) == (
        "plugin Empty: no method of QueueSortPlugin is overridden; write sort_key or less"
    )


def test_a_row_at_a_time_is_used_where_the_class_has_written_it() -> None:
    class Rows(FilterPlugin, ScorePlugin):
        def filter_row(self, cycle: Cycle, row: int) -> Status | None:
            return None

    class Inherited(Rows):
        pass

    assert (Rows.has_filter_row, Rows.has_score_row) == (True, False)
    assert (Inherited.has_filter_row, Inherited.has_score_row) == (True, False)
    assert (FilterPlugin.has_filter_row, ScorePlugin.has_score_row) == (False, False)

"""What plugins know of their refusals stands beside them, not in `podium.scheduler.explain`."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import podium.scheduler.explain
from podium.scheduler.framework.points import FilterPlugin, Plugin
from podium.scheduler.plugins import in_tree_registry

SHARED_RULES: Final = {"podium.scheduler.plugins.default_preemption.dry_run"}
"""Whom budgets protect is the same for preemption and for whoever proposes an eviction."""
REGISTRY: Final = in_tree_registry()
PLUGINS: Final[tuple[type[Plugin], ...]] = tuple(map(REGISTRY.get, REGISTRY))


def _trees() -> Iterator[tuple[str, ast.Module]]:
    (folder,) = podium.scheduler.explain.__path__
    for path in sorted(Path(folder).rglob("*.py")):
        yield path.name, ast.parse(path.read_text())


def test_explain_imports_no_plugin() -> None:
    imported = {
        (name, node.module)
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        if (node.module or "").startswith("podium.scheduler.plugins")
    }
    assert {module for _, module in imported} <= SHARED_RULES


def test_explain_spells_no_plugins_name() -> None:
    known = {plugin.name for plugin in PLUGINS}
    spelled = {
        (name, node.value)
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in known
    }
    assert not spelled


def test_every_filter_says_of_itself_what_it_holds_against_nodes() -> None:
    silent = [
        plugin.name
        for plugin in PLUGINS
        if issubclass(plugin, FilterPlugin)
        and plugin.explain_rejections is FilterPlugin.explain_rejections
    ]
    assert not silent

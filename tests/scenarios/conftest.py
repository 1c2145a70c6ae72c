"""Runs of these tests are tiny; see the module for what would take longer than they do."""

from support.suite.young_garbage import collect_young_garbage

__all__ = ["collect_young_garbage"]

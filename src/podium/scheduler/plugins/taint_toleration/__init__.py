"""TaintToleration: taints of nodes and the tolerations of pods."""

from podium.scheduler.plugins.taint_toleration.plugin import TaintToleration

__all__ = ["TaintToleration"]

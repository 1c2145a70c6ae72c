"""TaintToleration: taints of nodes and the tolerations of pods."""

from podium.plugins.taint_toleration.plugin import TaintToleration

__all__ = ["TaintToleration"]

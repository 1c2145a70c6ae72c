"""Scheduler extenders, both sides: asking them, and writing one.

`Extender` and what its methods take is for people who write one; `client` and `blocking` carry out
what the engine asks of those in a scheduler's configuration.
"""

from podium.extenders.extender import Extender, ExtenderError, Nodes, Unresolvable, Victims

__all__ = ["Extender", "ExtenderError", "Nodes", "Unresolvable", "Victims"]

"""Podium, a Kubernetes scheduler that decides as kube-scheduler does and can say why.

The package is a stack of rooms whose imports go down only; docs/architecture.md draws it. Others
build on `podium.plugin` (plugins) and `podium.addons.extenders` (extenders). This module holds
nothing but the version, so that importing any one room stays cheap.
"""

__version__ = "0.1.0"

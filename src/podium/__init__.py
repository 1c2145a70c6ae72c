"""Podium, a Kubernetes scheduler that decides as kube-scheduler does and can say why.

Its packages are layers whose imports go down only; docs/architecture.md draws them. Others build on
`podium.plugin` (plugins) and `podium.addons.extenders` (extenders). This module has nothing but the
version, so that importing any one package stays cheap.
"""

__version__ = "0.1.0"

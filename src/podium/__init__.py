"""Podium, a Kubernetes scheduler that decides as kube-scheduler does and can say why.

The package is a stack of rooms whose imports go down only: `cli` on top, then the drivers
(`simulator`, `parity`, `bench`), then `engine`, `plugins`, `framework`, `cluster`, `config` and
`api`. This module holds nothing but the version, so that importing any one room stays cheap.
"""

__version__ = "0.1.0"

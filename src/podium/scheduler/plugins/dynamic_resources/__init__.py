"""Devices for pods: dynamic resource allocation (DRA).

A pod names claims, a claim asks for devices, slices offer them, and the plugin of this package
finds for each node the devices that kube-scheduler would choose there.
"""

from podium.scheduler.plugins.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]

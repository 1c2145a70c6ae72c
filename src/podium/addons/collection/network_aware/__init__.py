"""Pods that talk to each other, queued in the order of their dependencies and placed near them.

`app_groups` and `network_topologies` are the custom kinds; TopologicalSort orders the queue,
NetworkOverhead filters and rates nodes.
"""

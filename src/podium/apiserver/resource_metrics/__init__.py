"""The resource metrics API, `metrics.k8s.io/v1beta1`, of a cluster whose nodes are simulated.

Nothing runs on such nodes that could be measured, so what pods use follows from what they request,
or from annotations. Nothing is stored either: each answer is worked out of nodes and pods as they
are. A server without simulated nodes does not serve the group.
"""

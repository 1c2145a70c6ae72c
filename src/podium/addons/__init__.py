"""What Podium can do beside what kube-scheduler does: GPU cards, further plugins, extenders.

An add-on is written with what every plugin is written with (`podium.plugin`), with what is true of
Kubernetes, and with the client of its API. Only commands know which add-ons there are.
"""

"""Health, metrics, configuration and status over HTTPS, as kube-scheduler serves them.

surface          what is served, as values and callables
server           a socket, TLS, start and stop
application      one request through authentication, authorization, pages
pages            which path leads where
"""

from podium.live.serving.server import ManagementServer
from podium.live.serving.surface import (
    NOT_SYNCHRONIZED,
    PING,
    SHUTTING_DOWN,
    Check,
    Reviewers,
    ServingSettings,
    Surface,
)
from podium.live.serving.zpages import Standing

__all__ = [
    "NOT_SYNCHRONIZED",
    "PING",
    "SHUTTING_DOWN",
    "Check",
    "ManagementServer",
    "Reviewers",
    "ServingSettings",
    "Standing",
    "Surface",
]

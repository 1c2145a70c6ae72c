"""Health, metrics, configuration and status over HTTPS, as kube-scheduler serves them.

surface          what is served, as values and callables
server           a socket, TLS, start and stop
application      one request through authentication, authorization, pages
pages            which path leads where
"""

from podium.live.serving.health import NOT_SYNCHRONIZED, PING, SHUTTING_DOWN, Check
from podium.live.serving.server import ManagementServer
from podium.live.serving.settings import Reviewers, ServingSettings
from podium.live.serving.surface import Surface
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

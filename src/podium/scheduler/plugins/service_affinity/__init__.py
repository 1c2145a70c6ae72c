"""ServiceAffinity: the pods of a service on nodes with equal labels; of old configurations."""

from podium.scheduler.plugins.service_affinity.plugin import ServiceAffinity

__all__ = ["ServiceAffinity"]

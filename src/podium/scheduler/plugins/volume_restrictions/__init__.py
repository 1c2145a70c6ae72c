"""VolumeRestrictions: disks and claims that only one may use."""

from podium.scheduler.plugins.volume_restrictions.plugin import VolumeRestrictions

__all__ = ["VolumeRestrictions"]

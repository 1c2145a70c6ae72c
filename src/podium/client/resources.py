"""Kinds by name, as controllers import them (`podium.kubernetes.resources.resource_types`)."""

from podium.kubernetes.resources.resource_types import *  # noqa: F403

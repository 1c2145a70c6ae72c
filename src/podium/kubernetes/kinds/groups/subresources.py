"""Subresources that kinds of several groups have."""

from typing import Final

from podium.kubernetes.kinds.record import STATUS_VERBS, Subresource

SCALE: Final = Subresource("scale", "Scale", STATUS_VERBS, "autoscaling", "v1")

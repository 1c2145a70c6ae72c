"""The controllers of a simulated cluster by name, and which of them somebody means.

Apart from the registry that makes them: help lists them all and makes none.
"""

from collections.abc import Iterable
from typing import Final

from podium.golang.errors import InputError, closest, did_you_mean

ALL: Final = (
    "cronjobs",
    "daemonsets",
    "deployments",
    "disruptionbudgets",
    "elasticquotas",
    "endpoints",
    "endpointslices",
    "ephemeralvolumes",
    "garbagecollector",
    "jobs",
    "namespaces",
    "nodelifecycle",
    "podgc",
    "podgroups",
    "replicasets",
    "replicationcontrollers",
    "resourceclaims",
    "resourcequotas",
    "rootcapublisher",
    "serviceaccounts",
    "statefulsets",
    "tainteviction",
    "volumeprotection",
    "volumes",
)


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """The controllers that are meant by `all`, `none` or names. Raises InputError."""
    wanted = tuple(names)
    if wanted == ("all",):
        return ALL
    if wanted == ("none",):
        return ()
    for name in wanted:
        if name not in ALL:
            known = did_you_mean(closest(name, ALL)) or f"there is {', '.join(ALL)}, all and none"
            raise InputError(f'there is no controller "{name}"', remedy=known)
    return tuple(dict.fromkeys(wanted))

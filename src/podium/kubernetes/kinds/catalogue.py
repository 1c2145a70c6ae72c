"""Looks up the records of built-in kinds.

A group's records name the functions that validate, default and print its kinds, so loading one
imports all of these. Groups are therefore loaded when first asked for: importing this module loads
none, and a command pays for the groups that it reads.
"""

from functools import cache
from importlib import import_module
from typing import Final

from podium.kubernetes.kinds.record import Kind

GROUPS: Final = (
    "",
    "apps",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "rbac.authorization.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "node.k8s.io",
    "policy",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
"""API groups with built-in kinds. The records of each are in the module of `groups/` that has the
group's first word for a name; those of the core group in `core`."""

CUSTOM: Final = Kind("", "", "")
"""Stands for the kinds that are not built in: nothing is special about them here."""


def find_kind(group: str, kind: str) -> Kind:
    """The record of a kind; CUSTOM when it is not built in."""
    return _kinds_of(group).get(kind, CUSTOM) if group in GROUPS else CUSTOM


def all_kinds() -> list[Kind]:
    """The records of all groups, which loads them."""
    return [each for group in GROUPS for each in kinds_of(group)]


def kinds_of(group: str) -> list[Kind]:
    """The records of one group; none if it has no built-in kinds."""
    return [*_kinds_of(group).values()] if group in GROUPS else []


@cache
def _kinds_of(group: str) -> dict[str, Kind]:
    name = group.partition(".")[0] or "core"
    module = import_module(f"podium.kubernetes.kinds.groups.{name}")
    records: tuple[Kind, ...] = module.KINDS
    return {each.kind: each for each in records}

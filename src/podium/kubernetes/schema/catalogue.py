"""All built-in kinds by group, version and kind.

A kind is made of the release's data when it is asked for, so that commands without a server do not
pay for it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from podium.golang.shapes import Struct
from podium.kubernetes.releases.release import release
from podium.kubernetes.schema.release_types import ReleaseTypes

SECTIONS: Final = {
    "": "core",
    "apps": "apps",
    "batch": "batch",
    "node.k8s.io": "node",
    "policy": "policy",
    "autoscaling": "autoscaling",
    "scheduling.k8s.io": "scheduling",
    "storage.k8s.io": "storage",
    "resource.k8s.io": "resource",
    "coordination.k8s.io": "coordination",
    "events.k8s.io": "events",
    "discovery.k8s.io": "discovery",
    "authentication.k8s.io": "authentication",
    "authorization.k8s.io": "authorization",
    "rbac.authorization.k8s.io": "rbac",
    "networking.k8s.io": "networking",
    "apiextensions.k8s.io": "apiextensions",
    "admission.k8s.io": "admission",
    "admissionregistration.k8s.io": "admissionregistration",
    "flowcontrol.apiserver.k8s.io": "flowcontrol",
    "apiregistration.k8s.io": "apiregistration",
    "certificates.k8s.io": "certificates",
    "meta.k8s.io": "meta",
}
"""The section of the data that has the kinds of a group in version v1; those of another version
have it behind a slash: `autoscaling/v2`."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The fields of one kind. There is one Schema of each kind: it can be a key of caches."""

    group: str
    version: str
    kind: str
    root: Struct
    is_custom: bool = False
    has_status: bool = False
    """Its status is written through a subresource only."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@cache
def built_in_types() -> ReleaseTypes:
    """Everything that is built in."""
    return ReleaseTypes(release().types)


def built_in_struct(section: str, name: str) -> Struct:
    """A type that is built in. Raises KeyError."""
    return built_in_types().struct(section, name)


@cache
def schema_of(group: str, version: str, kind: str) -> Schema:
    """The schema of a built-in kind; KeyError when there is none."""
    section = SECTIONS[group] if version == "v1" else f"{SECTIONS[group]}/{version}"
    struct = built_in_struct(section, kind)
    if not struct.is_object:
        raise KeyError((group, version, kind))
    return Schema(group, version, kind, struct, has_status="status" in struct.fields)

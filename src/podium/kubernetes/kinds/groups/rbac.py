"""The kinds of the group `rbac.authorization.k8s.io`."""

from functools import partial
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.tables.printer import age_of, columns_of, name_of
from podium.kubernetes.validation import access

_GROUP: Final = "rbac.authorization.k8s.io"


def _set_role_binding_defaults(binding: JsonObject) -> None:
    reference = binding.get("roleRef")
    if reference is not None and not reference.get("apiGroup"):
        reference["apiGroup"] = _GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = _GROUP


def _binding_cells(obj: JsonObject, now: float) -> Cells:
    role: JsonObject = obj.get("roleRef") or {}
    subjects: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or ():
        name, namespace = subject.get("name") or "", subject.get("namespace")
        shown = f"{namespace}/{name}" if namespace else name
        subjects.setdefault(subject.get("kind") or "", []).append(shown)
    reference = f"{role.get('kind') or ''}/{role.get('name') or ''}"
    listed = [", ".join(subjects[kind]) for kind in ("User", "Group", "ServiceAccount")]
    return [name_of(obj), reference, age_of(obj, now), *listed]


_ROLE_BINDING: Final = Printer(
    columns_of("Name", "Role", "Age", wide=("Users", "Groups", "ServiceAccounts")), _binding_cells
)


def _role(kind: str, plural: str, *, namespaced: bool) -> Kind:
    return Kind(
        _GROUP,
        kind,
        plural,
        namespaced=namespaced,
        validation=Validation(
            partial(access.role_create_errors, namespaced=namespaced),
            partial(access.role_update_errors, namespaced=namespaced),
        ),
        strategy=WriteStrategy(null_list=("rules",)),
    )


def _role_binding(kind: str, plural: str, *, namespaced: bool) -> Kind:
    return Kind(
        _GROUP,
        kind,
        plural,
        namespaced=namespaced,
        defaults=_set_role_binding_defaults,
        validation=Validation(
            partial(access.binding_create_errors, namespaced=namespaced),
            partial(access.binding_update_errors, namespaced=namespaced),
        ),
        printer=_ROLE_BINDING,
    )


KINDS: Final = (
    _role_binding("ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    _role("ClusterRole", "clusterroles", namespaced=False),
    _role_binding("RoleBinding", "rolebindings", namespaced=True),
    _role("Role", "roles", namespaced=True),
)

"""The life of namespaces: nothing new in those that do not exist or are on their way out."""

from typing import Final

from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import Resource

_IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_UNTOUCHED: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
_NAMESPACES: Final = Resource("", "v1", "Namespace", "namespaces", "namespace", False)


def refuse_content(resource: Resource, namespace: str, name: str, lookup: Lookup) -> None:
    """Of a namespace that is missing or terminating."""
    if not namespace or resource.group in _UNTOUCHED:
        return
    found = lookup.find("", "namespaces", "", namespace)
    if found is None:
        raise status_errors.not_found(_NAMESPACES, namespace)
    if (found.get("status") or {}).get("phase") == "Terminating":
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        refusal = status_errors.forbidden(resource, name, why)
        refusal.details = {
            **(refusal.details or {}),
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {namespace} is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        }
        raise refusal


def refuse_deletion(resource: Resource, name: str) -> None:
    """Of a namespace that the cluster cannot do without."""
    if (resource.group, resource.kind) == ("", "Namespace") and name in _IMMORTAL:
        raise status_errors.forbidden(resource, name, "this namespace may not be deleted")

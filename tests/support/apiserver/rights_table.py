"""The table of rights: every way to ask for something that is served, and the rights it takes.

Written from Kubernetes' rules and not from the server's code. The method and the path make the
verb; a subresource is a resource of its own; a request that does two things takes two rights. Rows
come from the table of served resources, so a new resource has its rows from its first day.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from support.apiserver.api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC
from support.apiserver.smallest_objects import smallest

from podium.kubernetes.kinds.record import Subresource
from podium.kubernetes.resources.resource import ApiResource

NAMESPACE = "ns"
NAME = "a"
ABSENT = "b"
RBAC = "rbac.authorization.k8s.io"
DEFINED, UNDEFINED = "widgets.example.com", "gadgets.example.com"
"""Definitions of custom resources cannot be called anything."""

CREATED_BY_PUT = {
    "endpoints", "events", "events.events.k8s.io", "leases.coordination.k8s.io", "limitranges",
    "runtimeclasses.node.k8s.io", "services", *(f"{each}.{RBAC}" for each in (
        "clusterrolebindings", "clusterroles", "rolebindings", "roles",
    )),
}  # fmt: skip
_SUBRESOURCE_METHODS = {"get": "GET", "update": "PUT", "create": "POST", "patch": "PATCH"}
_LABELS = {"metadata": {"labels": {"tried": "yes"}}}
_PATCHES = {
    JSON_PATCH: [{"op": "add", "path": "/metadata/labels", "value": {"tried": "yes"}}],
    MERGE: _LABELS,
    STRATEGIC: _LABELS,
}
SIGNER = "example.com/signer"
"""Who is asked for certificates."""
BOUND = "r"
"""The role that bindings name."""
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


@dataclass(frozen=True)
class Right:
    """A verb on a resource, in a namespace and by a name as far as these count."""

    verb: str
    group: str
    resource: str
    """With its subresource: `pods/status`."""
    namespace: str = ""
    name: str = ""

    def rule(self) -> dict[str, Any]:
        """The least that grants it."""
        names = {"resourceNames": [self.name]} if self.name else {}
        return {
            "verbs": [self.verb],
            "apiGroups": [self.group],
            "resources": [self.resource],
            **names,
        }


@dataclass(frozen=True)
class Cell:
    """One way to ask, and what it takes. A body of None stands for the object as it is stored."""

    method: str
    path: str
    rights: tuple[Right, ...]
    body: Any = field(default="", hash=False)
    content_type: str = "application/json"
    served: bool = True
    """False: beyond authorisation there is something else that refuses it."""
    refusal: int = 403
    """The code where the last of its rights is lacking."""

    def __str__(self) -> str:
        kind = self.content_type.removeprefix("application/") if self.method == "PATCH" else ""
        return " ".join(filter(None, (self.method, self.path, kind)))


def names_of(resource: ApiResource) -> tuple[str, str]:
    """An object that is there and one that is not."""
    is_definition = resource.kind == "CustomResourceDefinition"
    if resource.kind == "IPAddress":
        return "10.0.0.8", "10.0.0.9"
    if resource.kind == "APIService":
        return f"v1.{NAME}", f"v1.{ABSENT}"
    return (DEFINED, UNDEFINED) if is_definition else (NAME, ABSENT)


def object_of(resource: ApiResource, name: str) -> dict[str, Any]:
    """The least that can be created."""
    kind = {"apiVersion": resource.api_version, "kind": resource.kind}
    if resource.kind == "CustomResourceDefinition":
        return {**kind, **definition(name)}
    if resource.is_custom:
        return {**kind, "metadata": {"name": name}, "spec": {"replicas": 1}}
    return {**kind, **smallest(resource, name)}


def definition(name: str) -> dict[str, Any]:
    """A custom resource with every subresource that one can have."""
    plural, _, group = name.partition(".")
    counts = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": counts, "status": counts}}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": scale},
    }
    names = {"plural": plural, "kind": plural[:-1].title()}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": name}, "spec": spec}


class Rows:
    """The cells of one resource."""

    def __init__(self, resource: ApiResource) -> None:
        self.resource = resource
        root = f"/apis/{resource.group}" if resource.group else "/api"
        self._version = f"{root}/{resource.version}"
        where = f"namespaces/{NAMESPACE}/" if resource.namespaced else ""
        self._below = f"{where}{resource.plural}"
        self.collection = f"{self._version}/{self._below}"
        self._namespace = NAMESPACE if resource.namespaced else ""
        self._there, self._absent = names_of(resource)

    def cells(self) -> Iterator[Cell]:
        if self.resource.is_stored:
            yield from self._reading()
            yield from self._writing()
            yield from self._creating_instead()
            yield from self._deleting()
        else:
            yield from self._asking()
        for subresource in self.resource.subresources:
            yield from self._of_subresource(subresource)
        if self.resource.group == RBAC:
            yield from self._granting()
        if self.resource.kind == "ResourceClaim":
            yield from self._allocating()

    def _right(self, verb: str, name: str = "", subresource: str = "") -> Right:
        resource = f"{self.resource.plural}/{subresource}" if subresource else self.resource.plural
        # A namespace is in itself, when the path names it.
        home = name if self.resource.kind == "Namespace" else ""
        return Right(verb, self.resource.group, resource, self._namespace or home, name)

    def _reading(self) -> Iterator[Cell]:
        item, named = f"{self.collection}/{self._there}", f"metadata.name={self._there}"
        yield Cell("GET", item, (self._right("get", self._there),))
        yield Cell("HEAD", item, (self._right("get", self._there),), served=False)
        places = [(self._version, self._below, self._namespace)]
        if self.resource.namespaced:
            places.append((self._version, self.resource.plural, ""))
        for version, below, namespace in places:
            path, group, plural = f"{version}/{below}", self.resource.group, self.resource.plural
            everything = {verb: Right(verb, group, plural, namespace) for verb in ("list", "watch")}
            one = {
                verb: Right(verb, group, plural, namespace, self._there)
                for verb in ("list", "watch")
            }
            yield Cell("GET", path, (everything["list"],))
            yield Cell("HEAD", path, (everything["list"],), served=False)
            yield Cell("GET", f"{path}?watch=1", (everything["watch"],))
            yield Cell("GET", f"{version}/watch/{below}", (everything["watch"],))
            yield Cell("GET", f"{path}?fieldSelector={named}", (one["list"],))
            yield Cell("GET", f"{path}?watch=true&fieldSelector={named}", (one["watch"],))
            # The old form of a watch does not look at selectors.
            old = f"{version}/watch/{below}?fieldSelector={named}"
            yield Cell("GET", old, (everything["watch"],))
        watched = Right(
            "watch",
            self.resource.group,
            self.resource.plural,
            self._right("watch", self._there).namespace,
            self._there,
        )
        old = f"{self._version}/watch/{self._below}/{self._there}"
        yield Cell("GET", old, (watched,))
        yield Cell("DELETE", old, (watched,), served=False)

    def _writing(self) -> Iterator[Cell]:
        item = f"{self.collection}/{self._there}"
        for options in ("", "dryRun=All"):
            created = object_of(self.resource, self._absent)
            rights = (self._right("create"), *self._second_rights())
            yield Cell("POST", f"{self.collection}?{options}", rights, created)
            rights = (self._right("update", self._there), *self._second_rights())
            yield Cell("PUT", f"{item}?{options}", rights, None)
            rights = (self._right("patch", self._there), *self._second_rights())
            for media_type, body in _PATCHES.items():
                if media_type != STRATEGIC or not self.resource.is_custom:
                    yield Cell("PATCH", f"{item}?{options}", rights, body, media_type)
            applied = object_of(self.resource, self._there)
            applied["metadata"] = {**applied["metadata"], "labels": {"applied": "yes"}}
            yield Cell("PATCH", f"{item}?fieldManager=t&force=1&{options}", rights, applied, APPLY)

    def _second_rights(self) -> tuple[Right, ...]:
        """To write a binding takes the right to bind what it names."""
        if self.resource.kind not in ("ClusterRoleBinding", "RoleBinding"):
            return ()
        return (Right("bind", RBAC, "clusterroles", self._namespace, BOUND),)

    def _creating_instead(self) -> Iterator[Cell]:
        """Requests of another verb that find nothing."""
        item, body = f"{self.collection}/{self._absent}", object_of(self.resource, self._absent)
        more = (*self._second_rights(), self._right("create", self._absent))
        for options in ("", "dryRun=All"):
            rights = (self._right("patch", self._absent), *more)
            yield Cell("PATCH", f"{item}?fieldManager=t&{options}", rights, body, APPLY)
            if self.resource.group_resource in CREATED_BY_PUT:
                rights = (self._right("update", self._absent), *more)
                yield Cell("PUT", f"{item}?{options}", rights, body)

    def _deleting(self) -> Iterator[Cell]:
        for options in ("dryRun=All", ""):
            item = f"{self.collection}/{self._there}?{options}"
            yield Cell("DELETE", item, (self._right("delete", self._there),))
            if "deletecollection" not in self.resource.verbs:
                continue
            rights = (self._right("deletecollection"),)
            # A selector that names one object does not make it the deletion of one.
            one = f"fieldSelector=metadata.name={self._there}"
            yield Cell("DELETE", f"{self.collection}?{one}&{options}", rights)
            if self.resource.group != RBAC and self.resource.kind != "PriorityClass":
                yield Cell("DELETE", f"{self.collection}?{options}", rights)

    def _asking(self) -> Iterator[Cell]:
        """Reviews and bindings: there is nothing to get."""
        yield Cell("POST", self.collection, (self._right("create"),), self._question())

    def _question(self) -> dict[str, Any]:
        attributes = {"verb": "get", "resource": "pods", "namespace": NAMESPACE}
        match self.resource.kind:
            case "Binding":
                target = {"kind": "Node", "name": "n1"}
                return {"metadata": {"name": NAME}, "target": target}
            case "TokenReview":
                return {"spec": {"token": "x"}}
            case "SelfSubjectRulesReview":
                return {"spec": {"namespace": NAMESPACE}}
            case "SelfSubjectReview":
                return {}
            case "LocalSubjectAccessReview":
                spec = {"user": "u", "resourceAttributes": attributes}
                return {"metadata": {"namespace": NAMESPACE}, "spec": spec}
        return {"spec": {"user": "u", "resourceAttributes": attributes}}

    def _of_subresource(self, subresource: Subresource) -> Iterator[Cell]:
        path = f"{self.collection}/{self._there}/{subresource.name}"
        for verb in subresource.verbs:
            rights: tuple[Right, ...] = (self._right(verb, self._there, subresource.name),)
            if subresource.name == "approval" and verb != "get":
                rights += (Right("approve", self.resource.group, "signers", "", SIGNER),)
            method = _SUBRESOURCE_METHODS[verb]
            if method == "PATCH":
                yield from self._patches_of(subresource, path, rights)
                continue
            served = subresource.name not in ("attach", "exec", "portforward")
            body = _body_of(subresource) if method == "POST" else None
            yield Cell(method, path, rights, body if method != "GET" else "", served=served)
            if method == "GET":
                yield Cell("HEAD", path, rights, served=False)

    def _patches_of(
        self, subresource: Subresource, path: str, rights: tuple[Right, ...]
    ) -> Iterator[Cell]:
        change: dict[str, Any] = {"metadata": {}}
        if subresource.name == "scale":
            change = {"spec": {"replicas": 1}}
        media_types = (MERGE,) if self.resource.is_custom else (MERGE, STRATEGIC)
        for media_type in media_types:
            yield Cell("PATCH", path, rights, change, media_type)
        yield Cell("PATCH", path, rights, [], JSON_PATCH)
        kind = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
        if subresource.name == "scale":
            kind = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
        applied = {**kind, "metadata": {"name": self._there}, **change}
        applied["metadata"] = {"name": self._there}
        yield Cell("PATCH", f"{path}?fieldManager=t&force=1", rights, applied, APPLY)

    def _granting(self) -> Iterator[Cell]:
        """To write a role that gives everything takes the right to escalate."""
        if self.resource.kind not in ("ClusterRole", "Role"):
            return
        wide = {**object_of(self.resource, self._there), "rules": [EVERYTHING]}
        item = f"{self.collection}/{self._there}"
        absent = {**wide, "metadata": {"name": self._absent}}
        # The right to escalate by name is no help to a creation, whose path has no name.
        rights = (self._right("create"), self._right("escalate"))
        yield Cell("POST", self.collection, rights, absent)
        escalate = self._right("escalate", self._there)
        yield Cell("PUT", item, (self._right("update", self._there), escalate), wide)
        rights = (self._right("patch", self._there), escalate)
        yield Cell("PATCH", item, rights, {"rules": [EVERYTHING]}, MERGE)
        yield Cell("PATCH", item, rights, {"rules": [EVERYTHING]}, STRATEGIC)
        added = [{"op": "add", "path": "/rules", "value": [EVERYTHING]}]
        yield Cell("PATCH", item, rights, added, JSON_PATCH)
        yield Cell("PATCH", f"{item}?fieldManager=t&force=1", rights, wide, APPLY)
        if self.resource.kind == "ClusterRole":
            gathering = {"clusterRoleSelectors": [{"matchLabels": {"gather": "me"}}]}
            yield Cell("PATCH", item, rights, {"aggregationRule": gathering}, MERGE)

    def _allocating(self) -> Iterator[Cell]:
        """To reserve a claim takes the right to bind claims anywhere."""
        path = f"{self.collection}/{self._there}/status"
        allocation: dict[str, Any] = {"devices": {"results": []}}
        user = {"resource": "pods", "name": "p", "uid": "u"}
        change = {"status": {"allocation": allocation, "reservedFor": [user]}}
        binding = Right("patch", self.resource.group, "resourceclaims/binding")
        rights = (self._right("patch", self._there, "status"), binding)
        for media_type in (MERGE, STRATEGIC):
            yield Cell("PATCH", path, rights, change, media_type, refusal=422)


def _body_of(subresource: Subresource) -> dict[str, Any]:
    match subresource.name:
        case "binding":
            return {"metadata": {"name": NAME}, "target": {"kind": "Node", "name": "n1"}}
        case "eviction":
            return {"metadata": {"name": NAME}}
    return {}

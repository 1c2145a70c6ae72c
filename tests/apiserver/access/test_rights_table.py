"""Every cell of the table of rights, tried with exactly its rights and with all others.

With exactly what a cell takes the request is not refused; with everything in the cluster except
one of its rights it is, and nothing is written. Everything includes the same right by other names
and in other namespaces.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from support.apiserver.api_calls import Api, good
from support.apiserver.rights_table import (
    BOUND,
    DEFINED,
    EVERYTHING,
    NAMESPACE,
    RBAC,
    Cell,
    Right,
    Rows,
    definition,
    names_of,
    object_of,
)

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import builtin_resources

ROLES = f"/apis/{RBAC}/v1/clusterroles"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
VERBS = (
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind",
    "escalate", "impersonate", "proxy",
)  # fmt: skip
NOT_SERVED = {
    "resource.k8s.io": ("resourceclaims/binding", "resourceclaims/driver"),
    "": ("users", "groups"),
}
"""Resources that are rights only."""
MANY = 1000


class Subjects:
    """Two users of a server whose rights the test sets: one has some, one has all but one."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._written: dict[str, list[dict[str, Any]]] = {}
        for namespace in (NAMESPACE, "other"):
            api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for role in ("some", "some-here", "all-but-one"):
            api.create(ROLES, {"metadata": {"name": role}})
        api.create(ROLES, {"metadata": {"name": BOUND}, "rules": [EVERYTHING]})
        self._bind("some", "some")
        self._bind("some-here", "some", NAMESPACE)
        self._bind("all-but-one", "all-but-one")
        self._bind("cluster-admin", "all-but-one", "other")
        self._bind("all-but-one", "all-but-one-everywhere")
        self._bind("cluster-admin", "all-but-one-everywhere", "other")
        self._bind("cluster-admin", "all-but-one-everywhere", NAMESPACE)
        self._full = _full_resources(api)

    def _bind(self, role: str, user: str, namespace: str = "") -> None:
        path = f"/apis/{RBAC}/v1/namespaces/{namespace}/rolebindings" if namespace else BINDINGS
        self.api.create(
            path,
            {
                "metadata": {"name": f"{role}-{user}"},
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
            },
        )

    def give(self, rights: Sequence[Right]) -> str:
        """A user who has exactly these rights."""
        here = [right for right in rights if right.namespace == NAMESPACE]
        self._write("some-here", [right.rule() for right in here])
        self._write("some", [right.rule() for right in rights if right not in here])
        return "some"

    def give_all_but(self, lacking: Right) -> str:
        """A user who has every right there is, except one."""
        groups = [*self._full, "apps.other"]
        same = [each for each in self._full[lacking.group] if each != lacking.resource]
        rules = [
            _rule([verb for verb in VERBS if verb != lacking.verb], ["*"], ["*"]),
            _rule([lacking.verb], [group for group in groups if group != lacking.group], ["*"]),
            _rule([lacking.verb], [lacking.group], [*same, f"{lacking.resource}/x"]),
            {
                **_rule([lacking.verb], [lacking.group], [lacking.resource]),
                "resourceNames": ["another"],
            },
            {"verbs": ["*"], "nonResourceURLs": ["*"]},
        ]
        self._write("all-but-one", rules)
        return "all-but-one" if lacking.namespace else "all-but-one-everywhere"

    def _write(self, role: str, rules: list[dict[str, Any]]) -> None:
        if self._written.get(role) != rules:
            good(
                self.api.ask("PUT", f"{ROLES}/{role}", {"metadata": {"name": role}, "rules": rules})
            )
            self._written[role] = rules


def _rule(verbs: list[str], groups: list[str], resources: list[str]) -> dict[str, Any]:
    return {"verbs": verbs, "apiGroups": groups, "resources": resources}


def _full_resources(api: Api) -> dict[str, list[str]]:
    """All resources and subresources that are served, by group."""
    found: dict[str, list[str]] = {}
    for resource in api.registry.table:
        names = found.setdefault(resource.group, list(NOT_SERVED.get(resource.group, ())))
        names.append(resource.plural)
        names += [f"{resource.plural}/{each.name}" for each in resource.subresources]
    return found


class Table:
    """A server with an object of one resource, and the cells of that resource."""

    def __init__(self, resource: ApiResource) -> None:
        self.api = Api()
        self.api.create(DEFINITIONS, definition(DEFINED))
        self.subjects = Subjects(self.api)
        served = self.api.registry.table.find(resource.group, resource.version, resource.plural)
        assert served is not None
        self._rows = Rows(served)
        self.cells = list(self._rows.cells())

    def reset(self, cell: Cell) -> Any:
        """Put everything into the state that the cell begins in; gives the body to send."""
        resource, api = self._rows.resource, self.api
        if not resource.is_stored:
            self._place_pod()
            return cell.body
        there, absent = (f"{self._rows.collection}/{name}" for name in names_of(resource))
        self._remove(resource, absent)
        if _is_used_up(cell) or api.ask("GET", there).status == 404:
            self._remove(resource, there)
            api.create(self._rows.collection, object_of(resource, names_of(resource)[0]))
        if cell.body is not None:
            return cell.body
        path = cell.path.partition("?")[0]
        stored = api.get(path if path.endswith("/scale") else there)
        if path == there:
            stored["metadata"].setdefault("labels", {})["tried"] = "yes"
        return stored

    def _place_pod(self) -> None:
        """What bindings bind."""
        pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
        self.api.ask("DELETE", f"{pods}/a", {"gracePeriodSeconds": 0})
        pods_resource = self.api.registry.table.get_required("pods")
        self.api.create(pods, object_of(pods_resource, "a"))

    def _remove(self, resource: ApiResource, path: str) -> None:
        api = self.api
        if api.ask("DELETE", path, {"gracePeriodSeconds": 0}).status == 404:
            return
        if resource.kind == "Namespace":
            stored = api.get(path)
            stored["spec"] = {}
            good(api.ask("PUT", f"{path}/finalize", stored))
        left = api.ask("GET", path)
        if left.status == 200 and left.body["metadata"].get("finalizers"):
            api.patch(path, {"metadata": {"finalizers": None}})
        assert api.ask("GET", path).status == 404

    def code(self, cell: Cell, body: Any, user: str) -> int:
        return self.api.code(
            cell.method,
            cell.path,
            None if body == "" else body,
            content_type=cell.content_type,
            impersonate_user=user,
            # Or else everybody would have what everybody has who is known.
            impersonate_group="system:unauthenticated",
        )


def _is_used_up(cell: Cell) -> bool:
    """Whether the object has to be a new one: it can be bound and allocated once."""
    return cell.method == "POST" or len(cell.rights) > 1


def _resources() -> Iterator[ApiResource]:
    yield from builtin_resources()
    yield ApiResource("example.com", "v1", "Widget", "widgets", "widget", namespaced=True)


RESOURCES = list(_resources())
IDS = [each.group_resource for each in RESOURCES]


@pytest.mark.parametrize("resource", RESOURCES, ids=IDS)
def test_a_request_takes_each_of_its_rights_and_no_other(resource: ApiResource) -> None:
    table = Table(resource)
    problems: list[str] = []
    for cell in table.cells:
        body = table.reset(cell)
        for place, right in enumerate(cell.rights):
            user = table.subjects.give_all_but(right)
            before = table.api.store.revision
            code = table.code(cell, body, user)
            refusal = cell.refusal if place == len(cell.rights) - 1 else 403
            if code != refusal:
                problems.append(f"{cell}: {code} without {right}")
            if table.api.store.revision != before:
                problems.append(f"{cell}: written without {right}")
                body = table.reset(cell)
        code = table.code(cell, body, table.subjects.give(cell.rights))
        if code == 403 or (cell.served and code >= 300):
            problems.append(f"{cell}: {code} with {cell.rights}")

    assert not problems, "\n".join(problems)


def test_the_table_is_of_everything_that_is_served() -> None:
    cells = [cell for resource in RESOURCES for cell in Table(resource).cells]

    assert len(cells) > MANY
    assert {cell.method for cell in cells} == {"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"}

"""Rights over a real socket: what somebody with some of them tries in order to have more."""

import http.client
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.apiserver.api_calls import APPLY, CONFIG_MAPS, MERGE, config_map
from support.apiserver.apiserver_process import RunningServer, serving

GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
SECRETS = "/api/v1/secrets"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
Header = tuple[str, str]


class Answer(NamedTuple):
    status: int
    text: str

    @property
    def message(self) -> str:
        return str(json.loads(self.text)["message"])


class Client:
    """Somebody who talks to the server: the administrator, or without a token anybody."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Sequence[Header] = (),
        *,
        anonymous: bool = False,
        content_type: str = "application/json",
    ) -> Answer:
        connection: http.client.HTTPConnection = self._server.connect()
        content = b"" if body is None else json.dumps(body).encode()
        connection.putrequest(method, path)
        connection.putheader("Content-Type", content_type)
        connection.putheader("Content-Length", str(len(content)))
        if not anonymous:
            connection.putheader("Authorization", f"Bearer {self._server.token}")
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(content)
        response = connection.getresponse()
        answer = Answer(response.status, response.read().decode())
        connection.close()
        return answer

    def grant(self, name: str, user: str, *rules: dict[str, Any]) -> None:
        """Give a user rules in the whole cluster."""
        role = {"metadata": {"name": name}, "rules": list(rules)}
        assert self.ask("POST", f"{RBAC}/clusterroles", role).status == 201
        assert self.ask("POST", f"{RBAC}/clusterrolebindings", binding(name, user)).status == 201


def binding(role: str, user: str, name: str = "") -> dict[str, Any]:
    return {
        "metadata": {"name": name or role},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": user}],
    }


def rule(verbs: str, group: str, resources: str, *names: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verbs": verbs.split(),
        "apiGroups": [group],
        "resources": resources.split(),
    }
    return {**found, "resourceNames": list(names)} if names else found


def acting_as(user: str, *groups: str) -> list[Header]:
    return [("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(Path(tmp_path_factory.mktemp("access"))) as server:
        yield Client(server)


def test_the_right_to_act_as_somebody_is_none_to_their_groups(client: Client) -> None:
    anybody = "system:anonymous"
    client.grant("act-as-bob", anybody, rule("impersonate", "", "users", "bob"))
    client.grant("bob", "bob", rule("list", "", "secrets"))

    bob = client.ask("GET", SECRETS, headers=acting_as("bob"), anonymous=True)
    master = client.ask(
        "GET", SECRETS, headers=acting_as("bob", "a", "system:masters"), anonymous=True
    )
    uid = client.ask(
        "GET", SECRETS, headers=[*acting_as("bob"), ("Impersonate-Uid", "7")], anonymous=True
    )
    extra = client.ask(
        "GET",
        SECRETS,
        headers=[*acting_as("bob"), ("Impersonate-Extra-Scope", "x")],
        anonymous=True,
    )

    assert [bob.status, master.status, uid.status, extra.status] == [200, 403, 403, 403]
    assert 'cannot impersonate resource "groups" in API group ""' in master.message
    assert 'cannot impersonate resource "uids" in API group "authentication' in uid.message
    assert 'cannot impersonate resource "userextras/scope"' in extra.message


def test_groups_without_a_user_are_a_mistake(client: Client) -> None:
    answer = client.ask("GET", SECRETS, headers=[("Impersonate-Group", "a")])

    assert answer.status == 400
    assert answer.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"},'
        " Extra:map[string][]string(nil)} without impersonating a user name"
    )


def test_everything_that_one_acts_as_is_shown(client: Client) -> None:
    headers = [
        *acting_as("jane", "a", "b"),
        ("Impersonate-Uid", "77"),
        ("Impersonate-Extra-Acme.com%2FProject", "x"),
        ("Impersonate-Extra-Acme.com%2FProject", "y"),
    ]
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    answer = client.ask("POST", reviews, {}, headers)
    anonymous = client.ask("POST", reviews, {}, acting_as("system:anonymous"))

    assert json.loads(answer.text)["status"]["userInfo"] == {
        "username": "jane",
        "uid": "77",
        "groups": ["a", "b", "system:authenticated"],
        "extra": {"acme.com/project": ["x", "y"]},
    }
    assert anonymous.status == 403


def test_who_writes_roles_gains_nothing_by_it(client: Client) -> None:
    kinds = "roles rolebindings clusterroles clusterrolebindings"
    client.grant("writer", "eve", rule("get create update patch", GROUP, kinds))
    eve = acting_as("eve")
    wide = {"metadata": {"name": "wide"}, "rules": [EVERYTHING]}
    here = f"{RBAC}/namespaces/default"

    cluster_admin = binding("cluster-admin", "eve", "x")
    renamed = {**wide, "metadata": {"name": "writer"}}
    applied = {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", **wide}
    attempts = [
        ("POST", f"{RBAC}/clusterroles", wide, ""),
        ("PUT", f"{RBAC}/clusterroles/writer", renamed, ""),
        ("PATCH", f"{RBAC}/clusterroles/writer", {"rules": [EVERYTHING]}, MERGE),
        ("PATCH", f"{RBAC}/clusterroles/wide?fieldManager=eve", applied, APPLY),
        ("POST", f"{here}/roles", wide, ""),
        ("POST", f"{RBAC}/clusterrolebindings", cluster_admin, ""),
        ("POST", f"{here}/rolebindings", cluster_admin, ""),
        ("PUT", f"{here}/rolebindings/x", binding("admin", "eve", "x"), ""),
    ]

    answers = [
        client.ask(method, path, body, eve, content_type=content_type or "application/json")
        for method, path, body, content_type in attempts
    ]

    assert [answer.status for answer in answers] == [403] * len(answers)
    assert answers[0].message == (
        f'clusterroles.{GROUP} "wide" is forbidden: user "eve" (groups=["system:authenticated"])'
        " is attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'
    )
    assert client.ask("GET", SECRETS, headers=eve).status == 403


def test_to_create_takes_the_right_to_create_by_whatever_request(client: Client) -> None:
    client.grant("changer", "pat", rule("get update patch", "*", "configmaps leases"))
    pat = acting_as("pat")
    lease = {"metadata": {"name": "new"}, "spec": {"holderIdentity": "pat"}}

    applied = client.ask(
        "PATCH",
        f"{CONFIG_MAPS}/new?fieldManager=pat",
        config_map("new", a="b"),
        pat,
        content_type=APPLY,
    )
    put = client.ask("PUT", f"{LEASES}/new", lease, pat)

    assert (applied.status, put.status) == (403, 403)
    assert applied.message == (
        'configmaps "new" is forbidden: User "pat" cannot create resource "configmaps" in API'
        ' group "" in the namespace "default"'
    )
    assert client.ask("GET", f"{CONFIG_MAPS}/new").status == 404
    assert client.ask("GET", f"{LEASES}/new").status == 404


def test_a_path_that_watches_is_for_those_who_may_watch_and_for_nothing_else(
    client: Client,
) -> None:
    client.grant("getter", "greta", rule("get delete", "", "configmaps"))
    client.grant("watcher", "walt", rule("watch", "", "configmaps"))
    assert client.ask("POST", CONFIG_MAPS, config_map("seen")).status == 201
    path = "/api/v1/watch/namespaces/default/configmaps/seen"

    refused = client.ask("GET", path, headers=acting_as("greta"))
    deleted = client.ask("DELETE", path, headers=acting_as("walt"))
    watched = client.ask("GET", f"{path}?timeoutSeconds=1", headers=acting_as("walt"))

    assert (refused.status, deleted.status, watched.status) == (403, 405, 200)
    assert client.ask("GET", f"{CONFIG_MAPS}/seen").status == 200


def test_single_health_checks_are_not_for_everybody(client: Client) -> None:
    paths = ("/healthz", "/livez", "/healthz/ping", "/livez/ping", "/livez/etcd", "/version/")

    codes = [client.ask("GET", path, anonymous=True).status for path in paths]
    monitoring = client.ask("GET", "/livez/ping", headers=acting_as("prom", "system:monitoring"))

    assert codes == [200, 200, 403, 403, 403, 200]
    assert monitoring.status == 200

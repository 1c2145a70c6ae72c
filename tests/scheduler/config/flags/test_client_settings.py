"""How the API server is found."""

import json
from typing import Any

import pytest
from support.scheduler.config.fake_host_environment import FakeHostEnvironment

from podium.golang.durations import Duration
from podium.scheduler.config.flags.client_settings import (
    TOKEN_FILE,
    ClientSettings,
    StartRefused,
    client_settings,
    kubeconfig_settings,
)
from podium.scheduler.config.flags.option_checks import (
    client_problem,
    elector_problem,
    lock_problem,
)
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry
from podium.scheduler.config.types import ClientConnectionConfiguration, LeaderElectionConfiguration

SERVER = "https://10.0.0.1:6443"
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
NOTHING = (
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
    "environment variable"
)


def kubeconfig(cluster: Any = None, user: Any = None, **changes: Any) -> str:
    whole = {
        "clusters": [{"name": "c", "cluster": cluster or {"server": SERVER}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    return json.dumps({**whole, **changes})


def settings(text: str, master: str = "", **files: str) -> ClientSettings:
    host = FakeHostEnvironment({"K": text, **{f"/home/{n}": t for n, t in files.items()}})
    return kubeconfig_settings("K", master, host)


def refusal(text: str, master: str = "", **files: str) -> str:
    with pytest.raises(StartRefused) as caught:
        settings(text, master, **files)
    return str(caught.value)


def test_the_current_context_counts() -> None:
    found = settings(kubeconfig(user={"token": "t"}))
    assert found == ClientSettings(ClusterEntry(server=SERVER), UserEntry(token="t"))


def test_kind_and_unknown_fields_do_not_matter() -> None:
    assert settings(kubeconfig(kind="Config", apiVersion="v1", nope=1)).cluster.server == SERVER


def test_a_master_takes_the_place_of_the_server() -> None:
    text = kubeconfig(cluster={"server": SERVER, "tls-server-name": "n"})
    found = settings(text, "http://127.0.0.1:1").cluster
    assert (found.server, found.tls_server_name) == ("http://127.0.0.1:1", "")


@pytest.mark.parametrize("text", ["", "{}", "current-context: ''"])
def test_a_kubeconfig_that_names_no_server_is_like_none(text: str) -> None:
    assert refusal(text) == NOTHING


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            kubeconfig(**{"current-context": "y"}),
            "invalid configuration: [context was not found for specified context: y, "
            "cluster has no server defined]",
        ),
        (
            kubeconfig(cluster={"server": "", "proxy-url": ""}),
            'invalid configuration: no server found for cluster "c"',
        ),
        (
            kubeconfig(user={"token": "t", "username": "n"}),
            "invalid configuration: more than one authentication method found for u; found "
            "[token basicAuth], only one is allowed",
        ),
        (
            kubeconfig(user={"client-certificate": "c.crt"}),
            "invalid configuration: [client-key-data or client-key must be specified for u to use "
            "the clientCert authentication method., unable to read client-cert /home/c.crt for u "
            "due to open /home/c.crt: no such file or directory]",
        ),
        (
            kubeconfig(cluster={"server": SERVER, "certificate-authority": "/ca.crt"}),
            "invalid configuration: unable to read certificate-authority /ca.crt for c due to "
            "open /ca.crt: no such file or directory",
        ),
        (
            kubeconfig(user={"as-groups": ["g"]}),
            "invalid configuration: requesting uid, groups or user-extra for u without "
            "impersonating a user",
        ),
        (
            kubeconfig(user={"exec": {"command": "x"}}),
            "invalid configuration: [apiVersion must be specified for u to use exec "
            "authentication plugin, interactiveMode must be specified for u to use exec "
            "authentication plugin]",
        ),
        (
            kubeconfig(clusters="c"),
            'error loading config file "K": json: cannot unmarshal string into Go struct field '
            "Config.clusters of type []v1.NamedCluster",
        ),
        (
            kubeconfig(kind="Pod"),
            'error loading config file "K": no kind "Pod" is registered for version "v1" in '
            'scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"',
        ),
        (
            kubeconfig(users=[{"name": "u"}, {"name": "u"}]),
            'error loading config file "K": error converting *[]NamedAuthInfo into '
            '*map[string]*api.AuthInfo: duplicate name "u" in list',
        ),
    ],
)
def test_an_unusable_kubeconfig_is_refused_in_client_gos_words(text: str, problem: str) -> None:
    assert refusal(text) == problem


def test_files_of_a_kubeconfig_are_found_beside_it() -> None:
    user = {"client-certificate": "u.crt", "client-key": "u.key"}
    assert settings(kubeconfig(user=user), **{"u.crt": "", "u.key": ""}).user.client_key == "u.key"


def test_early_exec_plugins_need_not_say_whether_they_ask() -> None:
    plugin = {"command": "x", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    assert settings(kubeconfig(user={"exec": plugin})).user.interactive_mode == "IfAvailable"


def test_an_explicit_kubeconfig_must_be_there() -> None:
    warnings: list[str] = []
    with pytest.raises(StartRefused, match=r"^stat missing: no such file or directory$"):
        client_settings("missing", "", FakeHostEnvironment(), warnings.append)
    with pytest.raises(StartRefused) as caught:
        client_settings("dir", "", FakeHostEnvironment({"dir/": ""}), warnings.append)
    assert str(caught.value) == 'error loading config file "dir": read dir: is a directory'
    assert warnings == []


def test_a_master_alone_is_enough() -> None:
    warnings: list[str] = []
    found = client_settings("", "http://m", FakeHostEnvironment(), warnings.append)
    assert found.cluster.server == "http://m"
    assert warnings == []


def test_with_neither_the_pods_service_account_is_tried() -> None:
    warnings: list[str] = []
    host = FakeHostEnvironment({TOKEN_FILE: "t"}, IN_POD)
    found = client_settings("", "", host, warnings.append)
    assert found.cluster.server == "https://10.0.0.1:443"
    assert found.user.token_file == TOKEN_FILE
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (
            {},
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT must be defined",
        ),
        (IN_POD, f"open {TOKEN_FILE}: no such file or directory"),
    ],
)
def test_outside_a_cluster_there_is_nothing_left(variables: dict[str, str], reason: str) -> None:
    warnings: list[str] = []
    with pytest.raises(StartRefused) as caught:
        client_settings("", "", FakeHostEnvironment({}, variables), warnings.append)
    assert str(caught.value) == NOTHING
    assert warnings == [
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  "
        "This might not work.",
        f"error creating inClusterConfig, falling back to default config: {reason}",
    ]


# clients, locks, elections


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ("http://127.0.0.1:1", ""),
        ("127.0.0.1:1", ""),
        ("host", ""),
        ("https://[::1]:6443/prefix", ""),
        ("host/path", 'host must be a URL or a host:port pair: "host/path"'),
        ("host:port", 'parse "http://host:port": invalid port ":port" after host'),
        ("a b", 'parse "http://a b": invalid character " " in host name'),
    ],
)
def test_a_server_is_a_url_or_a_host(server: str, problem: str) -> None:
    connection = ClientConnectionConfiguration(qps=50, burst=100)
    found = ClientSettings(ClusterEntry(server=server), UserEntry())
    assert client_problem(connection, found) == problem


@pytest.mark.parametrize(
    ("qps", "burst", "works"), [(50, 1, True), (50, 0, False), (50, -1, False), (-1, -1, True)]
)
def test_a_rate_needs_a_burst(qps: float, burst: int, works: bool) -> None:
    connection = ClientConnectionConfiguration(qps=qps, burst=burst)
    found = ClientSettings(ClusterEntry(server=SERVER), UserEntry())
    problem = client_problem(connection, found)
    assert problem == ("" if works else problem)
    assert problem.startswith("burst is required to be greater than 0") != works


@pytest.mark.parametrize(
    ("lock", "problem"),
    [
        ("leases", ""),
        (
            "endpoints",
            "couldn't create resource lock: endpoints lock is removed, migrate to leases",
        ),
        (
            "configmapsleases",
            "couldn't create resource lock: configmapsleases lock is removed, migrated to leases",
        ),
        ("foo", "couldn't create resource lock: Invalid lock-type foo"),
    ],
)
def test_only_leases_are_locks(lock: str, problem: str) -> None:
    assert lock_problem(LeaderElectionConfiguration(resource_lock=lock)) == problem
    off = LeaderElectionConfiguration(resource_lock=lock, leader_elect=False)
    assert lock_problem(off) == ""


@pytest.mark.parametrize(
    ("times", "problem"),
    [
        (("15s", "10s", "2s"), ""),
        (("10s", "10s", "2s"), "leaseDuration must be greater than renewDeadline"),
        (("15s", "2.4s", "2s"), "renewDeadline must be greater than retryPeriod*JitterFactor"),
        (("15s", "2401ms", "2s"), ""),
        (("15s", "10s", "0s"), "retryPeriod must be greater than zero"),
        (("0s", "-1s", "-5s"), "leaseDuration must be greater than zero"),
    ],
)
def test_an_election_needs_times_that_go_together(times: tuple[str, ...], problem: str) -> None:
    lease, renew, retry = map(Duration.parse, times)
    election = LeaderElectionConfiguration(
        lease_duration=lease, renew_deadline=renew, retry_period=retry
    )
    prefix = "couldn't create leader elector: " if problem else ""
    assert elector_problem(election) == prefix + problem

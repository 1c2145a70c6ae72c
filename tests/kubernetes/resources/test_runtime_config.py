"""`--runtime-config`: group-versions that are switched off, and what cannot be switched on."""

import pytest
from support.apiserver.api_calls import Api
from support.commands.command_line import podium

from podium.commands.api_server_options import read_runtime_config
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.table import RuntimeConfig

GATES = FeatureGates().with_overrides({"DRADeviceTaintRules": True})


def served(**settings: bool) -> Api:
    return Api(gates=GATES, runtime_config=RuntimeConfig(settings))


def versions(api: Api) -> set[str]:
    groups = api.get("/apis")["groups"]
    return {each["groupVersion"] for group in groups for each in group["versions"]}


def test_a_version_that_is_switched_off_is_not_there_for_clients() -> None:
    api = served(**{"batch/v1": False})
    assert "batch/v1" not in versions(api)
    assert api.ask("GET", "/apis/batch/v1/namespaces/default/jobs").status == 404
    assert "apps/v1" in versions(api)


def test_one_resource_can_be_switched_off() -> None:
    api = served(**{"batch/v1/cronjobs": False})
    listed = api.get("/apis/batch/v1")["resources"]
    assert {each["name"].partition("/")[0] for each in listed} == {"jobs"}
    assert api.ask("GET", "/apis/batch/v1/cronjobs").status == 404
    assert api.ask("GET", "/apis/batch/v1/jobs").status == 200


def test_versions_of_one_stage_are_switched_and_the_narrower_setting_wins() -> None:
    beta = "resource.k8s.io/v1beta2"
    assert beta in versions(served())
    assert beta not in versions(served(**{"api/beta": False}))
    assert beta in versions(served(**{"api/beta": False, beta: True}))
    assert versions(served(**{"api/all": False, "apps/v1": True})) == {
        "apiregistration.k8s.io/v1",
        "apps/v1",
    }
    assert "batch/v1" in versions(served(**{"api/all": False, "api/ga": True}))


def test_the_server_goes_on_using_what_clients_do_not_see() -> None:
    api = served(**{"scheduling.k8s.io/v1": False})
    pod = api.create_pod("a", priorityClassName="system-node-critical")
    assert pod["spec"]["priority"] == 2000001000


def test_what_this_server_does_not_have_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["scheduling.k8s.io/v1alpha1=true,apps/v1", "apis/extensions/v1beta1=false"]
    found = read_runtime_config([*given, "scheduling.k8s.io/v1alpha2=true"], FeatureGates())
    assert found.settings["apps/v1"] is True
    assert found.settings["extensions/v1beta1"] is False
    assert capsys.readouterr().err.splitlines() == [
        "podium: warning: --runtime-config: scheduling.k8s.io/v1alpha1 is not served by this"
        " server",
        "podium: warning: --runtime-config: extensions/v1beta1 is not served by this server",
        "podium: warning: --runtime-config: scheduling.k8s.io/v1alpha2 is served with"
        " --feature-gates GenericWorkload=true only",
    ]


def test_a_value_that_is_no_bool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="invalid value of apps/v1=maybe"):
        read_runtime_config(["apps/v1=maybe"], FeatureGates())
    done = podium(capsys, "apiserver", "--runtime-config=apps/v1=maybe")
    assert done.code == 2
    assert "'maybe' is not a bool" in done.err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("bogus/v9=true", "unknown api groups bogus/v9"),
        ("nope/v1,apps/v1,bogus/v9=false", "unknown api groups bogus/v9,nope/v1"),
        ("apps/v9=true", "group version apps/v9 that has not been registered"),
        ("apps/v1/Deployments=false", "invalid key apps/v1/Deployments: group/version/resource"),
        ("apps=true", "runtime-config invalid key apps"),
        ("apps/v1/deployments/scale", "runtime-config invalid key apps/v1/deployments/scale"),
        ("api/all=false", "invalid runtime-config with only api/all=false"),
    ],
)
@pytest.mark.parametrize("command", ["apiserver", "up"])
def test_what_kubernetes_never_had_is_refused_as_kube_apiserver_refuses_it(
    command: str, given: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, command, f"--runtime-config={given}")
    assert done.code == 2
    assert f"podium: --runtime-config: {problem}" in done.err


@pytest.mark.parametrize(
    "given",
    [
        "v1=true",
        "/v1=true",
        "v1/pods=false",
        "/v1/pods=false",
        "api/all=false,v1=true",
        "storage.k8s.io/v1beta1=true",
    ],
)
def test_what_kubernetes_has_or_had_is_taken(given: str) -> None:
    read_runtime_config([given], FeatureGates())

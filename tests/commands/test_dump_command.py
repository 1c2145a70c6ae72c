"""`podium dump-command` asks for custom kinds that plugins read."""

import pytest
from support.commands.command_line import EXAMPLES, podium
from support.user_code.plugin_files import Source

pytestmark = pytest.mark.usefixtures("own_modules")

QUOTAS = "/apis/scheduling.x-k8s.io/v1alpha1/elasticquotas"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups"
CONFIG = str(EXAMPLES / "scheduler-plugins" / "capacity-scheduling.yaml")
LICENSED = """
    from podium.plugin import KubeObject, PreFilterPlugin, WatchedKind

    class Licence(KubeObject, frozen=True):
        api_version: str = "example.com/v1"
        kind: str = "Licence"

    class Licensed(PreFilterPlugin):
        name = "Licensed"
        watched_kinds = (WatchedKind(Licence, "licences"),)

        def pre_filter(self, cycle):
            return None
"""


def paths(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    found = podium(capsys, "dump-command", "-o", "json", *arguments).decoded()
    for kind in found["kinds"]:
        assert f" {kind['path']}" in found["command"]
    return [kind["path"] for kind in found["kinds"]]


def test_custom_kinds_are_left_out_unless_somebody_reads_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert QUOTAS not in paths(capsys)


def test_a_configuration_says_which_kinds_its_plugins_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = paths(capsys, "--config", CONFIG)
    assert QUOTAS in found
    assert GROUPS not in found
    assert len(found) == len(set(found)) == len(paths(capsys)) + 1


def test_plugins_of_ones_own_have_kinds_of_their_own(
    capsys: pytest.CaptureFixture[str], source: Source
) -> None:
    assert "/apis/example.com/v1/licences" in paths(capsys, "--plugin", source(LICENSED))


def test_all_kinds_of_all_plugins_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert {QUOTAS, GROUPS} < set(paths(capsys, "--all-plugins"))

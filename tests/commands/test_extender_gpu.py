"""`podium extender gpu` as a command, and what its page shows."""

import json
import re
import shlex
from pathlib import Path

import pytest

from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.quota import read_quotas
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.extender.application import LedgerMetrics
from podium.addons.gpu.extender.cluster_view import ClusterView, NamespaceQuotas, read_config_file
from podium.commands import main
from podium.commands.app import build_app
from podium.golang.errors import InputError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gpu-extender.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for opened, text in found if opened == language]


def test_documented_commands_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    commands = [line for text in blocks("") for line in text.splitlines()]
    assert len(commands) == 2
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().err == ""


def test_documented_servers_have_options_that_exist() -> None:
    shown = re.findall(r"^\$ podium (.+?)(?: &)?$", PAGE, re.MULTILINE)
    assert [each.split()[0] for each in shown] == ["up", "extender"]
    for command in shown:
        build_app().parse_args(shlex.split(command), exit_on_error=False, print_error=False)


def test_the_page_shows_the_example_and_a_quota_that_can_be_read() -> None:
    (example,) = blocks("yaml")
    name, _, text = example.partition("\n")
    assert (ROOT / name.removeprefix("# ")).read_text() == text
    (quota,) = blocks("json")
    assert read_quotas(quota)["research"].quota == {"T4": 4, "A100": 1}


def test_every_metric_of_cards_is_on_the_page_about_metrics() -> None:
    ledger = Ledger(find_dialect("gpu-manager"))
    view = ClusterView(ledger, NamespaceQuotas(), lambda: 0.0)
    page = (ROOT / "docs" / "metrics.md").read_text()
    for metric in LedgerMetrics(view).collect():
        total = "_total" if metric.type == "counter" else ""
        assert f"`{metric.name}{total}`" in page


def test_all_dialects_can_be_chosen() -> None:
    for dialect in DIALECTS:
        words = ["extender", "gpu", "--dialect", dialect]
        build_app().parse_args(words, exit_on_error=False, print_error=False)


OLD_FLAGS = (
    "--logtostderr --alsologtostderr=true --stderrthreshold 2 --vmodule a=1 --log-dir /tmp "
    "--log-backtrace-at f:1 --v=4 --pprofAddress 127.0.0.1:3457 --nodeCacheCapable=true",
    "--node-cache-capable --enableComputeCapability --incluster-mode=true --log_dir /tmp",
)


@pytest.mark.parametrize("flags", OLD_FLAGS)
def test_flags_of_the_older_programs_are_accepted(flags: str) -> None:
    words = ["extender", "gpu", *flags.split()]
    build_app().parse_args(words, exit_on_error=False, print_error=False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--address", "here"], "--address here: right is HOST:PORT"),
        (["--address", ":70000"], "--address :70000: right is HOST:PORT"),
        (["--grace-period", "soon"], "--grace-period soon: right is a second or more"),
        (["--config", "nowhere.json"], "nowhere.json"),
        (["--dialect", "klingon"], "klingon"),
        (["--preempt-threshold", "101"], "101"),
        (["--kubeconfig", "nowhere.kubeconfig"], "nowhere.kubeconfig"),
    ],
)
def test_what_is_wrong_is_told(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["extender", "gpu", *words]) == 2
    assert told in capsys.readouterr().err


def test_of_a_flag_that_is_given_twice_the_last_counts() -> None:
    words = "extender gpu --v=1 --v 4 --address :1 --address=127.0.0.1:2 --nodeCacheCapable=true"
    found = build_app().parse_args(
        [*words.split(), "--nodeCacheCapable", "--dialect", "hami", "--dialect=gpushare"],
        exit_on_error=False,
        print_error=False,
    )
    given = found[1].arguments
    assert (given["v"], given["address"], given["dialect"]) == (4, "127.0.0.1:2", "gpushare")


@pytest.mark.parametrize("address", ["0.0.0.0:0", ":0", "[::]:0", "gpu.example.com:3456"])
@pytest.mark.parametrize("files", [(), ("--tls-cert", "tls.crt", "--tls-key", "tls.key")])
def test_an_address_that_others_reach_needs_certificates_of_clients(
    address: str, files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["extender", "gpu", "--address", address, *files]) == 2
    told = capsys.readouterr().err
    assert f"--address {address} is reached by others, who could have any pod bound" in told
    assert "--client-ca" in told
    assert "--allow-unauthenticated" in told


def test_certificates_that_are_missing_are_told_with_how_to_make_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("--tls-cert", "tls.crt", "--tls-key", "tls.key", "--client-ca", "ca.crt")
    words = ["extender", "gpu", "--address", "0.0.0.0:0", "--master", "http://127.0.0.1:1"]
    assert main([*words, *files]) == 2
    told = capsys.readouterr().err
    assert "tls.crt: there is no such file" in told
    assert "podium extender certificates" in told


def test_certificates_are_made_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    directory = str(tmp_path / "made")
    assert main(["extender", "certificates", directory]) == 0
    assert "ca.crt, tls.crt, tls.key for the extender" in capsys.readouterr().out
    assert main(["extender", "certificates", directory]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["extender", "certificates", directory, "--names", ","]) == 2


def test_the_configuration_file_of_the_first_generation_is_read() -> None:
    written = {
        "QuotaConfigMapName": "q",
        "QuotaConfigMapNamespace": "ns",
        "GPUModelLabel": "tkestack.io/gpu-model",
        "GPUPoolLabel": "tkestack.io/gpu-pool",
        "SkipBindTime": 300000,
    }
    file = read_config_file(json.dumps(written).encode(), "f")
    assert (file.quota_config_map_namespace, file.quota_config_map_name) == ("ns", "q")
    assert (file.gpu_model_label, file.gpu_pool_label) == (
        "tkestack.io/gpu-model",
        "tkestack.io/gpu-pool",
    )
    assert read_config_file(b"{}", "f").quota_config_map_name == "gpuquota"
    with pytest.raises(InputError, match="QuotaConfigMapNam"):
        read_config_file(b'{"QuotaConfigMapNam": "q"}', "f")

"""`podium plugin`: what it writes works as it stands, and what is wrong with a plugin is seen."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLE, EXAMPLES, podium
from support.suite.slow_cases import few_of

pytestmark = pytest.mark.usefixtures("own_modules")

FORMS = ("filter", "score", "both", "vector")
FORGETFUL = '''
from podium.plugin import Dependence, ScorePlugin, indices


class Forgetful(ScorePlugin):
    """Says that nothing matters, and looks at pods on nodes."""

    name = "Forgetful"

    def score(self, cycle, rows):
        return cycle.usage.pod_count[rows].astype("int64")

    def score_depends(self, cycle):
        return Dependence(fragment=None, usage=False)
'''
RAISES = """
from podium.plugin import NodeFilterPlugin


class Raises(NodeFilterPlugin):
    name = "Raises"

    def filter_node(self, pod, node):
        return node.labels["nowhere"]
"""


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.parametrize("form", FORMS)
def test_a_new_plugin_loads_runs_and_keeps_its_promises(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = podium(capsys, "plugin", "new", "ZonePrice2", "--form", form)
    assert made.code == 0
    for file in ("zone_price_2.py", "test_zone_price_2.py", "zone_price_2.yaml"):
        assert file in made.out
        assert Path(file).exists()
    given = ("--plugin", "zone_price_2.py")
    assert podium(capsys, "config", "check", "zone_price_2.yaml", *given).code == 0
    tested = podium(capsys, "plugin", "test", "zone_price_2.py", "--config", "zone_price_2.yaml")
    assert tested.code == 0
    assert "keeps its promises" in tested.out
    simulated = podium(capsys, "simulate", *EXAMPLE, *given, "--config", "zone_price_2.yaml")
    assert simulated.code in (0, 1)


@pytest.mark.parametrize("form", few_of(FORMS, len(FORMS)))
def test_the_test_of_a_new_plugin_passes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert podium(capsys, "plugin", "new", "Mine", "--form", form).code == 0
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_is_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert podium(capsys, "plugin", "new", "Mine", "-d", "there").code == 0
    Path("there/mine.py").write_text("# changed\n")
    Path("there/test_mine.py").unlink()
    again = podium(capsys, "plugin", "new", "Mine", "-d", "there")
    assert again.code == 2
    assert "there/mine.py: is there already" in again.err
    assert Path("there/mine.py").read_text() == "# changed\n"
    assert not Path("there/test_mine.py").exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("NodeName", "there is a plugin named NodeName already"),
        ("zone-price", "such as ZonePrice"),
        ("zonePrice", "write ZonePrice"),
        ("../Escape", "cannot be the name"),
        ("X" * 65, "cannot be the name"),
    ],
)
def test_a_name_must_be_that_of_a_class_and_free(
    name: str, told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    refused = podium(capsys, "plugin", "new", name)
    assert refused.code == 2
    assert told in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_broken_promise_is_named_and_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("forgetful.py").write_text(FORGETFUL)
    done = podium(capsys, "plugin", "test", "forgetful.py")
    assert done.code == 1
    assert "1 promise broken" in done.out
    document = podium(capsys, "plugin", "test", "forgetful.py", "-o", "json").decoded()
    assert document["plugin"] == "Forgetful"
    assert len(document["broken"]) == 1


def test_a_plugin_that_raises_is_told_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("raises.py").write_text(RAISES)
    done = podium(capsys, "plugin", "test", "raises.py")
    assert done.code == 1
    assert "raises.py" in done.out
    assert "nowhere" in done.out
    assert "Traceback" not in done.out + done.err


def test_scores_are_shown_for_a_cluster_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    price = str(EXAMPLES / "plugins" / "zone_price.py")
    args = "{prices: {eu-1a: 30, eu-1b: 20, eu-1c: 10}}"
    done = podium(capsys, "plugin", "test", price, "--args", args, *EXAMPLE, "-o", "json")
    assert done.code == 0
    (web,) = (pod for pod in done.decoded()["pods"] if pod["name"] == "default/web-0")
    scores = {node["name"]: (node["rawScore"], node["score"]) for node in web["nodes"]}
    assert scores["general-c1"] == (-10, 100)
    assert scores["general-a1"] == (-30, 0)
    assert web["nodes"][0]["score"] == 100


def test_arguments_that_are_wrong_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    price = str(EXAMPLES / "plugins" / "zone_price.py")
    for args, told in (
        ("[1]", "must be a map"),
        ("{a: ", "is not YAML"),
        ("{prises: {}}", "did you mean prices?"),
    ):
        done = podium(capsys, "plugin", "test", price, "--args", args)
        assert done.code == 2
        assert told in done.err


def test_plugins_are_listed_with_where_they_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    price = str(EXAMPLES / "plugins" / "zone_price.py")
    items = podium(capsys, "plugin", "list", "--plugin", price, "-o", "json").decoded()["items"]
    listed = {each["name"]: each for each in items}
    assert listed["NodeName"]["origin"] == "kube-scheduler"
    assert listed["NodeName"]["enabledByDefault"]
    assert listed["ZonePrice"]["origin"] == price
    assert listed["ZonePrice"]["points"] == ["score"]
    assert "NodeName" in podium(capsys, "plugin", "list").out
